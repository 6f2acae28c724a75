#include "reference/arith/table_unit.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "reference/arith/correction_table.h"
#include "reference/arith/value_table.h"

namespace voltcheck::arith {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::uint32_t Bits(float f) { return std::bit_cast<std::uint32_t>(f); }
float Float(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// Visits floats all over the positive range: every exponent, mantissas by an odd stride and the
/// edges.
template <typename Visit>
void ForEachMagnitude(Visit visit) {
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent) {
    for (std::uint32_t mantissa = 0; mantissa < (1U << 23); mantissa += 4093) {
      visit(Float(exponent << 23 | mantissa));
    }
    for (const std::uint32_t mantissa : {0U, 1U, 2U, 0x3FFFFFU, 0x400000U, 0x400001U, 0x7FFFFFU}) {
      visit(Float(exponent << 23 | mantissa));
    }
  }
}

TEST(CorrectionTable, HoldsOnlySmallCorrections) {
  std::array<int, 3> ex2{};
  std::array<int, 3> rcp{};
  for (std::uint32_t i = 0; i < CorrectionTable::kEntries; ++i) {
    ++ex2.at(static_cast<std::size_t>(Ex2Corrections()[i] + 1));
    ++rcp.at(static_cast<std::size_t>(RcpCorrections()[i] + 1));
  }
  // Counted in the files themselves when they were added.
  EXPECT_EQ(ex2, (std::array<int, 3>{3093, 5125875, 3259640}));
  EXPECT_EQ(rcp, (std::array<int, 3>{374723, 7280086, 733799}));
}

TEST(CorrectionTable, RefusesDamagedBytes) {
  const std::vector<std::uint8_t> garbage(100, 0x55);
  EXPECT_THROW(CorrectionTable{garbage}, std::runtime_error);
  EXPECT_THROW(CorrectionTable{std::span<const std::uint8_t>()}, std::runtime_error);
}

TEST(Ex2ApproxFtz, CorrectRoundingIsUnambiguous) {
  // The model adds its corrections to 2^x rounded from double. That is the same on every machine
  // when no 2^x lies so close to a midpoint of two floats that an ulp of double could matter.
  for (std::uint32_t i = 1; i < CorrectionTable::kEntries; ++i) {
    const double value = std::exp2(1.0 + i * 0x1p-23);
    const auto down = static_cast<float>(value * (1 - 0x1p-51));
    const auto up = static_cast<float>(value * (1 + 0x1p-51));
    ASSERT_EQ(down, up) << i;
  }
}

TEST(Ex2ApproxFtz, Edges) {
  EXPECT_EQ(Bits(Ex2ApproxFtz(0.0F)), 0x3F800000U);
  EXPECT_EQ(Bits(Ex2ApproxFtz(-0.0F)), 0x3F800000U);
  EXPECT_EQ(Bits(Ex2ApproxFtz(Float(0x007FFFFF))), 0x3F800000U);
  EXPECT_EQ(Bits(Ex2ApproxFtz(Float(0x807FFFFF))), 0x3F800000U);
  EXPECT_EQ(Ex2ApproxFtz(kInfinity), kInfinity);
  EXPECT_EQ(Bits(Ex2ApproxFtz(-kInfinity)), 0U);
  EXPECT_EQ(Ex2ApproxFtz(128.0F), kInfinity);
  EXPECT_EQ(Bits(Ex2ApproxFtz(Float(0x42FFFFFF))) >> 23, 254U);
  EXPECT_EQ(Ex2ApproxFtz(-126.0F), 0x1p-126F);
  EXPECT_EQ(Bits(Ex2ApproxFtz(std::nextafter(-126.0F, -200.0F))), 0U);
  EXPECT_EQ(Bits(Ex2ApproxFtz(-127.0F)), 0U);
  for (const std::uint32_t nan : {0x7F800001U, 0x7FC00000U, 0xFFFFFFFFU}) {
    EXPECT_EQ(Bits(Ex2ApproxFtz(Float(nan))), 0x7FFFFFFFU);
    EXPECT_EQ(Bits(Ex2Approx(Float(nan))), 0x7FFFFFFFU);
    EXPECT_EQ(Bits(RcpApproxFtz(Float(nan))), 0x7FFFFFFFU);
    EXPECT_EQ(Bits(RcpApprox(Float(nan))), 0x7FFFFFFFU);
  }
}

TEST(Ex2ApproxFtz, WholeNumbersGivePowersOfTwo) {
  for (int n = -126; n < 128; ++n) {
    EXPECT_EQ(Ex2ApproxFtz(static_cast<float>(n)), std::ldexp(1.0F, n)) << n;
  }
}

TEST(Ex2ApproxFtz, TinyInputsOfEitherSignGiveOne) {
  for (const float x : {0x1p-24F, 0x1.fffffep-24F, 0x1p-100F, 0x1p-126F}) {
    EXPECT_EQ(Ex2ApproxFtz(x), 1.0F);
    EXPECT_EQ(Ex2ApproxFtz(-x), 1.0F);
  }
  EXPECT_LT(Ex2ApproxFtz(-0x1p-23F), 1.0F);
}

TEST(Ex2ApproxFtz, FollowsTheStatedFixedPointRule) {
  // The table entry of the fraction, moved by the integer part; one's complement for negative x.
  for (std::uint32_t i = 3; i < CorrectionTable::kEntries; i += 9973) {
    const float entry = Ex2ApproxFtz(1 + static_cast<float>(i) * 0x1p-23F);
    for (const int n : {1, 5, 60, 127}) {
      const float x = static_cast<float>(n) + static_cast<float>(i) * 0x1p-23F;
      const auto cut = static_cast<std::uint32_t>((static_cast<double>(x) - n) * 0x1p23);
      if (x >= 128.0F || cut >= (1U << 23)) continue;
      const float base = Ex2ApproxFtz(1 + static_cast<float>(cut) * 0x1p-23F);
      ASSERT_EQ(Ex2ApproxFtz(x), std::ldexp(base, n - 1)) << x;
    }
    const float negative = -1 + static_cast<float>(i) * 0x1p-23F;  // exact
    const std::uint32_t complement = (1U << 23) - 1 - ((1U << 23) - i);
    const float below = Ex2ApproxFtz(1 + static_cast<float>(complement) * 0x1p-23F);
    ASSERT_EQ(Ex2ApproxFtz(negative), std::ldexp(below, -2)) << negative;
    ASSERT_LE(
        std::abs(static_cast<std::int64_t>(Bits(entry)) -
                 static_cast<std::int64_t>(Bits(static_cast<float>(std::exp2(1.0 + i * 0x1p-23))))),
        1);
  }
}

TEST(Ex2ApproxFtz, WithinTheDocumentedBoundAndNormalOrZero) {
  ForEachMagnitude([](float magnitude) {
    for (const float x : {magnitude, -magnitude}) {
      const float got = Ex2ApproxFtz(x);
      if (x >= 128.0F) {
        ASSERT_EQ(got, kInfinity);
      } else if (x < -126.0F) {
        ASSERT_EQ(Bits(got), 0U) << x;
      } else {
        const double want = std::exp2(static_cast<double>(x));
        ASSERT_LE(std::fabs(got - want), kEx2RelativeBound * want) << x;
      }
    }
  });
}

TEST(RcpApproxFtz, Edges) {
  EXPECT_EQ(RcpApproxFtz(0.0F), kInfinity);
  EXPECT_EQ(RcpApproxFtz(-0.0F), -kInfinity);
  EXPECT_EQ(RcpApproxFtz(Float(0x007FFFFF)), kInfinity);
  EXPECT_EQ(RcpApproxFtz(Float(0x807FFFFF)), -kInfinity);
  EXPECT_EQ(Bits(RcpApproxFtz(kInfinity)), 0U);
  EXPECT_EQ(Bits(RcpApproxFtz(-kInfinity)), 0x80000000U);
  EXPECT_EQ(RcpApproxFtz(0x1p-126F), 0x1p126F);
  EXPECT_EQ(RcpApproxFtz(0x1p126F), 0x1p-126F);
  EXPECT_EQ(Bits(RcpApproxFtz(Float(0x7E800001))), 0U);
  EXPECT_EQ(Bits(RcpApproxFtz(-0x1p127F)), 0x80000000U);
  for (int n = -126; n <= 126; ++n) {
    EXPECT_EQ(RcpApproxFtz(std::ldexp(1.0F, n)), std::ldexp(1.0F, -n)) << n;
  }
}

TEST(RcpApproxFtz, WithinOneUlpOddAndNormalOrZero) {
  ForEachMagnitude([](float x) {
    const float got = RcpApproxFtz(x);
    ASSERT_EQ(Bits(RcpApproxFtz(-x)), Bits(got) ^ 0x80000000U) << x;
    if (x < 0x1p-126F) {
      ASSERT_EQ(got, kInfinity);
    } else if (x > 0x1p126F) {
      ASSERT_EQ(Bits(got), 0U);
    } else {
      const float want = 1.0F / x;
      ASSERT_LE(
          std::abs(static_cast<std::int64_t>(Bits(got)) - static_cast<std::int64_t>(Bits(want))), 1)
          << x;
    }
  });
}

TEST(TableUnitWithoutFtz, EqualsTheUnitWhereNothingIsSubnormal) {
  ForEachMagnitude([](float magnitude) {
    for (const float x : {magnitude, -magnitude}) {
      if (x >= -126.0F) {
        ASSERT_EQ(Bits(Ex2Approx(x)), Bits(Ex2ApproxFtz(x))) << x;
      }
      if (magnitude >= 0x1p-126F && magnitude <= 0x1p126F) {
        ASSERT_EQ(Bits(RcpApprox(x)), Bits(RcpApproxFtz(x))) << x;
      }
    }
  });
}

TEST(TableUnitWithoutFtz, SubnormalsAreKept) {
  // Even whole numbers have a whole half, whose power of two the unit gives exactly.
  EXPECT_EQ(Ex2Approx(-128.0F), 0x1p-128F);
  EXPECT_EQ(Ex2Approx(-148.0F), 0x1p-148F);
  EXPECT_EQ(Ex2Approx(-152.0F), 0.0F);
  EXPECT_EQ(Ex2Approx(-kInfinity), 0.0F);
  EXPECT_EQ(RcpApprox(0x1p-127F), 0x1p127F);
  EXPECT_EQ(RcpApprox(-0x1p-128F), -kInfinity);
  EXPECT_EQ(RcpApprox(0x1p127F), 0x1p-127F);
  EXPECT_EQ(RcpApprox(0.0F), kInfinity);
  EXPECT_EQ(Bits(RcpApprox(-kInfinity)), 0x80000000U);
  // Two more roundings than the unit alone, in the subnormal unit 2^-149.
  for (float x = -126.0F; x > -149.0F; x -= 0.0371F) {
    const double want = std::exp2(static_cast<double>(x));
    ASSERT_LE(std::fabs(Ex2Approx(x) - want), 0x1p-21 * want + 0x1p-150) << x;
  }
  for (float x = 0x1p126F; x < 0x1p127F; x *= 1.00037F) {
    ASSERT_LE(std::fabs(RcpApprox(x) - 1.0 / x), kRcpRelativeBound / x + 0x1p-150) << x;
  }
}

TEST(CorrectionTable, RootsHaveTheCountsOfTheFiles) {
  for (const bool odd : {false, true}) {
    std::array<int, 4> sqrt{};
    std::array<int, 4> rsqrt{};
    for (std::uint32_t i = 0; i < CorrectionTable::kEntries; ++i) {
      ++sqrt.at(static_cast<std::size_t>(SqrtCorrections(odd)[i] + 2));
      ++rsqrt.at(static_cast<std::size_t>(RsqrtCorrections(odd)[i] + 2));
    }
    EXPECT_EQ(sqrt, odd ? (std::array<int, 4>{0, 1280993, 6958554, 149061})
                        : (std::array<int, 4>{0, 1321509, 6988859, 78240}));
    EXPECT_EQ(rsqrt, odd ? (std::array<int, 4>{0, 1079094, 6637923, 671591})
                         : (std::array<int, 4>{8, 1265297, 6505163, 618140}));
  }
}

TEST(ValueTable, RefusesDamagedBytes) {
  const std::vector<std::uint8_t> garbage(100, 0x55);
  EXPECT_THROW(ValueTable(garbage, 16), std::runtime_error);
  EXPECT_THROW(ValueTable({}, 1), std::runtime_error);
}

TEST(RootsAndLogarithm, Edges) {
  const std::uint32_t nan = 0x7FFFFFFF;
  using Function = float (*)(float);
  for (const Function function :
       std::initializer_list<Function>{SqrtApproxFtz, RsqrtApproxFtz, Lg2ApproxFtz, SqrtApprox,
                                       RsqrtApprox, Lg2Approx, SinApprox, CosApprox}) {
    EXPECT_EQ(Bits(function(Float(0x7F800001))), nan);
    EXPECT_EQ(Bits(function(Float(0xFFC00000))), nan);
  }
  for (const Function function :
       std::initializer_list<Function>{SqrtApproxFtz, RsqrtApproxFtz, Lg2ApproxFtz}) {
    EXPECT_EQ(Bits(function(-1.0F)), nan);
    EXPECT_EQ(Bits(function(-kInfinity)), nan);
  }
  EXPECT_EQ(Bits(SqrtApproxFtz(Float(0x807FFFFF))), 0x80000000U);
  EXPECT_EQ(Bits(SqrtApproxFtz(Float(0x007FFFFF))), 0U);
  EXPECT_EQ(SqrtApproxFtz(kInfinity), kInfinity);
  EXPECT_EQ(RsqrtApproxFtz(-0.0F), -kInfinity);
  EXPECT_EQ(RsqrtApproxFtz(Float(0x007FFFFF)), kInfinity);
  EXPECT_EQ(Bits(RsqrtApproxFtz(kInfinity)), 0U);
  EXPECT_EQ(Lg2ApproxFtz(-0.0F), -kInfinity);
  EXPECT_EQ(Lg2ApproxFtz(Float(0x007FFFFF)), -kInfinity);
  EXPECT_EQ(Lg2ApproxFtz(kInfinity), kInfinity);
  EXPECT_EQ(Bits(Lg2ApproxFtz(1.0F)), 0U);
  for (int n = -63; n < 64; ++n) {
    EXPECT_EQ(SqrtApproxFtz(std::ldexp(1.0F, 2 * n)), std::ldexp(1.0F, n)) << n;
    EXPECT_EQ(RsqrtApproxFtz(std::ldexp(1.0F, 2 * n)), std::ldexp(1.0F, -n)) << n;
  }
  for (int n = 0; n < 128; ++n) {
    EXPECT_EQ(Lg2ApproxFtz(std::ldexp(1.0F, n)), static_cast<float>(n));
  }
}

TEST(RootsAndLogarithm, WithoutFtzSubnormalsAreKept) {
  EXPECT_EQ(SqrtApprox(0x1p-148F), 0x1p-74F);
  EXPECT_EQ(RsqrtApprox(0x1p-148F), 0x1p74F);
  EXPECT_EQ(Lg2Approx(0x1p-140F), Lg2ApproxFtz(0x1p-116F) - 24.0F);
  EXPECT_EQ(Bits(RsqrtApprox(-0x1p-148F)), 0x7FFFFFFFU);
  EXPECT_EQ(Bits(SqrtApprox(-0.0F)), 0x80000000U);
}

TEST(RootsAndLogarithm, WithinTheDocumentedBounds) {
  ForEachMagnitude([](float x) {
    if (x < 0x1p-126F) return;
    const double exact = x;
    const double root = std::sqrt(exact);
    ASSERT_LE(std::fabs(SqrtApproxFtz(x) - root), kSqrtRelativeBound * root) << x;
    ASSERT_LE(std::fabs(RsqrtApproxFtz(x) - 1 / root), kRsqrtRelativeBound / root) << x;
    const double logarithm = std::log2(exact);
    const double scale = x > 0.5F && x < 2.0F ? 1.0 : std::fabs(logarithm);
    ASSERT_LE(std::fabs(Lg2ApproxFtz(x) - logarithm), kLg2Bound * scale) << x;
  });
}

TEST(SinCosApprox, EdgesAndSymmetries) {
  EXPECT_EQ(Bits(SinApprox(0.0F)), 0U);
  EXPECT_EQ(Bits(SinApprox(-0.0F)), 0x80000000U);
  EXPECT_EQ(Bits(SinApprox(Float(0x80000001))), 0x80000000U);
  EXPECT_EQ(CosApprox(0x1p-140F), 1.0F);
  EXPECT_EQ(Bits(SinApprox(-kInfinity)), 0x7FFFFFFFU);
  EXPECT_EQ(Bits(CosApprox(kInfinity)), 0x7FFFFFFFU);
  EXPECT_EQ(SinApprox(0x1p120F), 0.0F);  // whole turns: the unit sees no fraction
  EXPECT_EQ(CosApprox(0x1p120F), 1.0F);
  ForEachMagnitude([](float x) {
    ASSERT_EQ(Bits(SinApprox(-x)), Bits(SinApprox(x)) ^ 0x80000000U) << x;
    ASSERT_EQ(Bits(CosApprox(-x)), Bits(CosApprox(x))) << x;
  });
}

TEST(SinCosApprox, WithinTheDocumentedBound) {
  for (float x = -3.1415925F; x < 3.1415925F; x += 0.0000371F) {
    ASSERT_LE(std::fabs(SinApprox(x) - std::sin(static_cast<double>(x))), kSinAbsoluteBound) << x;
    ASSERT_LE(std::fabs(CosApprox(x) - std::cos(static_cast<double>(x))), kCosAbsoluteBound) << x;
  }
}

std::uint64_t Bits(double d) { return std::bit_cast<std::uint64_t>(d); }

TEST(DoubleUnits, Edges) {
  const double infinity = kInfinity;
  EXPECT_EQ(RcpApproxFtz(-0.0), -infinity);
  EXPECT_EQ(RcpApproxFtz(0x1p-1030), infinity);
  EXPECT_EQ(Bits(RcpApproxFtz(-infinity)), 0x8000000000000000U);
  EXPECT_EQ(Bits(RcpApproxFtz(-0x1.8p1023)), 0x8000000000000000U);
  EXPECT_EQ(Bits(RcpApproxFtz(std::nan(""))), 0x7FFFFFFF00000000U);
  EXPECT_EQ(RcpApproxFtz(-0x1p500), -0x1p-500);
  EXPECT_EQ(RsqrtApproxFtz(-0x1p-1030), -infinity);
  EXPECT_EQ(Bits(RsqrtApproxFtz(-1.0)), 0x7FFFFFFF00000000U);
  EXPECT_EQ(Bits(RsqrtApproxFtz(infinity)), 0U);
  EXPECT_EQ(RsqrtApproxFtz(0x1p-600), 0x1p300);
  EXPECT_EQ(RsqrtApprox(-0.0), -infinity);
  EXPECT_EQ(Bits(RsqrtApprox(-1.0)), 0xFFF8000000000000U);
  EXPECT_EQ(Bits(RsqrtApprox(std::bit_cast<double>(0x7FF0000000000001U))), 0x7FF8000000000001U);
  EXPECT_EQ(RsqrtApprox(0x1p-1040), 0x1p520);
}

TEST(DoubleUnits, AreGoodTo20BitsAndRefinedTo50) {
  for (double x = 0x1p-1021; x < 0x1p1020; x *= 1.37) {
    ASSERT_LE(std::fabs(RcpApproxFtz(x) * x - 1), 0x1p-20) << x;
    ASSERT_LE(std::fabs(RsqrtApproxFtz(x) * std::sqrt(x) - 1), 0x1p-20) << x;
    ASSERT_LE(std::fabs(RsqrtApprox(x) * std::sqrt(x) - 1), 0x1p-50) << x;
    ASSERT_EQ(Bits(RcpApproxFtz(x)) << 32, 0U);
  }
}

/// FNV-1a over the results for every 1021st bit pattern (fp64: high word).
std::uint64_t Digest(float (*function)(float)) {
  std::uint64_t digest = 0xCBF29CE484222325;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 1021) {
    digest = (digest ^ Bits(function(Float(static_cast<std::uint32_t>(bits))))) * 0x100000001B3;
  }
  return digest;
}
std::uint64_t Digest(double (*function)(double)) {
  std::uint64_t digest = 0xCBF29CE484222325;
  for (std::uint64_t high = 0; high < std::uint64_t{1} << 32; high += 1021) {
    const auto low = static_cast<std::uint32_t>(high * 0x9E3779B9);
    digest = (digest ^ Bits(function(std::bit_cast<double>(high << 32 | low)))) * 0x100000001B3;
  }
  return digest;
}

TEST(TableUnit, EqualsTheModelThatWasComparedWithTheChip) {
  EXPECT_EQ(Digest(Ex2ApproxFtz), 0x609CA996704C516DU);
  EXPECT_EQ(Digest(static_cast<float (*)(float)>(RcpApproxFtz)), 0x84F55D11A6DDF1D2U);
  EXPECT_EQ(Digest(Ex2Approx), 0x209219F1B2EE037FU);
  EXPECT_EQ(Digest(RcpApprox), 0xDBA5DB8FF3D5E293U);
  EXPECT_EQ(Digest(SqrtApproxFtz), 0xEA401BE9FBB38B1BU);
  EXPECT_EQ(Digest(SqrtApprox), 0x38946AD25110F06BU);
  EXPECT_EQ(Digest(static_cast<float (*)(float)>(RsqrtApproxFtz)), 0x428E7DE002D3C0E8U);
  EXPECT_EQ(Digest(static_cast<float (*)(float)>(RsqrtApprox)), 0xB1C5E03E9A6FB8E2U);
  EXPECT_EQ(Digest(Lg2ApproxFtz), 0x39053230236E337BU);
  EXPECT_EQ(Digest(Lg2Approx), 0x90E71E92FEC2B4F8U);
  EXPECT_EQ(Digest(SinApprox), 0x5900DE3B003064ACU);
  EXPECT_EQ(Digest(CosApprox), 0xC27449A55E4B8A58U);
  EXPECT_EQ(Digest(static_cast<double (*)(double)>(RcpApproxFtz)), 0xDB1A535D8EC990CFU);
  EXPECT_EQ(Digest(static_cast<double (*)(double)>(RsqrtApproxFtz)), 0x8759872E8EC990CFU);
  EXPECT_EQ(Digest(static_cast<double (*)(double)>(RsqrtApprox)), 0xEFA2DEAFB3BDC524U);
}

TEST(TableUnit, FirstUseFromManyThreads) {
  std::vector<std::thread> threads;
  std::array<float, 8> results{};
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back(
        [&results, i] { results.at(i) = Ex2ApproxFtz(0.7F) + RcpApproxFtz(0.7F); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const float result : results) EXPECT_EQ(result, results[0]);
}

}  // namespace
}  // namespace voltcheck::arith
