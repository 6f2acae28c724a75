#ifndef VOLTCHECK_REFERENCE_ROUNDING_ERROR_H_
#define VOLTCHECK_REFERENCE_ROUNDING_ERROR_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace voltcheck::reference {

/// From here up a value rounds to an infinite half.
inline constexpr double kHalfOverflow = 65520;

/// The largest power of two that is not above x; x >= 0. 0 for 0 (and fp64 subnormals), Inf for Inf
/// and NaN.
inline double PowerOfTwoBelow(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7FF0000000000000U);
}

/// How far a value of magnitude at most `x` can move when it is rounded to the nearest half: half a
/// unit in the last place of the half below x, never more than x itself.
inline double HalfRoundingError(double x) {
  return std::min(std::max(PowerOfTwoBelow(x) * 0x1p-11, 0x1p-25), x);
}

/// The same for rounding to the nearest fp32.
inline double FloatRoundingError(double x) {
  return std::min(std::max(PowerOfTwoBelow(x) * 0x1p-24, 0x1p-150), x);
}

/// Higham's gamma_n = n u / (1 - n u), for u = 2^-24.
inline double Gamma(int n) { return n * 0x1p-24 / (1 - n * 0x1p-24); }

/// Rounds to half on paper: `value` and `error`, the fp64 value and the bound so far, become what
/// Bounded holds.
inline void FinishWithHalfRounding(double& value, double& error) {
  if (!std::isfinite(value)) {
    error = 0;
  } else if (std::fabs(value) - error >= kHalfOverflow) {
    value = std::copysign(std::numeric_limits<double>::infinity(), value);
    error = 0;
  } else {
    error += HalfRoundingError(std::fabs(value) + error);
  }
}

/// What a budget means for the stage that takes the value in: Inf where it may have overflowed.
inline double UncertaintyOf(double value, double budget) {
  const bool may_overflow = std::isfinite(value) && std::fabs(value) + budget >= kHalfOverflow;
  return may_overflow || std::isnan(budget) ? std::numeric_limits<double>::infinity() : budget;
}

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_ROUNDING_ERROR_H_
