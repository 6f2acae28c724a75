#ifndef VOLTCHECK_REFERENCE_ARITH_STEP_SCALAR_H_
#define VOLTCHECK_REFERENCE_ARITH_STEP_SCALAR_H_

#include <cstddef>

#include "reference/arith/fused_dot_add.h"

namespace voltcheck::arith {

/// One k-step of four halves each by the scalar rules. The vector forms are tested against these,
/// and leave NaN and Inf to them.
float StepScalar(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, float c);
HalfBits StepToHalfScalar(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, float c);

/// TileStep and DotChain, output by output.
void TileStepScalar(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, float* acc,
                    std::size_t m, std::size_t n, std::size_t ldacc);
void DotChainScalar(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b,
                    std::size_t ldb, float* acc, std::size_t count, std::size_t steps);

}  // namespace voltcheck::arith

#endif  // VOLTCHECK_REFERENCE_ARITH_STEP_SCALAR_H_
