#include "reference/arith/half.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "each_target.h"
#include "exact_sum.h"

namespace voltcheck::arith {
namespace {

using testing::RoundWide;
using testing::Wide;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool IsNanBits(HalfBits h) { return (h & 0x7FFF) > 0x7C00; }
bool IsFiniteBits(HalfBits h) { return (h & 0x7C00) != 0x7C00; }

std::uint32_t Bits(float f) { return std::bit_cast<std::uint32_t>(f); }

/// The value by the textbook formula.
double Value(HalfBits h) {
  const int field = h / 1024 % 32;
  const int fraction = h % 1024;
  const double magnitude =
      field == 0 ? std::ldexp(fraction, -24) : std::ldexp(1.0 + fraction / 1024.0, field - 15);
  return h >= 0x8000 ? -magnitude : magnitude;
}

TEST(HalfToFloat, EveryHalfHasItsTextbookValue) {
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto h = static_cast<HalfBits>(i);
    const float f = HalfToFloat(h);
    if (IsNanBits(h)) {
      ASSERT_TRUE(std::isnan(f)) << i;
    } else if (!IsFiniteBits(h)) {
      ASSERT_EQ(f, h >= 0x8000 ? -kInfinity : kInfinity);
    } else {
      ASSERT_EQ(static_cast<double>(f), Value(h)) << i;
      ASSERT_EQ(std::signbit(f), h >= 0x8000) << i;
    }
  }
}

TEST(FloatToHalf, EveryRoundingBoundary) {
  // From each half to the next: just below, at and just above the midpoint. 65520 is the midpoint
  // that separates 65504 from Inf.
  for (std::uint32_t i = 0; i < 0x7C00; ++i) {
    const auto low = static_cast<HalfBits>(i);
    const auto high = static_cast<HalfBits>(i + 1);
    const double above = i + 1 == 0x7C00 ? 65536.0 : Value(high);
    const auto middle = static_cast<float>((Value(low) + above) / 2);
    ASSERT_EQ(static_cast<double>(middle), (Value(low) + above) / 2);
    const HalfBits even = i % 2 == 0 ? low : high;
    for (const bool negative : {false, true}) {
      const float sign = negative ? -1.0F : 1.0F;
      const int bit = negative ? 0x8000 : 0;
      ASSERT_EQ(FloatToHalf(sign * static_cast<float>(Value(low))), low | bit) << i;
      ASSERT_EQ(FloatToHalf(sign * std::nextafter(middle, 0.0F)), low | bit) << i;
      ASSERT_EQ(FloatToHalf(sign * middle), even | bit) << i;
      ASSERT_EQ(FloatToHalf(sign * std::nextafter(middle, kInfinity)), high | bit) << i;
    }
  }
}

TEST(FloatToHalf, Specials) {
  EXPECT_EQ(FloatToHalf(0.0F), 0x0000);
  EXPECT_EQ(FloatToHalf(-0.0F), 0x8000);
  EXPECT_EQ(FloatToHalf(kInfinity), 0x7C00);
  EXPECT_EQ(FloatToHalf(-kInfinity), 0xFC00);
  EXPECT_EQ(FloatToHalf(std::numeric_limits<float>::max()), 0x7C00);
  EXPECT_EQ(FloatToHalf(std::numeric_limits<float>::denorm_min()), 0x0000);
  EXPECT_EQ(FloatToHalf(-std::numeric_limits<float>::denorm_min()), 0x8000);
  for (const std::uint32_t nan : {0x7F800001U, 0x7FC00000U, 0xFFC12345U, 0xFFFFFFFFU}) {
    EXPECT_EQ(FloatToHalf(std::bit_cast<float>(nan)), 0x7FFF);
  }
}

TEST(DoubleToHalf, RoundsOnce) {
  // Through float the first would round to the tie 1 + 2^-11 and then to 1.
  EXPECT_EQ(DoubleToHalf(1 + 0x1p-11 + 0x1p-40), 0x3C01);
  EXPECT_EQ(DoubleToHalf(1 + 0x1p-11), 0x3C00);
  EXPECT_EQ(DoubleToHalf(0x1p-25 + 0x1p-70), 0x0001);
  EXPECT_EQ(DoubleToHalf(0x1p-25), 0x0000);
  EXPECT_EQ(DoubleToHalf(-0x1p-1074), 0x8000);
  EXPECT_EQ(DoubleToHalf(65520 - 0x1p-30), 0x7BFF);
  EXPECT_EQ(DoubleToHalf(-65520), 0xFC00);
  EXPECT_EQ(DoubleToHalf(1e308), 0x7C00);
}

#if defined(__x86_64__)
__attribute__((target("f16c"))) HalfBits FromHardware(float f) {
  return static_cast<HalfBits>(
      _mm_extract_epi16(_mm_cvtps_ph(_mm_set_ss(f), _MM_FROUND_TO_NEAREST_INT), 0));
}

TEST(FloatToHalf, AgreesWithF16c) {
  // Clang 14 cannot be asked for "f16c"; every processor with AVX2 has it.
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "the processor has no F16C";
  std::uint32_t bits = 0;
  for (int i = 0; i < 1 << 21; ++i, bits += 2039) {
    const auto f = std::bit_cast<float>(bits);
    if (!std::isnan(f)) {
      ASSERT_EQ(FloatToHalf(f), FromHardware(f)) << std::hex << bits;
    }
  }
}
#endif

void ExpectBulkEqualsScalar() {
  std::vector<HalfBits> halves(65536 + 37);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<HalfBits>(i);
  std::vector<float> floats(halves.size());
  HalfToFloat(halves.data(), floats.data(), halves.size());
  for (std::size_t i = 0; i < halves.size(); ++i) {
    ASSERT_EQ(Bits(floats[i]), Bits(HalfToFloat(halves[i]))) << i;
  }
  // Values around every boundary, and all exponents of a float.
  std::vector<float> input;
  for (std::uint32_t i = 0; i < 0x7C00; ++i) {
    const std::uint32_t at = Bits(static_cast<float>(Value(static_cast<HalfBits>(i)))) + 0x1000;
    for (const std::uint32_t bits : {at - 1, at, at + 1}) {
      input.push_back(std::bit_cast<float>(bits));
      input.push_back(std::bit_cast<float>(bits | 0x80000000U));
    }
  }
  for (std::uint32_t high = 0; high < 65536; ++high) {
    input.push_back(std::bit_cast<float>(high << 16));
    input.push_back(std::bit_cast<float>(high << 16 | 0xFFFF));
  }
  std::vector<HalfBits> output(input.size());
  FloatToHalf(input.data(), output.data(), input.size());
  for (std::size_t i = 0; i < input.size(); ++i) {
    ASSERT_EQ(output[i], FloatToHalf(input[i])) << std::hex << Bits(input[i]);
  }
  for (std::size_t n = 0; n < 40; ++n) {
    std::vector<HalfBits> guarded(n + 1, 0x1234);
    FloatToHalf(input.data() + 5, guarded.data(), n);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(guarded[i], FloatToHalf(input[i + 5]));
    ASSERT_EQ(guarded[n], 0x1234);
    std::vector<float> guarded_floats(n + 1, 7.0F);
    HalfToFloat(halves.data() + 0x3C00, guarded_floats.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(guarded_floats[i], HalfToFloat(static_cast<HalfBits>(0x3C00 + i)));
    }
    ASSERT_EQ(guarded_floats[n], 7.0F);
  }
}

TEST(HalfBulk, EqualsScalarForEveryLengthAndValue) {
  testing::ForEachTarget(ExpectBulkEqualsScalar);
}

/// Any half, with extra weight on the edges where rounding, subnormals and overflow happen.
rc::Gen<HalfBits> AnyHalf() {
  return rc::gen::weightedOneOf<HalfBits>(
      {{3, rc::gen::noShrink(rc::gen::map(rc::gen::inRange(0, 65536),
                                          [](int i) { return static_cast<HalfBits>(i); }))},
       {1, rc::gen::element<HalfBits>(0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x8400,
                                      0x3C00, 0xBC00, 0x3C01, 0xBBFF, 0x7BFF, 0xFBFF, 0x7C00,
                                      0xFC00, 0x7E00, 0x7FFF, 0x1000, 0x1400, 0x7800)}});
}

/// a * b + c in units of 2^-48, rounded once by integer arithmetic.
HalfBits ExactFma(HalfBits a, HalfBits b, HalfBits c) {
  const double product = Value(a) * Value(b);
  const bool a_special = !IsFiniteBits(a);
  const bool b_special = !IsFiniteBits(b);
  if (IsNanBits(a) || IsNanBits(b) || IsNanBits(c)) return 0x7FFF;
  const int product_sign = (a ^ b) & 0x8000;
  if (a_special || b_special) {
    if ((a & 0x7FFF) == 0 || (b & 0x7FFF) == 0) return 0x7FFF;
    const auto infinity = static_cast<HalfBits>(product_sign | 0x7C00);
    return !IsFiniteBits(c) && c != infinity ? HalfBits{0x7FFF} : infinity;
  }
  if (!IsFiniteBits(c)) return c;
  const auto units = [](double value) {
    return static_cast<Wide>(std::ldexp(value, 24)) * (Wide{1} << 24);
  };
  // The product has at most 22 significant bits down to 2^-48: exact in a double and as an integer.
  const Wide sum = static_cast<Wide>(std::ldexp(product, 48)) + units(Value(c));
  if (sum == 0) {
    const bool both_negative = product == 0.0 && product_sign != 0 && c == 0x8000;
    return both_negative ? 0x8000 : 0x0000;
  }
  const double rounded = RoundWide(sum, 48, 11, -24, true);
  const int sign = sum < 0 ? 0x8000 : 0;
  if (std::fabs(rounded) >= 65536) return static_cast<HalfBits>(sign | 0x7C00);
  if (rounded == 0) return static_cast<HalfBits>(sign);
  return FloatToHalf(static_cast<float>(rounded));  // exact: `rounded` is a half
}

RC_GTEST_PROP(HalfFma, EqualsExactArithmetic, ()) {
  for (int i = 0; i < 200; ++i) {
    const HalfBits a = *AnyHalf();
    const HalfBits b = *AnyHalf();
    const HalfBits c = *AnyHalf();
    RC_ASSERT(HalfFma(a, b, c) == ExactFma(a, b, c));
  }
}

TEST(HalfFma, NearTiesOfEveryExponent) {
  // c + a * b where the product sits at, or a hair beside, the tie of c: the double rounding trap.
  for (std::uint32_t i = 0; i < 0x7C00; i += 7) {
    const auto c = static_cast<HalfBits>(i);
    for (std::uint32_t factor = 0x0001; factor < 0x7C00; factor += 331) {
      for (const HalfBits b :
           {HalfBits{0x0001}, HalfBits{0x1000}, HalfBits{0x3800}, HalfBits{0xB801}}) {
        const auto a = static_cast<HalfBits>(factor);
        ASSERT_EQ(HalfFma(a, b, c), ExactFma(a, b, c)) << std::hex << a << ' ' << b << ' ' << c;
      }
    }
  }
}

RC_GTEST_PROP(HalfAddSubMul, AreFmasWithUnitAndZero, ()) {
  for (int i = 0; i < 200; ++i) {
    const HalfBits a = *AnyHalf();
    const HalfBits b = *AnyHalf();
    RC_ASSERT(HalfAdd(a, b) == ExactFma(a, 0x3C00, b));
    // Subtraction adds the operand with its sign turned; a NaN stays one.
    RC_ASSERT(HalfSub(a, b) == ExactFma(a, 0x3C00, static_cast<HalfBits>(b ^ 0x8000)));
    // x * y + (-0) keeps the sign of a zero product.
    RC_ASSERT(HalfMul(a, b) == ExactFma(a, b, 0x8000));
  }
}

TEST(HalfUlp, IsTheDistanceToTheNextHalf) {
  for (std::uint32_t i = 0; i + 1 < 0x7C00; ++i) {
    const double step = Value(static_cast<HalfBits>(i + 1)) - Value(static_cast<HalfBits>(i));
    ASSERT_EQ(HalfUlp(static_cast<HalfBits>(i)), step) << i;
    ASSERT_EQ(HalfUlp(static_cast<HalfBits>(i | 0x8000)), step) << i;
  }
}

TEST(HalfUlpDistance, CountsHalvesInBetween) {
  EXPECT_EQ(HalfUlpDistance(0x0000, 0x8000), 0);
  EXPECT_EQ(HalfUlpDistance(0x8001, 0x0001), 2);
  EXPECT_EQ(HalfUlpDistance(0x0001, 0x8001), -2);
  EXPECT_EQ(HalfUlpDistance(0x3C00, 0x3C05), 5);
  EXPECT_EQ(HalfUlpDistance(0xBC00, 0xBC05), -5);
  EXPECT_EQ(HalfUlpDistance(0x7BFF, 0x7C00), 1);
  EXPECT_EQ(HalfUlpDistance(0x7E00, 0xFFFF), 0);
  EXPECT_EQ(HalfUlpDistance(0x7E00, 0x0000), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(HalfUlpDistance(0x0000, 0x7E00), std::numeric_limits<std::int32_t>::max());
}

}  // namespace
}  // namespace voltcheck::arith
