#include "reference/arith/fused_dot_add.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "each_target.h"
#include "exact_sum.h"
#include "reference/arith/mma_rules.h"

namespace voltcheck::arith {
namespace {

using testing::ExactDotAdd;
using testing::ExactDotAddToHalf;
using testing::SumRule;

using Step4 = std::array<HalfBits, 4>;

std::uint32_t Bits(float f) { return std::bit_cast<std::uint32_t>(f); }
float Float(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// Published results of a V100 for single dot products (sources in docs/numerics.md).
struct Published {
  Step4 a;
  Step4 b;
  std::uint32_t c;
  std::uint32_t d;
};

constexpr Step4 kOnes{0x3C00, 0x3C00, 0x3C00, 0x3C00};
constexpr Step4 kTinies{0x0001, 0x0001, 0x0001, 0x0001};

std::vector<Published> PublishedFloatCases() {
  std::vector<Published> cases = {
      {{0x0001}, {0x4400}, 0x00000000, 0x34800000},
      {{}, {}, 0x00000001, 0x00000001},
      {{0x0400}, {0x3800}, 0x00000000, 0x38000000},
      {{0x0400}, {0x3C00}, 0xB8000000, 0x38000000},
      {{0x3BFF, 0x3BFF, 0x3BFF, 0x3BFF}, {0x3BFF, 0x3BFF, 0x3BFF, 0x3BFF}, 0x00000000, 0x407FC004},
      {kOnes, kTinies, 0x3F800000, 0x3F800000},
      {{0x3C00, 0x3C00}, {0x4000, 0x0003}, 0x00000000, 0x40000000},
      {{0x3C00, 0x3C00}, {0xC000, 0x8003}, 0x00000000, 0xC0000000},
      {{0x3C00}, {0x3C00}, 0xBF7FFFFF, 0x34000000},
      {kOnes, kTinies, 0x3F7FFFFF, 0x3F800001},
      {{0x3C00, 0x3C00}, {0x3C00, 0x8001}, 0xBF7FFFFF, 0x34000000},
      {kOnes, {0x3C00, 0x3E00, 0x3F00, 0x3F80}, 0x3FF00000, 0x41000000},
      {kOnes, kOnes, 0x3F800003, 0x40A00000},
      {kOnes, {0xBC00, 0xBC00, 0xBC00, 0xBC00}, 0xBF800003, 0xC0A00000},
  };
  for (std::size_t lane = 0; lane < 4; ++lane) {
    Step4 one_among_tinies = kTinies;
    one_among_tinies[lane] = 0x3C00;
    cases.push_back({kOnes, one_among_tinies, 0x33800000, 0x3F800000});
    Step4 tiny_among_ones = kOnes;
    tiny_among_ones[lane] = 0x0002;
    cases.push_back({kOnes, tiny_among_ones, 0x3F800003, 0x40800001});
  }
  return cases;
}

const Published kPublishedHalfCases[] = {
    {{0x0001}, {0x4400}, 0, 0x0004},
    {{0x3BFF, 0x3BFF}, {0x3BFF, 0x1000}, 0, 0x3BFF},
    {{0x0001, 0x0001}, {0x3800, 0x3400}, 0, 0x0001},
};

TEST(PublishedCases, FloatAccumulator) {
  for (const Published& published : PublishedFloatCases()) {
    EXPECT_EQ(Bits(FusedDotAdd(kV100DotAdd, published.a, published.b, Float(published.c))),
              published.d)
        << std::hex << published.b[0] << ' ' << published.b[1] << " c " << published.c;
  }
}

TEST(PublishedCases, FloatAccumulatorInVectors) {
  testing::ForEachTarget([] {
    for (const Published& published : PublishedFloatCases()) {
      float acc[9];
      HalfBits b[9][4];
      for (std::size_t j = 0; j < 9; ++j) {
        acc[j] = Float(published.c);
        std::copy(published.b.begin(), published.b.end(), b[j]);
      }
      TileStep(StepArithmetic::kV100, published.a.data(), b[0], acc, 1, 9, 9);
      for (const float d : acc) EXPECT_EQ(Bits(d), published.d);
    }
  });
}

TEST(PublishedCases, HalfAccumulator) {
  for (const Published& published : kPublishedHalfCases) {
    EXPECT_EQ(FusedDotAddToHalf(kV100DotAdd, published.a, published.b, Float(published.c)),
              published.d);
  }
}

TEST(PublishedCases, TellTheRuleFromItsNeighbours) {
  const auto all_hold = [](auto dot_add) {
    for (const Published& published : PublishedFloatCases()) {
      if (Bits(dot_add(published)) != published.d) return false;
    }
    return true;
  };
  for (const int fraction_bits : {21, 22, 24, 25}) {
    EXPECT_FALSE(all_hold([&](const Published& p) {
      return FusedDotAdd(DotAddRule{4, fraction_bits}, p.a, p.b, Float(p.c));
    })) << fraction_bits;
  }
  EXPECT_FALSE(all_hold([](const Published& p) { return SoftwareDotAdd(p.a, p.b, Float(p.c)); }));
}

/// Halves whose exponents spread enough that alignment drops bits; some subnormal, some zero.
rc::Gen<HalfBits> FiniteHalf() {
  return rc::gen::weightedOneOf<HalfBits>(
      {{6, rc::gen::noShrink(rc::gen::map(
               rc::gen::inRange(0, 2 * 0x7C00),
               [](int i) { return static_cast<HalfBits>((i >> 1) | (i & 1) << 15); }))},
       {1, rc::gen::element<HalfBits>(0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x3C00,
                                      0xBC00, 0x3FFF, 0xBFFF, 0x7BFF, 0xFBFF)}});
}

/// A float of any magnitude that the fixed-point oracle covers, or zero.
rc::Gen<float> Addend() {
  return rc::gen::noShrink(
      rc::gen::map(rc::gen::pair(rc::gen::inRange(0, 1 << 24), rc::gen::inRange(-62, 33)),
                   [](const std::pair<int, int>& parts) {
                     if (parts.second == -62) return 0.0F;
                     const double significand = 1.0 + (parts.first >> 1) * 0x1p-23;
                     const double value = std::ldexp(significand, parts.second);
                     return static_cast<float>((parts.first & 1) != 0 ? -value : value);
                   }));
}

std::vector<HalfBits> Halves(int count) {
  std::vector<HalfBits> halves;
  for (int i = 0; i < count; ++i) halves.push_back(*FiniteHalf());
  return halves;
}

RC_GTEST_PROP(FusedDotAdd, EqualsTheFixedPointOracle, ()) {
  for (int i = 0; i < 40; ++i) {
    const int terms = *rc::gen::element(4, 8, 16);
    const int fraction_bits = *rc::gen::element(22, 23, 24, 25);
    const DotAddRule rule{terms, fraction_bits};
    const SumRule oracle{fraction_bits};
    const auto a = Halves(terms);
    const auto b = Halves(terms);
    const float c = *Addend();
    const float got = FusedDotAdd(rule, a, b, c);
    RC_ASSERT(Bits(got) == Bits(ExactDotAdd(oracle, a, b, c)));
    const double want = ExactDotAddToHalf(oracle, a, b, c);
    const HalfBits half = FusedDotAddToHalf(rule, a, b, c);
    if (std::fabs(want) >= 65536) {
      RC_ASSERT(half == (want < 0 ? 0xFC00 : 0x7C00));
    } else {
      RC_ASSERT(static_cast<double>(HalfToFloat(half)) == want);
    }
  }
}

RC_GTEST_PROP(FusedDotAdd, DoesNotDependOnTheOrderOfTerms, ()) {
  auto a = Halves(4);
  auto b = Halves(4);
  const float c = *Addend();
  const float before = FusedDotAdd(kV100DotAdd, a, b, c);
  const auto shift = *rc::gen::inRange(1, 4);
  std::rotate(a.begin(), a.begin() + shift, a.end());
  std::rotate(b.begin(), b.begin() + shift, b.end());
  RC_ASSERT(Bits(FusedDotAdd(kV100DotAdd, a, b, c)) == Bits(before));
}

RC_GTEST_PROP(FusedDotAdd, ExponentIsThatOfTheLargestTerm, ()) {
  const auto a = Halves(4);
  const auto b = Halves(4);
  const float c = *Addend();
  int largest = std::numeric_limits<std::int32_t>::min();
  for (std::size_t k = 0; k < 4; ++k) {
    if ((a[k] & 0x7FFF) == 0 || (b[k] & 0x7FFF) == 0) continue;
    const auto exponent = [](HalfBits h) { return std::max(std::ilogb(HalfToFloat(h)), -14); };
    largest = std::max(largest, exponent(a[k]) + exponent(b[k]));
  }
  if (c != 0) largest = std::max(largest, std::ilogb(c));
  RC_ASSERT(DotAddExponent(a, b, c) == largest);
}

TEST(FusedDotAdd, ZeroProductsKeepEveryAddend) {
  const Step4 zeros{0x0000, 0x8000, 0x0000, 0x8000};
  const Step4 others{0x3C00, 0x7BFF, 0x8001, 0xBC00};
  for (std::uint32_t high = 0; high < 65536; ++high) {
    for (const std::uint32_t bits : {high << 16, high << 16 | 1, high << 16 | 0xFFFF}) {
      const float c = Float(bits);
      const std::uint32_t want = std::isnan(c) ? 0x7FFFFFFF : bits == 0x80000000 ? 0 : bits;
      ASSERT_EQ(Bits(FusedDotAdd(kV100DotAdd, zeros, others, c)), want) << std::hex << bits;
      ASSERT_EQ(Bits(SoftwareDotAdd(zeros, others, c)), want) << std::hex << bits;
    }
  }
  EXPECT_EQ(DotAddExponent(zeros, others, 0.0F), std::numeric_limits<std::int32_t>::min());
}

TEST(FusedDotAdd, SpecialOperands) {
  constexpr HalfBits kInf = 0x7C00;
  constexpr HalfBits kMinusInf = 0xFC00;
  const float inf = std::numeric_limits<float>::infinity();
  struct Special {
    Step4 a, b;
    float c;
    std::uint32_t d;
    HalfBits half;
  };
  const Special cases[] = {
      {{kInf}, {0x3C00}, 0.0F, 0x7F800000, 0x7C00},
      {{kInf}, {0xBC00}, 0.0F, 0xFF800000, 0xFC00},
      {{kInf, 0x7BFF}, {0x3C00, 0xFBFF}, -1e30F, 0x7F800000, 0x7C00},
      {{kInf, kInf}, {0x3C00, 0x3C00}, inf, 0x7F800000, 0x7C00},
      {{kInf}, {0x0001}, 0.0F, 0x7F800000, 0x7C00},
      {{kInf}, {0x0000}, 0.0F, 0x7FFFFFFF, 0x7FFF},
      {{0x8000}, {kInf}, 1.0F, 0x7FFFFFFF, 0x7FFF},
      {{kInf, kMinusInf}, {0x3C00, 0x3C00}, 0.0F, 0x7FFFFFFF, 0x7FFF},
      {{kInf}, {0x3C00}, -inf, 0x7FFFFFFF, 0x7FFF},
      {{0x3C00}, {0x3C00}, -inf, 0xFF800000, 0xFC00},
      {{0x7E00}, {0x0000}, 0.0F, 0x7FFFFFFF, 0x7FFF},
      {{0xFC01}, {0x3C00}, inf, 0x7FFFFFFF, 0x7FFF},
      {{0x3C00}, {0x3C00}, Float(0xFFC00001), 0x7FFFFFFF, 0x7FFF},
  };
  for (const Special& special : cases) {
    for (const DotAddRule& rule : {kV100DotAdd, kSm75DotAdd}) {
      EXPECT_EQ(Bits(FusedDotAdd(rule, special.a, special.b, special.c)), special.d);
      EXPECT_EQ(FusedDotAddToHalf(rule, special.a, special.b, special.c), special.half);
    }
    EXPECT_EQ(Bits(SoftwareDotAdd(special.a, special.b, special.c)), special.d);
    EXPECT_EQ(SoftwareDotAddToHalf(special.a, special.b, special.c), special.half);
  }
}

TEST(FusedDotAdd, HugeAddendSwallowsProductsAndNeverOverflows) {
  const Step4 huge{0x7BFF, 0x7BFF, 0x7BFF, 0x7BFF};
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(FusedDotAdd(kV100DotAdd, huge, huge, largest), largest);
  EXPECT_EQ(FusedDotAdd(kV100DotAdd, huge, huge, -largest), -largest);
}

TEST(FusedDotAddToHalf, OverflowsToInfinityByNearest) {
  EXPECT_EQ(FusedDotAddToHalf(kV100DotAdd, Step4{0x7BFF}, Step4{0x3C00}, 15.0F), 0x7BFF);
  EXPECT_EQ(FusedDotAddToHalf(kV100DotAdd, Step4{0x7BFF}, Step4{0x3C00}, 16.0F), 0x7C00);
  EXPECT_EQ(FusedDotAddToHalf(kV100DotAdd, Step4{0xFBFF}, Step4{0x3C00}, -16.0F), 0xFC00);
}

RC_GTEST_PROP(MmaDotAdd, ChainsItsStepsLowKFirst, ()) {
  const auto a = Halves(16);
  const auto b = Halves(16);
  const float c = *Addend();
  const std::span<const HalfBits> a_all(a);
  const std::span<const HalfBits> b_all(b);
  const float low = ExactDotAdd({24}, a_all.first(8), b_all.first(8), c);
  RC_ASSERT(Bits(MmaDotAdd(kSm80M16n8k8, a_all.first(8), b_all.first(8), c)) == Bits(low));
  // The oracle covers C down to 2^-61 only, which a cancelled sum may fall below.
  if (low == 0 || std::fabs(low) > 0x1p-61F) {
    RC_ASSERT(Bits(MmaDotAdd(kSm80M16n8k16, a, b, c)) ==
              Bits(ExactDotAdd({24}, a_all.last(8), b_all.last(8), low)));
  }
  RC_ASSERT(Bits(MmaDotAdd(kSm90M16n8k16, a, b, c)) == Bits(ExactDotAdd({25}, a, b, c)));
  static_assert(kSm80M16n8k16.k() == 16 && kSm90M16n8k16.k() == 16 && kSm75M16n8k8.k() == 8);
}

RC_GTEST_PROP(SoftwareDotAdd, IsTheStatedChainOfFusedOperations, ()) {
  for (int i = 0; i < 40; ++i) {
    const auto a = Halves(4);
    const auto b = Halves(4);
    const float c = *Addend();
    const std::span<const HalfBits, 4> a4(a.data(), 4);
    const std::span<const HalfBits, 4> b4(b.data(), 4);
    const auto f = [](HalfBits h) { return HalfToFloat(h); };
    float sum = 0.0F;
    for (std::size_t k = 0; k < 4; ++k) sum = std::fma(f(a[k]), f(b[k]), sum);
    RC_ASSERT(Bits(SoftwareDotAdd(a4, b4, c)) == Bits(c + sum));
    const float p = std::fma(f(a[1]), f(b[1]), f(a[0]) * f(b[0]));
    const float q = std::fma(f(a[3]), f(b[3]), f(a[2]) * f(b[2]));
    RC_ASSERT(SoftwareDotAddToHalf(a4, b4, c) == FloatToHalf((c + p) + q));
  }
}

}  // namespace
}  // namespace voltcheck::arith
