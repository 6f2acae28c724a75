// Which sums count as exact: the proof must never say yes where an order of summation can matter.
#include "verify/exactness.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "reference/arith/fused_dot_add.h"
#include "reference/arith/half.h"
#include "reference/awq.h"

namespace voltcheck::verify {
namespace {

using reference::Gemm;
using reference::HalfMatrix;

// One expert with H = K and 2I = N whose W13 has the given scale everywhere, nibbles and zeros from
// `seed`.
Problem OneExpert(int k, int n, std::uint16_t scale, std::uint32_t seed) {
  Problem p;
  p.c.shape = {k, n / 2, 1, 1, 32, 1};
  auto expert = std::make_shared<ExpertWeights>();
  AwqMatrix& m = expert->w13;
  m.k = k;
  m.n = n;
  m.group = 32;
  std::uint32_t state = seed;
  const auto next = [&state] { return state = state * 1664525U + 1013904223U; };
  for (int i = 0; i < k * n / 8; ++i) {
    m.qweight.push_back(next() ^ (next() >> 16));
  }
  for (int i = 0; i < k / 32 * n / 8; ++i) {
    m.qzeros.push_back(next() ^ (next() >> 16));
  }
  m.scales.assign(static_cast<std::size_t>(k / 32 * n), scale);
  p.experts.push_back(expert);
  return p;
}

reference::Permutation OneRow() {
  reference::Permutation permutation;
  permutation.expert = {0};
  permutation.rows = 1;
  return permutation;
}

std::size_t CountExact(const Problem& p, const HalfMatrix& a) {
  const auto exact = ExactOutputs(p, OneRow(), Gemm::kW13, a);
  return static_cast<std::size_t>(std::accumulate(exact.begin(), exact.end(), 0));
}

TEST(Exactness, SmallIntegersAndPowerOfTwoScalesAreExact) {
  const Problem p = OneExpert(64, 16, arith::FloatToHalf(0.125F), 1);
  HalfMatrix a{1, 64, {}};
  for (int i = 0; i < 64; ++i) {
    a.bits.push_back(arith::FloatToHalf(static_cast<float>(i % 9 - 4)));
  }
  EXPECT_EQ(CountExact(p, a), 16U);
}

TEST(Exactness, OneHotIsExactWhateverTheScale) {
  const Problem p = OneExpert(64, 16, arith::FloatToHalf(0.0123F), 2);
  HalfMatrix a{1, 64, std::vector<std::uint16_t>(64, 0)};
  a.bits[37] = arith::FloatToHalf(1.0F);
  EXPECT_EQ(CountExact(p, a), 16U);
}

TEST(Exactness, AnEmptyRowIsExactlyZero) {
  const Problem p = OneExpert(64, 16, arith::FloatToHalf(0.0123F), 3);
  EXPECT_EQ(CountExact(p, {1, 64, std::vector<std::uint16_t>(64, 0)}), 16U);
}

TEST(Exactness, OrdinaryActivationsAreNotProvablyExact) {
  const Problem p = OneExpert(64, 16, arith::FloatToHalf(0.0123F), 4);
  HalfMatrix a{1, 64, {}};
  for (int i = 0; i < 64; ++i) {
    a.bits.push_back(arith::FloatToHalf(0.001F + 0.7F * static_cast<float>(i)));
  }
  EXPECT_EQ(CountExact(p, a), 0U);
}

TEST(Exactness, SubnormalsCountWithTheExponentThatTheTensorCoreGivesThem) {
  // The sums are tiny beside 2^23 units of 2^-48, but a weight of 2^-24 is aligned as if it were
  // 2^-14: next to its product with 2^-10 the tensor core cuts at 2^-47.
  const Problem p = OneExpert(64, 16, 0x0001, 5);
  HalfMatrix a{1, 64, std::vector<std::uint16_t>(64, 0x0001)};
  EXPECT_EQ(CountExact(p, a), 16U);
  a.bits[3] = arith::FloatToHalf(0x1p-10F);
  EXPECT_EQ(CountExact(p, a), 0U);
}

TEST(Exactness, InfiniteInputsProveNothing) {
  const Problem p = OneExpert(64, 16, arith::FloatToHalf(1.0F), 6);
  HalfMatrix a{1, 64, std::vector<std::uint16_t>(64, 0x7C00)};
  EXPECT_EQ(CountExact(p, a), 0U);
}

// Where the proof says yes, the tensor core's chain gives the exact sum in ascending and in
// descending order.
RC_GTEST_PROP(Exactness, ExactMeansThatTheOrderDoesNotMatter, ()) {
  const int k = 32;
  const int n = 8;
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const int log_scale = *rc::gen::inRange(-12, 3);
  const int range = *rc::gen::element(2, 16, 300, 2000);
  const Problem p = OneExpert(k, n, arith::FloatToHalf(std::ldexp(1.0F, log_scale)), seed);
  HalfMatrix a{1, k, {}};
  for (int i = 0; i < k; ++i) {
    a.bits.push_back(arith::FloatToHalf(static_cast<float>(*rc::gen::inRange(-range, range + 1))));
  }
  const auto exact = ExactOutputs(p, OneRow(), Gemm::kW13, a);
  const HalfMatrix w = reference::DecodeContract(p.experts[0]->w13);
  for (int col = 0; col < n; ++col) {
    if (exact[static_cast<std::size_t>(col)] == 0) {
      continue;
    }
    double sum = 0;
    float up = 0;
    float down = 0;
    for (int step = 0; step < k; step += 4) {
      std::array<std::uint16_t, 4> a_up{}, b_up{}, a_down{}, b_down{};
      for (int j = 0; j < 4; ++j) {
        const auto i = static_cast<std::size_t>(step + j);
        const auto r = static_cast<std::size_t>(k - 1) - i;
        const auto at = static_cast<std::size_t>(j);
        a_up[at] = a.bits[i];
        b_up[at] = w.row(static_cast<int>(i))[static_cast<std::size_t>(col)];
        a_down[at] = a.bits[r];
        b_down[at] = w.row(static_cast<int>(r))[static_cast<std::size_t>(col)];
        sum += static_cast<double>(arith::HalfToFloat(a_up[at])) * arith::HalfToFloat(b_up[at]);
      }
      up = arith::FusedDotAdd(arith::kV100DotAdd, a_up, b_up, up);
      down = arith::FusedDotAdd(arith::kV100DotAdd, a_down, b_down, down);
    }
    RC_ASSERT(static_cast<double>(up) == sum);
    RC_ASSERT(static_cast<double>(down) == sum);
  }
}

}  // namespace
}  // namespace voltcheck::verify
