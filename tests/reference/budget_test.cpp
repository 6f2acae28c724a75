// Whole stages: what the order-faithful model predicts must lie within the budgets, on its own
// input of each stage and end to end.
#include "reference/budget.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "fixtures/case/error.h"
#include "reference/arith/half.h"
#include "reference/order_model.h"
#include "reference/rounding.h"
#include "reference/rounding_error.h"
#include "test_problem.h"

namespace voltcheck::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Use {
  double largest = 0;
  int outside = 0;
  double relative_size = 0;  // RMS(budget) / RMS(value)
};

// How the halves lie in their budgets, by the rules of Bounded.
Use BudgetUse(const HalfMatrix& got, const Bounded& bound) {
  Use use;
  double budget2 = 0;
  double value2 = 0;
  for (std::size_t i = 0; i < got.bits.size(); ++i) {
    const double value = bound.value.data()[i];
    const double budget = bound.budget.data()[i];
    double h = arith::HalfToFloat(got.bits[i]);
    if (std::isinf(budget)) {
      continue;
    }
    if (!std::isfinite(value)) {
      use.outside += h == value || (std::isnan(value) && std::isnan(h)) ? 0 : 1;
      continue;
    }
    if (std::isinf(h)) {
      h = std::copysign(65536, h);  // where it would be without an overflow
    }
    const double distance = std::fabs(h - value);
    use.outside += distance <= budget ? 0 : 1;
    use.largest = std::max(use.largest, distance == 0 ? 0 : distance / budget);
    budget2 += budget * budget;
    value2 += value * value;
  }
  use.relative_size = value2 > 0 ? std::sqrt(budget2 / value2) : 0;
  return use;
}

struct Predicted {
  HalfMatrix input, w13, silu, w2, output;
};

Predicted Predict(const Problem& problem, const Permutation& p) {
  const Case& c = problem.c;
  Predicted predicted;
  predicted.input = ToHalfMatrix(PermutedInput<float>(problem, p));
  predicted.w13 = PredictGemm(problem, p, Gemm::kW13, predicted.input, c.w13, c.numerics);
  predicted.silu = PredictSilu(predicted.w13);
  predicted.w2 = PredictGemm(problem, p, Gemm::kW2, predicted.silu, c.w2, c.numerics);
  predicted.output = PredictReduce(problem, p, predicted.w2);
  return predicted;
}

struct Uses {
  std::vector<Use> all;
  int outside() const {
    int sum = 0;
    for (const Use& use : all) {
      sum += use.outside;
    }
    return sum;
  }
};

Uses JudgeModel(const Problem& problem, AccumulationOrder order) {
  const Case& c = problem.c;
  const Permutation p = Permute(problem);
  const Predicted got = Predict(problem, p);
  const auto doubles = [](const HalfMatrix& m) { return FromHalfMatrix<double>(m); };
  Uses uses;
  uses.all.push_back(BudgetUse(got.w13, BoundGemm(problem, p, Gemm::kW13, doubles(got.input),
                                                  nullptr, c.w13, c.numerics, order)));
  uses.all.push_back(BudgetUse(got.silu, BoundSilu(doubles(got.w13), nullptr)));
  uses.all.push_back(BudgetUse(got.w2, BoundGemm(problem, p, Gemm::kW2, doubles(got.silu), nullptr,
                                                 c.w2, c.numerics, order)));
  uses.all.push_back(BudgetUse(got.output, BoundReduce(problem, p, doubles(got.w2), nullptr)));
  const BoundedStage stage = BoundStage(problem, p, order);
  uses.all.push_back(BudgetUse(got.w13, stage.w13));
  uses.all.push_back(BudgetUse(got.silu, stage.silu));
  uses.all.push_back(BudgetUse(got.w2, stage.w2));
  uses.all.push_back(BudgetUse(got.output, stage.output));
  return uses;
}

Case StageCase() {
  Case c;
  c.shape = {.hidden = 256, .intermediate = 64, .experts = 4, .top_k = 3, .group = 32, .tokens = 4};
  c.w13 = {{8, 128, 64}, 2};
  c.w2 = {{16, 128, 32}, 2};
  return c;
}

RC_GTEST_PROP(BudgetProperty, TheModelStaysInside, ()) {
  Case c = StageCase();
  c.shape.hidden = 32 * *rc::gen::inRange(1, 9);
  c.shape.tokens = *rc::gen::element(1, 2, 5);
  c.w13 = {{16, 128, 32}, *rc::gen::inRange(1, c.shape.hidden / 32 + 1)};
  c.w2 = {{16, 128, 32}, *rc::gen::element(1, 2)};
  c.numerics = *rc::gen::element(Numerics::kV100, Numerics::kSm75, Numerics::kSm80Software);
  c.layout = *rc::gen::element(SlotLayout::kSorted, SlotLayout::kShuffled);
  Fill fill;
  // From everything subnormal over ordinary values to sums that overflow.
  fill.activation = std::exp2(*rc::gen::inRange(-20, 12));
  fill.scale_low = std::exp2(*rc::gen::inRange(-24, -4));
  fill.scale_high = fill.scale_low * *rc::gen::element(1.0001, 4.0, 256.0);
  fill.positive = *rc::gen::arbitrary<bool>();
  const auto seed = *rc::gen::noShrink(rc::gen::arbitrary<std::uint64_t>());
  const Problem problem = RandomProblem(c, fill, seed);
  RC_ASSERT(JudgeModel(problem, AccumulationOrder::kDeclared).outside() == 0);
  RC_ASSERT(JudgeModel(problem, AccumulationOrder::kUndeclared).outside() == 0);
  if (c.shape.tokens == 1) {
    const Permutation p = Permute(problem);
    const HalfMatrix input = ToHalfMatrix(PermutedInput<float>(problem, p));
    const Bounded posterior = BoundGemmPosterior(problem, p, Gemm::kW13, input, c.w13, c.numerics);
    const HalfMatrix got = PredictGemm(problem, p, Gemm::kW13, input, c.w13, c.numerics);
    RC_ASSERT(BudgetUse(got, posterior).outside == 0);
  }
}

TEST(Budget, IsNarrowOnOrdinaryData) {
  for (const auto numerics : {Numerics::kV100, Numerics::kSm75, Numerics::kSm80Software}) {
    Case c = StageCase();
    c.shape.hidden = 2560;
    c.numerics = numerics;
    const Uses uses = JudgeModel(RandomProblem(c, {}, 21), AccumulationOrder::kDeclared);
    EXPECT_EQ(uses.outside(), 0);
    // The own budget of W13, SiLU, W2 and output; then end to end.
    for (std::size_t i = 0; i < uses.all.size(); ++i) {
      EXPECT_LT(uses.all[i].relative_size, i < 4 ? 1e-3 : 1e-2) << i;
      EXPECT_GT(uses.all[i].largest, i < 4 ? 0.5 : 0.02) << i;
    }
  }
}

TEST(Budget, AnUndeclaredOrderIsJudgedMoreWidely) {
  Case c = StageCase();
  const Problem problem = RandomProblem(c, {}, 22);
  const Permutation p = Permute(problem);
  const auto input = PermutedInput<double>(problem, p);
  const Bounded declared =
      BoundGemm(problem, p, Gemm::kW13, input, nullptr, c.w13, Numerics::kV100);
  const Bounded any = BoundGemm(problem, p, Gemm::kW13, input, nullptr, {}, Numerics::kV100,
                                AccumulationOrder::kUndeclared);
  EXPECT_TRUE(any.value.isApprox(declared.value, 1e-12));
  EXPECT_TRUE((any.budget.array() >= declared.budget.array()).all());
}

TEST(Budget, PosteriorHoldsAndIsTighter) {
  Case c = StageCase();
  c.shape.tokens = 2;
  for (const auto numerics : {Numerics::kV100, Numerics::kSm75, Numerics::kSm80Software}) {
    for (const bool positive : {false, true}) {
      Fill fill;
      fill.positive = positive;
      const Problem problem = RandomProblem(c, fill, 23);
      const Permutation p = Permute(problem);
      const HalfMatrix input = ToHalfMatrix(PermutedInput<float>(problem, p));
      const Bounded prior = BoundGemm(problem, p, Gemm::kW13, FromHalfMatrix<double>(input),
                                      nullptr, c.w13, numerics);
      const Bounded posterior = BoundGemmPosterior(problem, p, Gemm::kW13, input, c.w13, numerics);
      const HalfMatrix got = PredictGemm(problem, p, Gemm::kW13, input, c.w13, numerics);
      EXPECT_TRUE(posterior.value.isApprox(prior.value, 1e-12));
      EXPECT_EQ(BudgetUse(got, posterior).outside, 0);
      EXPECT_LE(posterior.budget.norm(), prior.budget.norm() * (1 + 1e-9));
    }
  }
}

TEST(Budget, UncertainInputsWidenItByTheirShare) {
  const Case c = StageCase();
  const Problem problem = RandomProblem(c, {}, 24);
  const Permutation p = Permute(problem);
  const auto input = PermutedInput<double>(problem, p);
  const Matrix<double> d = Matrix<double>::Constant(input.rows(), input.cols(), 0.01);
  for (const auto order : {AccumulationOrder::kDeclared, AccumulationOrder::kUndeclared}) {
    const Bounded without =
        BoundGemm(problem, p, Gemm::kW13, input, nullptr, c.w13, Numerics::kV100, order);
    const Bounded with =
        BoundGemm(problem, p, Gemm::kW13, input, &d, c.w13, Numerics::kV100, order);
    const Matrix<double> share = AbsoluteGemm(problem, p, Gemm::kW13, d, 0);
    EXPECT_TRUE((with.budget.array() >= share.array()).all());
    EXPECT_TRUE((with.budget.array() <= 1.01 * (share.array() + 2 * without.budget.array())).all());
  }
}

Bounded Silu(double gate, double up, double gate_budget = 0, double up_budget = 0) {
  Matrix<double> w13(1, 2);
  Matrix<double> budget(1, 2);
  w13 << gate, up;
  budget << gate_budget, up_budget;
  return BoundSilu(w13, &budget);
}

// Every gate with ups of several sizes: both ends of what expf may give must be inside.
TEST(Budget, SiluAdmitsWhatTheExpBoundLeavesOpen) {
  for (std::uint32_t gate = 0; gate < 0x10000; gate += 3) {
    for (const arith::HalfBits up : {0x3C00, 0xBE37, 0x0001, 0x7BFF, 0x7C00, 0xFE00}) {
      const auto g = static_cast<arith::HalfBits>(gate);
      const Bounded bound = Silu(arith::HalfToFloat(g), arith::HalfToFloat(up));
      const HalfMatrix predicted = PredictSilu({1, 2, {g, up}});
      ASSERT_EQ(BudgetUse(predicted, bound).outside, 0) << gate << ' ' << up;
      const auto allowed = [&](int step) {
        const auto other = static_cast<arith::HalfBits>(predicted.bits[0] + step);
        return !SiluAllows(g, up, other) || BudgetUse({1, 1, {other}}, bound).outside == 0;
      };
      ASSERT_TRUE(allowed(1) && allowed(-1)) << gate << ' ' << up;
    }
  }
}

RC_GTEST_PROP(BudgetProperty, SiluHoldsForInputsInsideTheirs, ()) {
  const double gate = *rc::gen::inRange(-20000, 20001) * 1e-3;
  const double up = *rc::gen::inRange(-9000, 9001) * 1e-3;
  const double gate_budget = *rc::gen::inRange(0, 1000) * 1e-4;
  const double up_budget = *rc::gen::inRange(0, 1000) * 1e-4;
  const Bounded bound = Silu(gate, up, gate_budget, up_budget);
  for (const double dg : {-1.0, -0.5, 0.0, 1.0}) {
    for (const double du : {-1.0, 0.0, 1.0}) {
      const auto g = arith::DoubleToHalf(gate + dg * gate_budget * 0.99);
      const auto u = arith::DoubleToHalf(up + du * up_budget * 0.99);
      if (std::fabs(arith::HalfToFloat(g) - gate) <= gate_budget &&
          std::fabs(arith::HalfToFloat(u) - up) <= up_budget) {
        RC_ASSERT(BudgetUse(PredictSilu({1, 2, {g, u}}), bound).outside == 0);
      }
    }
  }
}

TEST(Budget, OverflowOfHalfIsSaid) {
  // 60000 * 1.2 overflows for certain; with an uncertainty of 10000 it may not.
  Problem problem;
  problem.c.shape = {.hidden = 8, .intermediate = 32, .experts = 1, .top_k = 1, .tokens = 1};
  problem.topk_ids = {0};
  problem.topk_weights = {1.2F};
  const Permutation p = Permute(problem);
  Matrix<double> y(1, 3);
  Matrix<double> d(1, 3);
  y << 60000, 60000, 50000;
  d << 0, 10000, 10000;
  const Bounded bound = BoundReduce(problem, p, y, &d);
  EXPECT_EQ(bound.value(0, 0), kInfinity);
  EXPECT_EQ(bound.budget(0, 0), 0);
  EXPECT_NEAR(bound.value(0, 1), 72000, 1);
  EXPECT_GT(bound.value(0, 1) + bound.budget(0, 1), kHalfOverflow);
  EXPECT_GT(bound.value(0, 2) + bound.budget(0, 2), kHalfOverflow);
  // The next stage cannot know what it gets.
  EXPECT_EQ(BoundReduce(problem, p, bound.value, &bound.budget).budget(0, 1), kInfinity);
}

TEST(Budget, WhatIsNotFiniteIsSaid) {
  Case c = StageCase();
  Problem problem = RandomProblem(c, {}, 25);
  problem.hidden[5] = 0x7C00;                                         // token 0: Inf
  problem.hidden[static_cast<std::size_t>(c.shape.hidden)] = 0x7E00;  // token 1: NaN
  const Permutation p = Permute(problem);
  for (const auto order : {AccumulationOrder::kDeclared, AccumulationOrder::kUndeclared}) {
    const auto input = PermutedInput<double>(problem, p);
    const Bounded bound =
        BoundGemm(problem, p, Gemm::kW13, input, nullptr, c.w13, c.numerics, order);
    for (int slot = 0; slot < 2 * c.shape.top_k; ++slot) {
      const int row = p.inverse[static_cast<std::size_t>(slot)];
      EXPECT_FALSE(bound.value.row(row).array().isFinite().any());
      EXPECT_TRUE(bound.budget.row(row).isZero(0));
    }
    EXPECT_EQ(JudgeModel(problem, order).outside(), 0);
    Matrix<double> unknown = Matrix<double>::Zero(input.rows(), input.cols());
    unknown(p.inverse[static_cast<std::size_t>(3 * c.shape.top_k)], 0) = kInfinity;
    const Bounded open =
        BoundGemm(problem, p, Gemm::kW13, input, &unknown, c.w13, c.numerics, order);
    const int row = p.inverse[static_cast<std::size_t>(3 * c.shape.top_k)];
    EXPECT_TRUE((open.budget.row(row).array() == kInfinity).all());
  }
}

TEST(Budget, SkippedSlotsAreExactlyZero) {
  Problem problem = RandomProblem(StageCase(), {}, 26);
  problem.topk_ids[2] = 77;
  const Permutation p = Permute(problem);
  const BoundedStage stage = BoundStage(problem, p);
  EXPECT_TRUE(stage.w13.budget.bottomRows(1).isZero(0));
  EXPECT_TRUE(stage.w2.budget.bottomRows(1).isZero(0));
  EXPECT_EQ(JudgeModel(problem, AccumulationOrder::kDeclared).outside(), 0);
}

TEST(Budget, RefusesATacticThatCannotRun) {
  const Problem problem = RandomProblem(StageCase(), {}, 27);
  const Permutation p = Permute(problem);
  const Matrix<double> a = PermutedInput<double>(problem, p);
  EXPECT_THROW(BoundGemm(problem, p, Gemm::kW13, a, nullptr, {{8, 128, 64}, 16}, Numerics::kV100),
               Error);
}

}  // namespace
}  // namespace voltcheck::reference
