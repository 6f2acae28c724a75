#ifndef VOLTCHECK_VERIFY_SCALE_FORECAST_H_
#define VOLTCHECK_VERIFY_SCALE_FORECAST_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "verify/run_file.h"
#include "verify/sweep.h"

namespace voltcheck::verify {

/// What a sweep will take.
struct Forecast {
  std::size_t cases = 0;
  std::size_t probes = 0;          ///< cases that were run to find out
  double calibration_seconds = 0;  ///< that this took
  double seconds_per_cost = 0;     ///< of core time, for each unit of PredictedCost
  double error = 0;                ///< standard error of that, relative to it
  double core_seconds = 0;         ///< of all cases, one after another
  double longest_seconds = 0;      ///< the costliest case
  double once_seconds = 0;         ///< loading and translating the kernels, once in a process
  double finish_seconds = 0;       ///< writing the run file when the cases are finished
  std::uint64_t run_file_bytes = 0;
  std::uint64_t journal_bytes = 0;  ///< beside it until the sweep is complete
};

/// The sweep that is foreseen.
struct ForecastTask {
  const std::vector<Case>* cases = nullptr;
  const std::vector<std::uint64_t>* costs = nullptr;  ///< verify/scale/cost_model.h
  std::vector<std::size_t> order;                     ///< what runs, the costliest first
  RunProvenance provenance;
};

/// Runs a few of the cases, as many at a time as the sweep would, for some seconds, and a small run
/// file in a temporary folder; extrapolates by predicted cost. A sweep that takes no longer than
/// that is run whole. Cases of many seconds are stood for by the same with fewer tokens. `stop` as
/// in RunCases; a forecast that was stopped has no probes. Cases that fail take more room than is
/// foreseen: their windows are recorded.
Forecast MakeForecast(const ForecastTask& task, const ProblemSource& source, SweepOptions options,
                      const std::function<bool()>& stop);

/// How long `jobs` cores take for the cases, each core the next of them when it is free.
double CasesSeconds(const Forecast& forecast, const ForecastTask& task, std::size_t jobs);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SCALE_FORECAST_H_
