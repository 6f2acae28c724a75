#ifndef VOLTCHECK_KERNELS_SIMULATOR_EXEC_ROUNDING_H_
#define VOLTCHECK_KERNELS_SIMULATOR_EXEC_ROUNDING_H_

#include <bit>
#include <cmath>
#include <cstdint>

namespace voltcheck::simulator {

/// The four PTX rounding modes.
enum class Rounding { kNearest, kZero, kDown, kUp };

/// Directed rounding without touching the machine's rounding mode: the exact result is first
/// rounded to odd in double (the last bit tells that something was cut off), which keeps enough to
/// round to float in any direction.

/// a + b rounded to odd. Knuth's two-sum gives the exact error of a rounded sum.
inline double AddToOdd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) {
    return sum;
  }
  const double bb = sum - a;
  const double error = (a - (sum - bb)) + (b - bb);
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0 || (bits & 1) != 0) {
    return sum;
  }
  // The sum is even and inexact: the odd neighbour on the side of the error.
  const bool away = (error > 0) == (sum > 0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

/// A double to float in one rounding.
template <Rounding kMode>
float RoundToFloat(double value) {
  const auto nearest = static_cast<float>(value);
  if constexpr (kMode == Rounding::kNearest) {
    return nearest;
  }
  if (std::isnan(value) || static_cast<double>(nearest) == value) {
    return nearest;
  }
  const bool below = static_cast<double>(nearest) < value;
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  const bool negative = std::signbit(value);
  // Steps one float down in magnitude; from Inf to the largest finite number, too.
  const float smaller = std::bit_cast<float>(bits - 1);
  const float larger = std::bit_cast<float>(bits + 1);
  switch (kMode) {
    case Rounding::kZero:
      return below == negative ? smaller : nearest;
    case Rounding::kDown:
      return below ? nearest : (negative ? larger : smaller);
    default:
      return below ? (negative ? smaller : larger) : nearest;
  }
}

/// Whether .ftz makes an exact result zero: when it is below the smallest normal float after it has
/// been rounded to 24 bits, with no limit to its exponent. So an H200 does for f32 arithmetic and
/// conversions.
template <Rounding kMode>
bool IsTiny(double exact) {
  constexpr double kSmallestNormal = 0x1p-126;
  constexpr double kTiesUp = 0x1.ffffffp-127;  // half a step below it: rounds to even, which is up
  constexpr double kStepBelow = 0x1.fffffep-127;
  const double magnitude = std::fabs(exact);
  if (kMode == Rounding::kNearest) {
    return magnitude < kTiesUp;
  }
  const bool away = kMode == Rounding::kUp ? exact > 0 : kMode == Rounding::kDown && exact < 0;
  return away ? magnitude <= kStepBelow : magnitude < kSmallestNormal;
}

inline float CanonicalNan(float value) {
  return std::isnan(value) ? std::bit_cast<float>(0x7fffffffu) : value;
}
inline float FlushSubnormal(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits & 0x7f800000u) == 0 ? std::bit_cast<float>(bits & 0x80000000u) : value;
}
inline float SaturateFloat(float value) { return value > 0 ? (value < 1 ? value : 1.0f) : 0.0f; }

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_EXEC_ROUNDING_H_
