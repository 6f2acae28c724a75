#ifndef VOLTCHECK_REFERENCE_ARITH_WARP_MMA_SCALAR_H_
#define VOLTCHECK_REFERENCE_ARITH_WARP_MMA_SCALAR_H_

#include "reference/arith/warp_mma.h"

namespace voltcheck::arith {

/// WarpMma884 output by output, straight from the layout formulas and the scalar rule. It is what
/// the vector form is tested against, and takes over where an operand is NaN or Inf.
void WarpMma884Scalar(const WarpMmaForm& form, const std::uint32_t* const* a,
                      const std::uint32_t* const* b, const std::uint32_t* const* c,
                      std::uint32_t* const* d);

}  // namespace voltcheck::arith

#endif  // VOLTCHECK_REFERENCE_ARITH_WARP_MMA_SCALAR_H_
