#include "reference/arith/fused_dot_add.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace voltcheck::arith {
namespace {

constexpr std::uint32_t kFloatNan = 0x7FFFFFFF;
constexpr int kNoExponent = std::numeric_limits<std::int32_t>::min();

/// One finite term of the sum: sign * significand * 2^(exponent - fraction).
struct Term {
  std::int64_t significand = 0;
  int exponent = 0;
  int fraction = 0;
  bool negative = false;
};

/// 10 fraction bits; the exponent of subnormals stays at -14.
Term DecodeHalf(HalfBits h) {
  const int field = (h >> 10) & 0x1F;
  const std::int64_t fraction = h & 0x3FF;
  return {field == 0 ? fraction : fraction | 0x400, std::max(field, 1) - 15, 10, (h & 0x8000) != 0};
}

/// 23 fraction bits; the exponent of subnormals stays at -126.
Term DecodeFloat(float f) {
  const auto bits = std::bit_cast<std::uint32_t>(f);
  const int field = static_cast<int>((bits >> 23) & 0xFF);
  const std::int64_t fraction = bits & 0x7FFFFF;
  return {field == 0 ? fraction : fraction | 0x800000, std::max(field, 1) - 127, 23,
          (bits >> 31) != 0};
}

/// Exact and not renormalised: a significand in [2, 4) keeps the sum of the exponents.
Term Multiply(const Term& a, const Term& b) {
  return {a.significand * b.significand, a.exponent + b.exponent, a.fraction + b.fraction,
          a.negative != b.negative};
}

bool IsSpecial(HalfBits h) { return (h & 0x7C00) == 0x7C00; }

/// The wide sum: units * 2^exponent when finite.
struct WideSum {
  std::int64_t units = 0;
  int exponent = 0;
  /// NaN or Inf of the whole sum, when an operand is not finite.
  float special = 0.0F;
  bool is_special = false;
};

WideSum Sum(const DotAddRule& rule, std::span<const HalfBits> a, std::span<const HalfBits> b,
            float c) {
  bool special = !std::isfinite(c);
  for (std::size_t k = 0; k < a.size(); ++k) special |= IsSpecial(a[k]) || IsSpecial(b[k]);
  if (special) {
    // NaN, Inf * 0 and Inf - Inf follow from IEEE arithmetic. The finite terms cannot overflow to
    // Inf there: they are replaced by their signs.
    double sum = std::isfinite(c) ? 0.0 : c;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double product = static_cast<double>(HalfToFloat(a[k])) * HalfToFloat(b[k]);
      if (!std::isfinite(product)) sum += product;
    }
    return {0, 0, static_cast<float>(sum), true};
  }

  const int largest = DotAddExponent(a, b, c);
  if (largest == kNoExponent) return {};
  std::int64_t units = 0;
  const auto add = [&](const Term& term) {
    if (term.significand == 0) return;  // Its exponent may lie above the largest.
    const int shift = term.fraction + largest - term.exponent;
    const std::int64_t aligned =
        shift >= 63 ? 0 : (term.significand << rule.fraction_bits) >> shift;
    units += term.negative ? -aligned : aligned;
  };
  for (std::size_t k = 0; k < a.size(); ++k) add(Multiply(DecodeHalf(a[k]), DecodeHalf(b[k])));
  add(DecodeFloat(c));
  return {units, largest - rule.fraction_bits, 0.0F, false};
}

float CanonicalNan(float f) { return std::isnan(f) ? std::bit_cast<float>(kFloatNan) : f; }

}  // namespace

int DotAddExponent(std::span<const HalfBits> a, std::span<const HalfBits> b, float c) {
  int largest = kNoExponent;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const Term product = Multiply(DecodeHalf(a[k]), DecodeHalf(b[k]));
    if (product.significand != 0) largest = std::max(largest, product.exponent);
  }
  const Term addend = DecodeFloat(c);
  if (addend.significand != 0) largest = std::max(largest, addend.exponent);
  return largest;
}

float FusedDotAdd(const DotAddRule& rule, std::span<const HalfBits> a, std::span<const HalfBits> b,
                  float c) {
  const WideSum sum = Sum(rule, a, b, c);
  if (sum.is_special) return CanonicalNan(sum.special);
  if (sum.units == 0) return 0.0F;
  // Toward zero: cut the magnitude at 24 bits, or at 2^-149 where the result is subnormal.
  const auto magnitude = static_cast<std::uint64_t>(std::llabs(sum.units));
  const int excess =
      std::max(static_cast<int>(std::bit_width(magnitude)) - 24, -149 - sum.exponent);
  const std::uint64_t kept = excess >= 64 ? 0 : excess > 0 ? magnitude >> excess : magnitude;
  const int exponent = sum.exponent + std::max(excess, 0);
  const auto value = static_cast<float>(std::ldexp(static_cast<double>(kept), exponent));
  return sum.units < 0 ? -value : value;
}

HalfBits FusedDotAddToHalf(const DotAddRule& rule, std::span<const HalfBits> a,
                           std::span<const HalfBits> b, float c) {
  const WideSum sum = Sum(rule, a, b, c);
  if (sum.is_special) return FloatToHalf(sum.special);
  // At most 49 + 5 bits would not fit a double, but the sum has F + 7 <= 32 of them: exact.
  return DoubleToHalf(std::ldexp(static_cast<double>(sum.units), sum.exponent));
}

// The product of two halves is exact in fp32, so a product and a sum are the fused multiply-add.

float SoftwareDotAdd(std::span<const HalfBits, 4> a, std::span<const HalfBits, 4> b, float c) {
  float sum = 0.0F;
  for (std::size_t k = 0; k < 4; ++k) sum += HalfToFloat(a[k]) * HalfToFloat(b[k]);
  return CanonicalNan(c + sum);
}

HalfBits SoftwareDotAddToHalf(std::span<const HalfBits, 4> a, std::span<const HalfBits, 4> b,
                              float c) {
  const auto product = [&](std::size_t k) { return HalfToFloat(a[k]) * HalfToFloat(b[k]); };
  const float low = product(0) + product(1);
  const float high = product(2) + product(3);
  return FloatToHalf((c + low) + high);
}

}  // namespace voltcheck::arith
