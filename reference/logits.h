#ifndef VOLTCHECK_REFERENCE_LOGITS_H_
#define VOLTCHECK_REFERENCE_LOGITS_H_

#include "fixtures/case/problem.h"
#include "reference/budget.h"
#include "reference/matrix.h"

namespace voltcheck::reference {

/// Logits [T, V] of the problem's head for a stage output [T, H]:
/// x = residual + output, h = x / sqrt(mean(x^2) + epsilon) * norm, logits = head h.
/// Nothing is rounded to half on the way. Sums have one fixed order, so the bits are the same on
/// every machine whatever its vector width. Defined for float and double. Throws Error (status 2)
/// when the problem has no head or a tensor of it has another size.
template <typename Scalar>
Matrix<Scalar> Logits(const Problem& problem, const Matrix<Scalar>& output);

/// The logits of `output.value` in fp64, and how far logits may lie from them that are computed in
/// fp32, in any order, from an output within `output.budget`. docs/numerics.md derives it.
Bounded BoundLogits(const Problem& problem, const Bounded& output);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_LOGITS_H_
