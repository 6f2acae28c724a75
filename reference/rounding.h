#ifndef VOLTCHECK_REFERENCE_ROUNDING_H_
#define VOLTCHECK_REFERENCE_ROUNDING_H_

#include <bit>
#include <cstdint>
#include <limits>

#include "reference/arith/half.h"
#include "reference/matrix.h"

namespace voltcheck::reference {

/// `x` rounded once to the nearest half, as `Scalar`. From 65520 up that is Inf.
inline double RoundToHalf(double x) { return arith::HalfToFloat(arith::DoubleToHalf(x)); }
/// The same in fp32, in selections between integers, so that loops over it run in vectors.
inline float RoundToHalf(float x) {
  const auto sign = std::bit_cast<std::int32_t>(x) & std::numeric_limits<std::int32_t>::min();
  const auto magnitude = std::bit_cast<std::int32_t>(x) & std::numeric_limits<std::int32_t>::max();
  // 11 significant bits, ties to even.
  const std::int32_t normal =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(magnitude) + 0xFFFU +
                                (static_cast<std::uint32_t>(magnitude) >> 13 & 1U)) &
      ~0x1FFF;
  // fp32 numbers from 1/2 to 1 are multiples of 2^-24, as half's subnormals are.
  const auto subnormal =
      std::bit_cast<std::int32_t>((std::bit_cast<float>(magnitude) + 0.5F) - 0.5F);
  constexpr std::int32_t kSmallestNormal = 0x38800000;  // 2^-14
  constexpr std::int32_t kOverflow = 0x477FF000;        // 65520
  constexpr std::int32_t kInfinity = 0x7F800000;
  const std::int32_t finite = magnitude < kSmallestNormal ? subnormal : normal;
  const std::int32_t special = magnitude > kInfinity ? magnitude : kInfinity;  // NaN stays NaN
  return std::bit_cast<float>(sign | (magnitude < kOverflow ? finite : special));
}

/// The bits of a matrix whose elements are halves already; anything else is rounded once.
template <typename Scalar>
HalfMatrix ToHalfMatrix(const Matrix<Scalar>& m);

/// Exact.
template <typename Scalar>
Matrix<Scalar> FromHalfMatrix(const HalfMatrix& m);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_ROUNDING_H_
