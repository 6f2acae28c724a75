#ifndef VOLTCHECK_TESTS_ARITH_EXACT_SUM_H_
#define VOLTCHECK_TESTS_ARITH_EXACT_SUM_H_

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/arith/half.h"

namespace voltcheck::arith::testing {

/// A second implementation of the tensor-core rule, sharing no code with the first: every term is a
/// fixed-point integer in units of 2^-84, alignment is a division. Knobs make it wrong in the ways
/// that the measured rows must be able to tell.
struct SumRule {
  int fraction_bits = 23;
  bool floor = false;      ///< align toward minus infinity instead of toward zero
  bool normalise = false;  ///< products in [2, 4) move their exponent up
  bool nearest = false;    ///< fp32 result to nearest even instead of toward zero
};

using Wide = __int128;
inline constexpr int kUnit = 84;

/// floor(log2(value)) of a positive integer.
inline int TopBit(Wide value) {
  int bit = -1;
  for (; value != 0; value >>= 1) ++bit;
  return bit;
}

/// value * 2^-unit rounded to `digits` bits but no finer than 2^lowest: to nearest even, or toward
/// zero.
inline double RoundWide(Wide value, int unit, int digits, int lowest, bool nearest) {
  if (value == 0) return 0.0;
  const Wide magnitude = value < 0 ? -value : value;
  int drop = TopBit(magnitude) + 1 - digits;
  if (lowest + unit > drop) drop = lowest + unit;
  if (drop < 0) drop = 0;
  const Wide step = Wide{1} << drop;
  Wide kept = magnitude / step;
  const Wide rest = magnitude % step;
  if (nearest && (rest * 2 > step || (rest * 2 == step && kept % 2 == 1))) ++kept;
  const double result = std::ldexp(static_cast<double>(kept), drop - unit);
  return value < 0 ? -result : result;
}

/// The wide sum in units of 2^-84. `c` is zero or at least 2^-61 and at most 2^33 in magnitude.
inline Wide ExactSum(const SumRule& rule, std::span<const HalfBits> a, std::span<const HalfBits> b,
                     float c) {
  struct Part {
    Wide value;
    int exponent;
  };
  std::vector<Part> parts;
  const auto decode = [](HalfBits h, int* exponent) {
    const int field = h / 1024 % 32;
    *exponent = field == 0 ? -14 : field - 15;
    const Wide significand = h % 1024 + (field == 0 ? 0 : 1024);
    return h >= 0x8000 ? -significand : significand;
  };
  for (std::size_t k = 0; k < a.size(); ++k) {
    int ea = 0;
    int eb = 0;
    const Wide product = decode(a[k], &ea) * decode(b[k], &eb);
    if (product == 0) continue;
    const bool high = (product < 0 ? -product : product) >= (Wide{1} << 21);
    parts.push_back({product * (Wide{1} << (ea + eb - 20 + kUnit)),
                     ea + eb + (rule.normalise && high ? 1 : 0)});
  }
  if (c != 0.0F) {
    int exponent = 0;
    const double significand = std::frexp(static_cast<double>(c), &exponent);
    const auto integer = static_cast<std::int64_t>(std::ldexp(significand, 24));
    parts.push_back({integer * (Wide{1} << (exponent - 24 + kUnit)), exponent - 1});
  }
  int largest = -1000;
  for (const Part& part : parts) largest = part.exponent > largest ? part.exponent : largest;
  const int grid = largest - rule.fraction_bits + kUnit;
  Wide sum = 0;
  for (const Part& part : parts) {
    if (grid <= 0) {
      sum += part.value;
      continue;
    }
    const Wide step = Wide{1} << grid;
    Wide steps = part.value / step;
    if (rule.floor && part.value < 0 && part.value % step != 0) --steps;
    sum += steps * step;
  }
  return sum;
}

inline float ExactDotAdd(const SumRule& rule, std::span<const HalfBits> a,
                         std::span<const HalfBits> b, float c) {
  return static_cast<float>(RoundWide(ExactSum(rule, a, b, c), kUnit, 24, -149, rule.nearest));
}

/// A finite half below 65520 in magnitude: the caller compares values, not bits.
inline double ExactDotAddToHalf(const SumRule& rule, std::span<const HalfBits> a,
                                std::span<const HalfBits> b, float c) {
  return RoundWide(ExactSum(rule, a, b, c), kUnit, 11, -24, true);
}

}  // namespace voltcheck::arith::testing

#endif  // VOLTCHECK_TESTS_ARITH_EXACT_SUM_H_
