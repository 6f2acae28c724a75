// Searching for inputs that come near each budget: coordinate ascent over the bits of activations,
// weights, zero points, scales and router weights of a small stage. No input may exceed a budget,
// and the worst one found must use at least a tenth of it, or the bound is too loose to be worth
// its name.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "reference/arith/half.h"
#include "reference/budget.h"
#include "reference/logits.h"
#include "reference/order_model.h"
#include "reference/rounding.h"
#include "test_problem.h"

namespace voltcheck::reference {
namespace {

constexpr double kLoosest = 0.1;

// The largest use of each budget by the order-faithful model, which is a correct kernel.
struct Uses {
  double w13 = 0, w13_posterior = 0, silu = 0, w2 = 0, w2_posterior = 0, output = 0;
  double end_to_end = 0;  // of the output
  double logits = 0;      // of the logits that follow from it
};

double LargestUse(const Matrix<double>& got, const Bounded& bound, Eigen::Index rows) {
  double largest = 0;
  for (Eigen::Index i = 0; i < rows * got.cols(); ++i) {
    const double value = bound.value.data()[i];
    const double budget = bound.budget.data()[i];
    const double distance = std::fabs(got.data()[i] - value);
    if (!std::isfinite(value) || !std::isfinite(got.data()[i]) || distance == 0) {
      continue;  // overflow has rules of its own, which the comparison's tests hold
    }
    largest =
        std::max(largest, budget > 0 ? distance / budget : std::numeric_limits<double>::infinity());
  }
  return largest;
}

Uses Evaluate(const Problem& p) {
  const Permutation permutation = Permute(p);
  const Case& c = p.c;
  const HalfMatrix input = ToHalfMatrix(PermutedInput<double>(p, permutation));
  const HalfMatrix w13 = PredictGemm(p, permutation, Gemm::kW13, input, c.w13, c.numerics);
  const HalfMatrix silu = PredictSilu(w13);
  const HalfMatrix w2 = PredictGemm(p, permutation, Gemm::kW2, silu, c.w2, c.numerics);
  const HalfMatrix output = PredictReduce(p, permutation, w2);
  const auto exact = [](const HalfMatrix& m) { return FromHalfMatrix<double>(m); };
  const Eigen::Index rows = permutation.rows;
  const auto gemm = [&](Gemm which, const HalfMatrix& a, const Tactic& tactic,
                        const HalfMatrix& got, double& prior, double& posterior) {
    prior = LargestUse(
        exact(got), BoundGemm(p, permutation, which, exact(a), nullptr, tactic, c.numerics), rows);
    posterior = LargestUse(exact(got),
                           BoundGemmPosterior(p, permutation, which, a, tactic, c.numerics), rows);
  };
  Uses uses;
  gemm(Gemm::kW13, input, c.w13, w13, uses.w13, uses.w13_posterior);
  uses.silu = LargestUse(exact(silu), BoundSilu(exact(w13), nullptr), rows);
  gemm(Gemm::kW2, silu, c.w2, w2, uses.w2, uses.w2_posterior);
  uses.output =
      LargestUse(exact(output), BoundReduce(p, permutation, exact(w2), nullptr), c.shape.tokens);
  const BoundedStage stage = BoundStage(p, permutation);
  uses.end_to_end = LargestUse(exact(output), stage.output, c.shape.tokens);
  if (p.head != nullptr) {
    const Matrix<double> logits = Logits<float>(p, FromHalfMatrix<float>(output)).cast<double>();
    uses.logits = LargestUse(logits, BoundLogits(p, stage.output), c.shape.tokens);
  }
  return uses;
}

// Changes one coordinate of the problem at random. Signs, exponents and fractions all move.
void Mutate(Problem& p, std::mt19937_64& random) {
  auto expert = std::make_shared<ExpertWeights>(*p.experts[0]);
  AwqMatrix& m = random() % 2 == 0 ? expert->w13 : expert->w2;
  const auto flip_half = [&](std::vector<std::uint16_t>& halves) {
    std::uint16_t& h = halves[random() % halves.size()];
    h = static_cast<std::uint16_t>(h ^ (1U << random() % 16));
    if ((h & 0x7C00) > 0x4C00) {  // keep clear of overflow
      h = static_cast<std::uint16_t>(h & 0xBFFF);
    }
  };
  switch (random() % 6) {
    case 0:
    case 1:
      flip_half(p.hidden);
      break;
    case 2:
      m.qweight[random() % m.qweight.size()] ^= 1U << random() % 32;
      break;
    case 3:
      m.qzeros[random() % m.qzeros.size()] ^= 1U << random() % 32;
      break;
    case 4: {
      std::uint16_t& s = m.scales[random() % m.scales.size()];
      s = static_cast<std::uint16_t>((s ^ (1U << random() % 10)) & 0x7FFF);
      break;
    }
    default: {
      float& w = p.topk_weights[random() % p.topk_weights.size()];
      w = std::bit_cast<float>(std::bit_cast<std::uint32_t>(w) ^ (1U << random() % 23));
    }
  }
  p.experts[0] = std::move(expert);
}

Problem SmallStage(Numerics numerics, std::uint64_t seed) {
  Case c;
  c.shape = {.hidden = 64, .intermediate = 32, .experts = 1, .top_k = 1, .group = 32, .tokens = 1};
  c.shape.top_k = 1;
  c.numerics = numerics;
  c.w13 = {{16, 128, 32}, 2};
  c.w2 = {{16, 128, 32}, 1};
  Problem p = RandomProblem(c, {}, seed);
  std::mt19937_64 random(seed);
  auto head = std::make_shared<LogitsHead>();
  head->residual = RandomHalves(64, 1, false, random);
  head->norm = RandomHalves(64, 1, true, random);
  head->head = RandomHalves(std::size_t{9} * 64, 0.25, false, random);
  head->token_ids.assign(9, 0);
  p.head = head;
  return p;
}

struct Target {
  const char* name;
  double Uses::*use;
};
constexpr Target kTargets[] = {{"w13", &Uses::w13},
                               {"w13_posterior", &Uses::w13_posterior},
                               {"silu", &Uses::silu},
                               {"w2", &Uses::w2},
                               {"w2_posterior", &Uses::w2_posterior},
                               {"output", &Uses::output},
                               {"end_to_end", &Uses::end_to_end},
                               {"logits", &Uses::logits}};

class BudgetAdversary : public testing::TestWithParam<Target> {};

TEST_P(BudgetAdversary, NeverExceedsTheBoundAndComesNearIt) {
  constexpr int kStarts = 3;
  constexpr int kTrials = 250;
  const Target target = GetParam();
  for (const Numerics numerics : {Numerics::kV100, Numerics::kSm80Software}) {
    double best = 0;
    for (int start = 0; start < kStarts; ++start) {
      std::mt19937_64 random(static_cast<std::uint64_t>(100 + start));
      Problem p = SmallStage(numerics, static_cast<std::uint64_t>(start));
      double use = Evaluate(p).*target.use;
      for (int trial = 0; trial < kTrials; ++trial) {
        Problem changed = p;
        Mutate(changed, random);
        const Uses uses = Evaluate(changed);
        for (const Target& each : kTargets) {
          ASSERT_LE(uses.*each.use, 1) << each.name;
        }
        if (uses.*target.use >= use) {
          use = uses.*target.use;
          p = std::move(changed);
        }
      }
      best = std::max(best, use);
    }
    RecordProperty(numerics == Numerics::kV100 ? "v100" : "sm80_software", std::to_string(best));
    std::printf("%s, numerics %d: largest budget use found %.3f\n", target.name,
                static_cast<int>(numerics), best);
    EXPECT_GT(best, kLoosest) << target.name;
  }
}

// All but the logits: their bound adds up what every channel may contribute, which no search over
// bits lines up. logits_test.cpp moves the outputs inside their budgets in the worst direction
// instead.
INSTANTIATE_TEST_SUITE_P(Stages, BudgetAdversary,
                         testing::ValuesIn(std::begin(kTargets), std::end(kTargets) - 1),
                         [](const auto& target) { return std::string(target.param.name); });

// SiLU has two inputs, few enough to try every finite gate.
TEST(BudgetAdversarySilu, EveryGateStaysBelowTheBound) {
  double best = 0;
  for (const std::uint16_t up : {0x3C00, 0x3C01, 0x3FFF, 0x0001, 0x5BFF, 0xBC55}) {
    HalfMatrix w13{1, 2 * 65536, {}};
    for (std::uint32_t gate = 0; gate < 65536; ++gate) {
      const bool finite = (gate & 0x7C00) != 0x7C00;
      w13.bits.push_back(finite ? static_cast<std::uint16_t>(gate) : std::uint16_t{0});
    }
    w13.bits.resize(2 * 65536, up);
    const Matrix<double> got = FromHalfMatrix<double>(PredictSilu(w13));
    best = std::max(best, LargestUse(got, BoundSilu(FromHalfMatrix<double>(w13), nullptr), 1));
    ASSERT_LE(best, 1) << up;
  }
  std::printf("silu, every gate: largest budget use %.4f\n", best);
  EXPECT_GT(best, 0.9);
}

}  // namespace
}  // namespace voltcheck::reference
