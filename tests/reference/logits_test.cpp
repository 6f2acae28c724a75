#include "reference/logits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fixtures/case/error.h"
#include "reference/arith/half.h"
#include "reference/rounding.h"
#include "test_problem.h"

namespace voltcheck::reference {
namespace {

constexpr int kHidden = 64;
constexpr int kVocabulary = 21;

Problem WithHead(int tokens, std::uint64_t seed) {
  Case c;
  c.shape = {.hidden = kHidden,
             .intermediate = 32,
             .experts = 4,
             .top_k = 2,
             .group = 32,
             .tokens = tokens};
  Problem p = RandomProblem(c, {}, seed);
  std::mt19937_64 random(seed);
  auto head = std::make_shared<LogitsHead>();
  head->residual = RandomHalves(static_cast<std::size_t>(tokens) * kHidden, 0.5, false, random);
  head->norm = RandomHalves(kHidden, 1, false, random);
  head->head = RandomHalves(std::size_t{kVocabulary} * kHidden, 1, false, random);
  head->token_ids.assign(kVocabulary, 0);
  p.head = head;
  return p;
}

Matrix<double> RandomOutput(int tokens, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return FromHalfMatrix<double>(
      {tokens, kHidden,
       RandomHalves(static_cast<std::size_t>(tokens) * kHidden, 1, false, random)});
}

TEST(Logits, AgreeWithTheFormulaWrittenOut) {
  const Problem p = WithHead(3, 1);
  const Matrix<double> output = RandomOutput(3, 2);
  const Matrix<double> got = Logits<double>(p, output);
  const auto half = [](std::uint16_t h) { return static_cast<double>(arith::HalfToFloat(h)); };
  for (int t = 0; t < 3; ++t) {
    std::vector<double> x(kHidden);
    double squares = 0;
    for (int i = 0; i < kHidden; ++i) {
      x[static_cast<std::size_t>(i)] =
          output(t, i) + half(p.head->residual[static_cast<std::size_t>(t * kHidden + i)]);
      squares += x[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(i)];
    }
    for (int v = 0; v < kVocabulary; ++v) {
      double logit = 0;
      for (int i = 0; i < kHidden; ++i) {
        const auto at = static_cast<std::size_t>(i);
        logit += half(p.head->head[static_cast<std::size_t>(v * kHidden + i)]) *
                 half(p.head->norm[at]) * x[at] /
                 std::sqrt(squares / kHidden + static_cast<double>(p.head->epsilon));
      }
      EXPECT_NEAR(got(t, v), logit, 1e-12);
    }
  }
}

TEST(Logits, BudgetHoldsForOutputsInsideTheirs) {
  const Problem p = WithHead(4, 3);
  const Matrix<double> output = RandomOutput(4, 4);
  double worst = 0;
  for (const double deviation : {0.0, 1e-4, 1e-2, 0.3}) {
    const Bounded bound = BoundLogits(p, {output, Matrix<double>::Constant(4, kHidden, deviation)});
    for (int trial = 0; trial < 200; ++trial) {
      std::mt19937_64 random(static_cast<std::uint64_t>(trial));
      Matrix<double> moved = output;
      for (Eigen::Index i = 0; i < moved.size(); ++i) {
        // Half of the trials push every channel the way that raises logit 0.
        const double towards =
            arith::HalfToFloat(p.head->head[static_cast<std::size_t>(i % kHidden)]) *
            arith::HalfToFloat(p.head->norm[static_cast<std::size_t>(i % kHidden)]);
        const bool up = trial % 2 == 0 ? towards > 0 : (random() & 1) != 0;
        moved.data()[i] += up ? deviation : -deviation;
      }
      const Matrix<double> logits = Logits<float>(p, moved.cast<float>()).cast<double>();
      const Matrix<double> use = (logits - bound.value).cwiseAbs().cwiseQuotient(bound.budget);
      ASSERT_LE(use.maxCoeff(), 1) << deviation;
      worst = std::max(worst, deviation > 0 ? use.maxCoeff() : 0);
    }
  }
  EXPECT_GT(worst, 0.3);
}

TEST(Logits, WhatIsNotFiniteIsSaid) {
  const Problem p = WithHead(2, 5);
  Matrix<double> output = RandomOutput(2, 6);
  Matrix<double> budget = Matrix<double>::Zero(2, kHidden);
  output(0, 3) = std::numeric_limits<double>::infinity();
  budget(1, 4) = std::numeric_limits<double>::infinity();
  const Bounded bound = BoundLogits(p, {output, budget});
  EXPECT_TRUE(std::isnan(bound.value(0, 0)));
  EXPECT_EQ(bound.budget(0, 0), 0);
  EXPECT_TRUE(std::isfinite(bound.value(1, 0)));
  EXPECT_TRUE(std::isinf(bound.budget(1, 0)));
}

TEST(Logits, NeedsAHeadOfTheRightSize) {
  Problem p = WithHead(2, 7);
  const Matrix<double> output = RandomOutput(2, 8);
  auto head = std::make_shared<LogitsHead>(*p.head);
  head->norm.pop_back();
  p.head = head;
  EXPECT_THROW(Logits<double>(p, output), Error);
  p.head = nullptr;
  EXPECT_THROW(Logits<double>(p, output), Error);
}

}  // namespace
}  // namespace voltcheck::reference
