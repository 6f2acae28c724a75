#ifndef VOLTCHECK_VERIFY_SCALE_FORECAST_H_
#define VOLTCHECK_VERIFY_SCALE_FORECAST_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "verify/sweep.h"

namespace voltcheck::verify {

/// What a sweep will take.
struct Forecast {
  std::size_t cases = 0;
  std::size_t probes = 0;      ///< cases that were run to find out
  double core_seconds = 0;     ///< of all cases, one after another
  double longest_seconds = 0;  ///< the costliest case
  double wall_seconds = 0;     ///< on `jobs` cores
  std::uint64_t run_file_bytes = 0;
  std::uint64_t journal_bytes = 0;  ///< beside it until the sweep is complete
  int jobs = 0;
};

/// Runs a few of the cases in `order`, as many at a time as the sweep would, and extrapolates by
/// predicted cost (verify/scale/cost_model.h). `stop` as in RunCases; a forecast that was stopped
/// has no probes. Cases that fail take more room than is foreseen: their windows are recorded.
Forecast MakeForecast(const std::vector<Case>& cases, const std::vector<std::uint64_t>& costs,
                      const std::vector<std::size_t>& order, const ProblemSource& source,
                      SweepOptions options, const std::function<bool()>& stop);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SCALE_FORECAST_H_
