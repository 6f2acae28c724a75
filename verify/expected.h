#ifndef VOLTCHECK_VERIFY_EXPECTED_H_
#define VOLTCHECK_VERIFY_EXPECTED_H_

#include "fixtures/case/problem.h"
#include "reference/budget.h"
#include "reference/matrix.h"
#include "reference/routing.h"
#include "reference/stage.h"

namespace voltcheck::verify {

/// The reference side of a case: everything that does not need the device's results.
struct Expected {
  reference::Permutation permutation;
  reference::StageOutputs<float> fp32;
  reference::BoundedStage bounds;
  reference::Matrix<float> fp32_logits;  ///< [T, V]; empty without a head
  reference::Bounded logits;             ///< [T, V]; empty without a head
  double fp32_seconds = 0;               ///< wall time of permutation and FP32 stage
};

/// `numerics` is the arithmetic of the device that runs the case. Throws Error (status 2) for
/// expert ids out of range and for an FP32 reference that is not finite, unless the case declares
/// them.
Expected Expect(const Problem& problem, Numerics numerics, reference::AccumulationOrder order);

/// Whether the case declares that values may leave the fp16 range.
bool MayOverflow(const Case& c);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_EXPECTED_H_
