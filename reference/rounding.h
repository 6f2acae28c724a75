#ifndef VOLTCHECK_REFERENCE_ROUNDING_H_
#define VOLTCHECK_REFERENCE_ROUNDING_H_

#include "reference/arith/half.h"
#include "reference/matrix.h"

namespace voltcheck::reference {

/// `x` rounded once to the nearest half, as `Scalar`. From 65520 up that is Inf.
inline float RoundToHalf(float x) { return arith::HalfToFloat(arith::FloatToHalf(x)); }
inline double RoundToHalf(double x) { return arith::HalfToFloat(arith::DoubleToHalf(x)); }

/// The bits of a matrix whose elements are halves already; anything else is rounded once.
template <typename Scalar>
HalfMatrix ToHalfMatrix(const Matrix<Scalar>& m);

/// Exact.
template <typename Scalar>
Matrix<Scalar> FromHalfMatrix(const HalfMatrix& m);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_ROUNDING_H_
