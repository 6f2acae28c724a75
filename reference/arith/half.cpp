#include "reference/arith/half.h"

#include <bit>
#include <cmath>
#include <limits>

namespace voltcheck::arith {
namespace {

constexpr HalfBits kHalfNan = 0x7FFF;
constexpr HalfBits kHalfInfinity = 0x7C00;

bool IsNan(HalfBits h) { return (h & 0x7FFF) > kHalfInfinity; }

/// `a + b` rounded to odd: an inexact sum keeps a set last bit, so that a later rounding to at most
/// 51 bits is the rounding of the exact sum. Finite operands.
double AddToOdd(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  const double error = (a - (sum - b_part)) + (b - b_part);
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0.0 || (bits & 1) != 0) return sum;
  // The exact sum lies between `sum`, whose last bit is 0, and its neighbour on the side of
  // `error`.
  const bool away = (error > 0) == (sum > 0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

}  // namespace

float HalfToFloat(HalfBits h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000) << 16;
  const std::uint32_t exponent = (h >> 10) & 0x1F;
  const std::uint32_t fraction = h & 0x3FF;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (fraction << 13));
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

HalfBits FloatToHalf(float f) {
  const auto bits = std::bit_cast<std::uint32_t>(f);
  const auto sign = static_cast<HalfBits>((bits >> 16) & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return kHalfNan;
  if (magnitude >= 0x477FF000) return sign | kHalfInfinity;  // from 65520 up
  if (magnitude < 0x38800000) {
    // Below 2^-14 the last place is 2^-24, which is that of 1/2 in fp32: the addition rounds.
    const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<HalfBits>(sign | (std::bit_cast<std::uint32_t>(aligned) - 0x3F000000));
  }
  // Half of the last place, less one unless the kept bit is odd; a carry runs into the exponent.
  const std::uint32_t odd = (magnitude >> 13) & 1;
  return static_cast<HalfBits>(sign | ((magnitude - (112U << 23) + 0xFFF + odd) >> 13));
}

HalfBits DoubleToHalf(double d) {
  const auto bits = std::bit_cast<std::uint64_t>(d);
  const auto sign = static_cast<HalfBits>((bits >> 48) & 0x8000);
  const double magnitude = std::fabs(d);
  if (std::isnan(d)) return kHalfNan;
  if (magnitude >= 65520.0) return sign | kHalfInfinity;
  if (magnitude <= 0x1p-25) return sign;  // half of the smallest subnormal is a tie, to even
  // Shift the significand so that its unit is the last place of the result; normal exponents start
  // at -14, smaller ones share the spacing 2^-24.
  const int exponent = static_cast<int>((bits >> 52) & 0x7FF) - 1023;
  const std::uint64_t significand = (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1}
                                                                                  << 52;
  const int shift = exponent >= -14 ? 42 : 42 + (-14 - exponent);
  const std::uint64_t kept = significand >> shift;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t middle = std::uint64_t{1} << (shift - 1);
  const std::uint64_t rounded =
      kept + (rest > middle || (rest == middle && (kept & 1) != 0) ? 1 : 0);
  // `rounded` still holds the implicit bit of a normal number: adding it onto the exponent field
  // minus one lets a carry run into the exponent.
  const std::uint64_t biased =
      exponent >= -14 ? static_cast<std::uint64_t>(exponent + 14) << 10 : 0;
  return static_cast<HalfBits>(sign | (biased + rounded));
}

HalfBits HalfFma(HalfBits a, HalfBits b, HalfBits c) {
  const double product = static_cast<double>(HalfToFloat(a)) * HalfToFloat(b);  // exact
  const double addend = HalfToFloat(c);
  if (!std::isfinite(product) || !std::isfinite(addend)) return DoubleToHalf(product + addend);
  // The sum can span 80 bits, so a plain double sum could round twice.
  return DoubleToHalf(AddToOdd(product, addend));
}

HalfBits HalfMul(HalfBits a, HalfBits b) {
  return DoubleToHalf(static_cast<double>(HalfToFloat(a)) * HalfToFloat(b));
}

HalfBits HalfAdd(HalfBits a, HalfBits b) {
  return DoubleToHalf(static_cast<double>(HalfToFloat(a)) + HalfToFloat(b));
}

HalfBits HalfSub(HalfBits a, HalfBits b) {
  return DoubleToHalf(static_cast<double>(HalfToFloat(a)) - HalfToFloat(b));
}

double HalfUlp(HalfBits h) {
  const int exponent = (h >> 10) & 0x1F;
  return std::ldexp(1.0, (exponent == 0 ? 1 : exponent) - 25);
}

std::int32_t HalfUlpDistance(HalfBits a, HalfBits b) {
  if (IsNan(a) && IsNan(b)) return 0;
  if (IsNan(a) || IsNan(b)) return std::numeric_limits<std::int32_t>::max();
  const auto ordinal = [](HalfBits h) {
    const std::int32_t magnitude = h & 0x7FFF;
    return (h & 0x8000) != 0 ? -magnitude : magnitude;
  };
  return ordinal(b) - ordinal(a);
}

}  // namespace voltcheck::arith
