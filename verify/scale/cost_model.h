#ifndef VOLTCHECK_VERIFY_SCALE_COST_MODEL_H_
#define VOLTCHECK_VERIFY_SCALE_COST_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fixtures/case/case.h"

namespace voltcheck::verify {

/// What a case makes the simulator and the references do, as far as the case alone tells: a
/// constant, warps launched, warps that have rows to compute, weights that these read, their
/// multiplications with padding, terms of the outputs' sums, weights of the experts that are named,
/// terms of the logits.
inline constexpr std::size_t kCostTerms = 8;
std::array<double, kCostTerms> CostTerms(const Case& c);

/// How long one case takes on one core, in microseconds, roughly: CostTerms with weights that
/// tests/scale/fit_cost.py fitted to measured cases. It depends on the case alone, so every
/// machine deals cases out alike; a calibration scales it to the machine at hand.
std::uint64_t PredictedCost(const Case& c);

/// PredictedCost of each.
std::vector<std::uint64_t> PredictedCosts(const std::vector<Case>& cases);

/// Cases to measure before a prediction, drawn evenly over the predicted cost: the mean ratio of
/// what they take to what was predicted is then that of all cases together, however wrong the model
/// is for some of them. Any beginning of the list is spread over all costs. An index into `costs`,
/// not empty, may stand several times and then counts as often.
std::vector<std::size_t> ChooseProbes(const std::vector<std::uint64_t>& costs, std::size_t count);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SCALE_COST_MODEL_H_
