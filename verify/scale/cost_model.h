#ifndef VOLTCHECK_VERIFY_SCALE_COST_MODEL_H_
#define VOLTCHECK_VERIFY_SCALE_COST_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fixtures/case/case.h"

namespace voltcheck::verify {

/// What a case makes the simulator and the references do, as far as the case alone tells: a
/// constant, tiles computed, their multiplications with padding, weights of active experts, terms
/// of the outputs' sums, elements of the outputs, terms of the logits.
inline constexpr std::size_t kCostTerms = 7;
std::array<double, kCostTerms> CostTerms(const Case& c);

/// How long one case takes on one core, in microseconds, roughly: CostTerms with weights that
/// tests/scale/fit_cost.py can fit to measured cases. It depends on the case alone, so every
/// machine deals cases out alike; a calibration scales it to the machine at hand.
std::uint64_t PredictedCost(const Case& c);

/// PredictedCost of each.
std::vector<std::uint64_t> PredictedCosts(const std::vector<Case>& cases);

/// A few cases to measure before a prediction: `count` strata of equal predicted cost, and from
/// each the case in the middle of that cost. Indices into `costs`, ascending cost.
struct Probe {
  std::size_t index = 0;
  std::uint64_t stratum_cost = 0;  ///< predicted, of all cases for which it stands
  std::size_t stratum_cases = 0;
};
std::vector<Probe> ChooseProbes(const std::vector<std::uint64_t>& costs, std::size_t count);

/// Seconds of core time that all cases take, when the probes took `seconds` each: every stratum is
/// scaled by its probe.
double ExtrapolateSeconds(const std::vector<Probe>& probes, const std::vector<std::uint64_t>& costs,
                          const std::vector<double>& seconds);

/// How long `jobs` cores take for that: as long as the work divides evenly, the longest case where
/// it does not.
double WallSeconds(double core_seconds, double longest_case_seconds, int jobs);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SCALE_COST_MODEL_H_
