#ifndef VOLTCHECK_VERIFY_DEPARTURE_H_
#define VOLTCHECK_VERIFY_DEPARTURE_H_

#include <functional>

#include "fixtures/case/problem.h"
#include "reference/matrix.h"
#include "reference/routing.h"
#include "reference/stage.h"
#include "verify/record.h"

namespace voltcheck::verify {

/// Runs one GEMM of a case on the device on its own input with all but the first `kept` columns
/// set to zero, and gives its output [S, N], W13's columns in checkpoint order. A device that fails
/// or faults gives an empty matrix.
using RunGemm = std::function<reference::HalfMatrix(reference::Gemm gemm, int kept)>;

/// Finds where output (row, col) leaves the order-faithful model: bisects for the smallest j with
/// the device's sum over the first 4 j rows of K (the rest of the input being zero) differing from
/// the model's while that over the first 4 (j - 1) agrees, each rounded to half. Zero activations
/// leave an accumulator as it is, so this is the k-step whose addition went wrong, as far as its
/// error survives the rounding to half; a fault that reads activations elsewhere shows at the first
/// step that it spoils. `input` [S, K] is the device's own, `tactic` and `numerics` are the
/// model's.
Departure FindDeparture(const Problem& problem, const reference::Permutation& permutation,
                        reference::Gemm gemm, const reference::HalfMatrix& input,
                        const Tactic& tactic, Numerics numerics, int row, int col,
                        const RunGemm& run);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_DEPARTURE_H_
