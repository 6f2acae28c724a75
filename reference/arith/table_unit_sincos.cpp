// sin.approx and cos.approx: one table for a quarter of a turn.
#include <bit>
#include <cmath>
#include <cstdint>

#include "reference/arith/table_unit.h"
#include "reference/arith/value_table.h"

namespace voltcheck::arith {
namespace {

constexpr std::uint32_t kQuarter = std::uint32_t{1} << 23;
constexpr std::uint32_t kSign = 0x80000000;

/// The float next to `value` in the direction of zero.
float TowardZero(double value) {
  const auto nearest = static_cast<float>(value);
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  return std::fabs(nearest) > std::fabs(value) ? std::bit_cast<float>(bits - 1) : nearest;
}

/// The turns of |x| modulo one, in units of 2^-25, toward zero.
std::uint32_t Turns(float x) {
  const double exact = static_cast<double>(std::fabs(x)) * std::bit_cast<float>(0x3E22F983U);
  const auto bits = std::bit_cast<std::uint32_t>(TowardZero(exact));
  const std::uint32_t mantissa = (bits & 0x7FFFFF) | 0x800000;
  const auto shift = static_cast<std::int32_t>(bits >> 23) - 127 - 23 + 25;
  if (shift <= -24 || shift >= 25) return 0;  // below one unit, or whole turns
  return (shift >= 0 ? mantissa << shift : mantissa >> -shift) & (4 * kQuarter - 1);
}

/// The sine of `turns`, in units of 2^-25. The second and fourth quarter run backward, as one's
/// complements.
std::uint32_t Sine(std::uint32_t turns) {
  const std::uint32_t at = turns & (kQuarter - 1);
  const bool backward = (turns & kQuarter) != 0;
  const std::uint32_t magnitude = SinQuarter()[backward ? kQuarter - 1 - at : at];
  return (turns & 2 * kQuarter) != 0 ? magnitude | kSign : magnitude;
}

}  // namespace

float SinApprox(float x) {
  if (!std::isfinite(x)) return std::bit_cast<float>(0x7FFFFFFFU);
  const std::uint32_t sign = std::bit_cast<std::uint32_t>(x) & kSign;
  return std::bit_cast<float>(Sine(Turns(x)) ^ sign);
}

float CosApprox(float x) {
  if (!std::isfinite(x)) return std::bit_cast<float>(0x7FFFFFFFU);
  return std::bit_cast<float>(Sine((Turns(x) + kQuarter) & (4 * kQuarter - 1)));
}

}  // namespace voltcheck::arith
