// The stage against a naive triple loop, written independently of the room's own code.
#include "reference/stage.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "fixtures/case/error.h"
#include "reference/arith/half.h"
#include "reference/rounding.h"
#include "test_problem.h"

namespace voltcheck::reference {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

Case SmallCase() {
  Case c;
  c.shape = {.hidden = 96, .intermediate = 32, .experts = 6, .top_k = 3, .group = 32, .tokens = 5};
  return c;
}

double Half(double x) { return arith::HalfToFloat(arith::DoubleToHalf(x)); }

// Weight (k, n) of an AWQ matrix, from the packing formula.
double NaiveWeight(const AwqMatrix& m, int k, int n, WeightKind kind) {
  constexpr int kNibble[] = {0, 4, 1, 5, 2, 6, 3, 7};
  const auto nibble = [&](const std::vector<std::uint32_t>& packed, int row) {
    return static_cast<int>(
        packed[static_cast<std::size_t>(row * (m.n / 8) + n / 8)] >> (4 * kNibble[n % 8]) & 15);
  };
  const int q = nibble(m.qweight, k);
  const int z = nibble(m.qzeros, k / m.group);
  const double s = arith::HalfToFloat(m.scales[static_cast<std::size_t>(k / m.group * m.n + n)]);
  return kind == WeightKind::kIdeal ? (q - z) * s : Half(q * s + Half(-z * s));
}

struct NaiveOutputs {
  std::vector<std::vector<double>> w13, silu, w2;  // by slot = token*k + route
  std::vector<std::vector<double>> output;         // by token
};

NaiveOutputs Naive(const Problem& p, const StageOptions& options) {
  const bool rounds = options.rounding == Rounding::kContract;
  const auto round = [&](double x) { return rounds ? Half(x) : x; };
  const auto multiply = [&](const std::vector<double>& a, const AwqMatrix& w) {
    std::vector<double> y(static_cast<std::size_t>(w.n));
    for (int n = 0; n < w.n; ++n) {
      double sum = 0;
      for (int k = 0; k < w.k; ++k) {
        sum += a[static_cast<std::size_t>(k)] * NaiveWeight(w, k, n, options.weights);
      }
      y[static_cast<std::size_t>(n)] = round(sum);
    }
    return y;
  };
  NaiveOutputs out;
  const Shape& shape = p.c.shape;
  for (int t = 0; t < shape.tokens; ++t) {
    std::vector<double> x(static_cast<std::size_t>(shape.hidden));
    for (int h = 0; h < shape.hidden; ++h) {
      x[static_cast<std::size_t>(h)] =
          arith::HalfToFloat(p.hidden[static_cast<std::size_t>(t * shape.hidden + h)]);
    }
    std::vector<double> total(x.size(), 0.0);
    for (int j = 0; j < shape.top_k; ++j) {
      const auto slot = static_cast<std::size_t>(t * shape.top_k + j);
      const ExpertWeights& expert = *p.FindExpert(p.topk_ids[slot]);
      out.w13.push_back(multiply(x, expert.w13));
      std::vector<double> act(static_cast<std::size_t>(shape.intermediate));
      for (std::size_t i = 0; i < act.size(); ++i) {
        const double gate = out.w13.back()[i];
        const double up = out.w13.back()[i + act.size()];
        act[i] = round(round(gate / (1 + std::exp(-gate))) * up);
      }
      out.silu.push_back(act);
      out.w2.push_back(multiply(act, expert.w2));
      for (std::size_t h = 0; h < total.size(); ++h) {
        total[h] += static_cast<double>(p.topk_weights[slot]) * out.w2.back()[h];
      }
    }
    for (double& y : total) {
      y = round(y);
    }
    out.output.push_back(total);
  }
  return out;
}

template <typename Scalar>
double LargestError(const Matrix<Scalar>& got, const std::vector<std::vector<double>>& want,
                    const std::vector<std::int32_t>* row_of) {
  double largest = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const auto row = row_of == nullptr ? static_cast<std::int32_t>(i) : (*row_of)[i];
    for (std::size_t j = 0; j < want[i].size(); ++j) {
      largest = std::max(largest, std::fabs(got(row, static_cast<Eigen::Index>(j)) - want[i][j]));
    }
  }
  return largest;
}

template <typename Scalar>
void ExpectNear(const StageOutputs<Scalar>& got, const NaiveOutputs& want, const Permutation& p,
                double tolerance) {
  EXPECT_LE(LargestError(got.w13, want.w13, &p.inverse), tolerance);
  EXPECT_LE(LargestError(got.silu, want.silu, &p.inverse), tolerance);
  EXPECT_LE(LargestError(got.w2, want.w2, &p.inverse), tolerance);
  EXPECT_LE(LargestError(got.output, want.output, nullptr), tolerance);
}

class StageAgainstNaive : public testing::TestWithParam<std::tuple<WeightKind, SlotLayout>> {};

TEST_P(StageAgainstNaive, DoubleWithoutRounding) {
  const auto [kind, layout] = GetParam();
  Case c = SmallCase();
  c.layout = layout;
  const Problem problem = RandomProblem(c, {}, 3);
  const Permutation p = Permute(problem);
  const StageOptions options{kind, Rounding::kNone};
  const NaiveOutputs want = Naive(problem, options);
  ExpectNear(RunStage<double>(problem, p, options), want, p, 1e-13);
  ExpectNear(RunStage<float>(problem, p, options), want, p, 1e-5);
}

TEST_P(StageAgainstNaive, DoubleWithContractRounding) {
  const auto [kind, layout] = GetParam();
  Case c = SmallCase();
  c.layout = layout;
  const Problem problem = RandomProblem(c, {}, 4);
  const Permutation p = Permute(problem);
  const StageOptions options{kind, Rounding::kContract};
  const auto got = RunStage<double>(problem, p, options);
  // fp64 sums differ in their last bits at most, which no rounding to half here shows.
  ExpectNear(got, Naive(problem, options), p, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, StageAgainstNaive,
    testing::Combine(testing::Values(WeightKind::kContract, WeightKind::kIdeal),
                     testing::Values(SlotLayout::kSorted, SlotLayout::kShuffled)));

TEST(Stage, RoundsExactlyWhereTheContractDoes) {
  const Problem problem = RandomProblem(SmallCase(), {}, 5);
  const Permutation p = Permute(problem);
  const auto rounded = RunStage<float>(problem, p, {});
  const auto exact = RunStage<float>(problem, p, {WeightKind::kContract, Rounding::kNone});
  const auto halves = [](const Matrix<float>& m) {
    return FromHalfMatrix<float>(ToHalfMatrix(m)) == m;
  };
  EXPECT_TRUE(halves(rounded.w13) && halves(rounded.silu) && halves(rounded.w2) &&
              halves(rounded.output));
  EXPECT_FALSE(halves(exact.w13) || halves(exact.silu) || halves(exact.w2) || halves(exact.output));
  // W13 rounds once: the rounded one is the exact one rounded.
  EXPECT_EQ(FromHalfMatrix<float>(ToHalfMatrix(exact.w13)), rounded.w13);
}

TEST(Rounding, OfFloatsAgreesWithTheConversions) {
  const auto check = [](std::uint32_t bits) {
    const auto x = std::bit_cast<float>(bits);
    const float got = RoundToHalf(x);
    const float want = arith::HalfToFloat(arith::FloatToHalf(x));
    return std::isnan(want)
               ? std::isnan(got)
               : std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(want);
  };
  for (std::uint32_t i = 0; i < 0x100000; ++i) {
    ASSERT_TRUE(check(i * 4099U)) << i;  // all signs and exponents
    // Around every half and every middle between two.
    const std::uint32_t half =
        std::bit_cast<std::uint32_t>(arith::HalfToFloat(static_cast<arith::HalfBits>(i >> 4)));
    ASSERT_TRUE(check(half + (i & 15U) * 0x400U)) << i;
    ASSERT_TRUE(check(half + (i & 15U) * 0x400U + 1)) << i;
    ASSERT_TRUE(check(half + (i & 15U) * 0x400U - 1)) << i;
  }
}

TEST(Stage, SiluRoundsTwice) {
  const double exact = 1 / (1 + std::exp(-1.0));
  int differing = 0;
  for (std::uint16_t up = 0x3C00; up < 0x4000; ++up) {
    Matrix<float> w13(1, 2);
    w13 << 1, arith::HalfToFloat(up);
    const float got = SiluMul<float>(w13, Rounding::kContract)(0, 0);
    ASSERT_EQ(got, Half(Half(exact) * w13(0, 1)));
    differing += got != Half(exact * w13(0, 1)) ? 1 : 0;
  }
  EXPECT_GT(differing, 100);
}

TEST(Stage, SiluOfSpecialGates) {
  const auto silu = [](float gate, float up) {
    Matrix<double> w13(1, 2);
    w13 << gate, up;
    return SiluMul<double>(w13, Rounding::kContract)(0, 0);
  };
  EXPECT_TRUE(std::isnan(silu(-kInf, 1)));
  EXPECT_EQ(silu(kInf, 2), kInf);
  EXPECT_TRUE(std::isnan(silu(kInf, 0)));
  EXPECT_TRUE(std::isnan(silu(std::nanf(""), 1)));
  EXPECT_EQ(silu(-60000, 1), 0);
  EXPECT_EQ(silu(17, 1), 17);  // the sigmoid's distance from 1 is less than half an ulp
  EXPECT_EQ(silu(0, 5), 0);
}

TEST(Stage, ARowDoesNotDependOnItsCompany) {
  Case c = SmallCase();
  c.shape.tokens = 16;
  Problem problem = RandomProblem(c, {}, 6);
  const auto together = RunStage<float>(problem, Permute(problem), {});
  const Shape shape = c.shape;
  for (int t = 0; t < shape.tokens; ++t) {
    Problem alone = problem;
    alone.c.shape.tokens = 1;
    alone.hidden.assign(problem.hidden.begin() + t * shape.hidden,
                        problem.hidden.begin() + (t + 1) * shape.hidden);
    alone.topk_ids.assign(problem.topk_ids.begin() + t * shape.top_k,
                          problem.topk_ids.begin() + (t + 1) * shape.top_k);
    alone.topk_weights.assign(problem.topk_weights.begin() + t * shape.top_k,
                              problem.topk_weights.begin() + (t + 1) * shape.top_k);
    const auto single = RunStage<float>(alone, Permute(alone), {});
    ASSERT_EQ(single.output.row(0), together.output.row(t)) << t;
  }
}

TEST(Stage, SkippedSlotsAreZeroAndAddNothing) {
  Problem problem = RandomProblem(SmallCase(), {}, 7);
  Problem without = problem;
  problem.topk_ids[4] = -1;
  problem.topk_weights[4] = std::numeric_limits<float>::quiet_NaN();
  without.topk_weights[4] = 0;
  const Permutation p = Permute(problem);
  const auto got = RunStage<double>(problem, p, {});
  const auto want = RunStage<double>(without, Permute(without), {});
  EXPECT_EQ(got.output, want.output);
  EXPECT_EQ(p.rows, problem.c.shape.slots() - 1);
  EXPECT_TRUE(got.w13.row(p.rows).isZero(0));
  EXPECT_TRUE(got.w2.row(p.rows).isZero(0));
}

TEST(Stage, NonFiniteInputsReachEveryColumnOfTheirToken) {
  Problem problem = RandomProblem(SmallCase(), {}, 8);
  problem.hidden[0] = 0x7C00;
  const Permutation p = Permute(problem);
  const auto got = GroupedGemm<double>(problem, p, Gemm::kW13, PermutedInput<double>(problem, p),
                                       {WeightKind::kContract, Rounding::kNone});
  const int row = p.inverse[0];
  EXPECT_EQ(got.row(row).array().isFinite().count(), 0);
  EXPECT_TRUE(got.bottomRows(1).array().isFinite().all() || row == got.rows() - 1);
}

TEST(Stage, MissingWeightsAreBadInput) {
  Problem problem = RandomProblem(SmallCase(), {}, 9);
  problem.experts.clear();
  EXPECT_THROW(RunStage<float>(problem, Permute(problem), {}), Error);
}

}  // namespace
}  // namespace voltcheck::reference
