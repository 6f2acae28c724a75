// The vector forms of a step against the scalar rule, on every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "each_target.h"
#include "operands.h"
#include "reference/arith/fused_dot_add.h"
#include "reference/arith/step_scalar.h"

namespace voltcheck::arith {
namespace {

using testing::ForEachTarget;
using testing::kAllOperands;
using testing::Operands;
using testing::RandomAddend;
using testing::RandomHalf;

constexpr StepArithmetic kAllArithmetics[] = {StepArithmetic::kV100, StepArithmetic::kSm75,
                                              StepArithmetic::kSm80Software};

std::vector<HalfBits> Halves(Operands kind, std::size_t count, std::mt19937& random) {
  std::vector<HalfBits> halves(count);
  for (HalfBits& half : halves) half = RandomHalf(kind, random);
  return halves;
}

std::vector<float> Addends(Operands kind, std::size_t count, std::mt19937& random) {
  std::vector<float> addends(count);
  for (float& addend : addends) addend = RandomAddend(kind, random);
  return addends;
}

void ExpectSameBits(const std::vector<float>& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(got[i]), std::bit_cast<std::uint32_t>(want[i])) << i;
  }
}

TEST(TileStep, EqualsTheScalarFormForEverySize) {
  ForEachTarget([] {
    std::mt19937 random(1);
    for (const StepArithmetic arithmetic : kAllArithmetics) {
      for (const Operands kind : kAllOperands) {
        for (const std::size_t m : {1U, 2U, 8U, 16U, 17U, 33U}) {
          for (const std::size_t n : {1U, 3U, 4U, 7U, 8U, 9U, 15U, 16U, 21U, 40U}) {
            const std::size_t ldacc = n + m % 3;
            auto a = Halves(kind, m * 4, random);
            if (m > 1) std::fill(a.begin() + 4, a.begin() + 8, HalfBits{0x8000});  // a row of zeros
            const auto b = Halves(kind, n * 4, random);
            auto got = Addends(kind, m * ldacc, random);
            auto want = got;
            TileStep(arithmetic, a.data(), b.data(), got.data(), static_cast<int>(m),
                     static_cast<int>(n), static_cast<int>(ldacc));
            TileStepScalar(arithmetic, a.data(), b.data(), want.data(), m, n, ldacc);
            ASSERT_NO_FATAL_FAILURE(ExpectSameBits(got, want)) << m << " x " << n;
          }
        }
      }
    }
  });
}

TEST(WarpMmaF32, EqualsTheScalarForm) {
  ForEachTarget([] {
    std::mt19937 random(2);
    for (const StepArithmetic arithmetic : kAllArithmetics) {
      for (const Operands kind : kAllOperands) {
        const auto a = Halves(kind, 4 * 8 * 4, random);
        const auto b = Halves(kind, 4 * 8 * 4, random);
        auto got = Addends(kind, 4 * 8 * 8, random);
        auto want = got;
        WarpMmaF32(arithmetic, a.data(), b.data(), got.data());
        for (std::size_t product = 0; product < 4; ++product) {
          TileStepScalar(arithmetic, &a[product * 32], &b[product * 32], &want[product * 64], 8, 8,
                         8);
        }
        ASSERT_NO_FATAL_FAILURE(ExpectSameBits(got, want));
      }
    }
  });
}

TEST(DotChain, EqualsTheScalarFormForEverySize) {
  ForEachTarget([] {
    std::mt19937 random(3);
    for (const StepArithmetic arithmetic : kAllArithmetics) {
      for (const Operands kind : kAllOperands) {
        for (const std::size_t steps : {0U, 1U, 15U, 16U, 17U, 40U}) {
          for (const std::size_t count : {1U, 4U, 7U, 8U, 9U, 16U, 37U}) {
            const std::size_t ldb = steps * 4 + count % 5;
            auto a = Halves(kind, steps * 4, random);
            if (steps > 2)
              std::fill(a.begin() + 8, a.begin() + 12, HalfBits{0});  // a step of zeros
            const auto b = Halves(kind, count * ldb + 1, random);
            auto got = Addends(kind, count, random);
            auto want = got;
            DotChain(arithmetic, a.data(), b.data(), static_cast<int>(ldb), got.data(),
                     static_cast<int>(count), static_cast<int>(steps));
            DotChainScalar(arithmetic, a.data(), b.data(), ldb, want.data(), count, steps);
            ASSERT_NO_FATAL_FAILURE(ExpectSameBits(got, want)) << steps << " steps, " << count;
          }
        }
      }
    }
  });
}

TEST(DotChain, OneSpecialValueReachesItsColumnAlone) {
  std::mt19937 random(4);
  const auto a = Halves(Operands::kTypical, 32 * 4, random);
  auto b = Halves(Operands::kTypical, 24 * 32 * 4, random);
  std::vector<float> clean(24);
  DotChain(StepArithmetic::kV100, a.data(), b.data(), 32 * 4, clean.data(), 24, 32);
  b[13 * 32 * 4 + 70] = 0x7C00;
  std::vector<float> sums(24);
  DotChain(StepArithmetic::kV100, a.data(), b.data(), 32 * 4, sums.data(), 24, 32);
  for (std::size_t j = 0; j < 24; ++j) {
    if (j == 13) {
      EXPECT_TRUE(std::isinf(sums[j]));
    } else {
      EXPECT_EQ(sums[j], clean[j]) << j;
    }
  }
}

}  // namespace
}  // namespace voltcheck::arith
