// Searching for the head, the output and the budgets that bring the logits' bound nearest to what
// an output inside its budget can do: no input may pass it, and the worst one found says how loose
// it is.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "reference/logits.h"
#include "reference/rounding.h"
#include "test_problem.h"

namespace voltcheck::reference {
namespace {

constexpr int kHidden = 32;

struct Attack {
  Problem p;  // residual 0, gains 1, one row of a head
  Bounded output;
};

Attack RandomAttack(std::mt19937_64& random) {
  Attack attack;
  attack.p.c.shape = {.hidden = kHidden, .tokens = 1};
  auto head = std::make_shared<LogitsHead>();
  head->residual.assign(kHidden, 0);
  head->norm.assign(kHidden, 0x3c00);
  head->head = RandomHalves(kHidden, 1, false, random);
  head->token_ids.assign(1, 0);
  attack.p.head = head;
  std::normal_distribution<double> normal;
  attack.output = {Matrix<double>(1, kHidden), Matrix<double>(1, kHidden)};
  for (int i = 0; i < kHidden; ++i) {
    attack.output.value(0, i) = normal(random);
    attack.output.budget(0, i) = 0.01 * std::fabs(normal(random));
  }
  return attack;
}

// Changes one channel: its weight, its output or its budget.
Attack Changed(const Attack& attack, std::mt19937_64& random) {
  Attack next = attack;
  const auto i = static_cast<Eigen::Index>(random() % kHidden);
  const double factor = std::exp2(std::normal_distribution<double>(0, 2)(random));
  switch (random() % 4) {
    case 0: {
      auto head = std::make_shared<LogitsHead>(*attack.p.head);
      head->head[static_cast<std::size_t>(i)] = RandomHalves(1, factor, false, random)[0];
      next.p.head = head;
      break;
    }
    case 1:
      next.output.value(0, i) *= -factor;
      break;
    case 2:
      next.output.value(0, i) *= factor;
      break;
    default:
      next.output.budget(0, i) = std::min(next.output.budget(0, i) * factor, 1.0);
  }
  return next;
}

// The largest share of the bound that a move to a corner of the budget's box takes, of corners
// that are climbed to one sign at a time.
double Share(const Attack& attack, Eigen::Array<double, 1, kHidden>& signs) {
  const Bounded bound = BoundLogits(attack.p, attack.output);
  if (!std::isfinite(bound.budget(0, 0))) {
    return 0;
  }
  const auto share = [&] {
    const Matrix<double> moved =
        (attack.output.value.array() + signs * attack.output.budget.array()).matrix();
    return std::fabs(Logits<double>(attack.p, moved)(0, 0) - bound.value(0, 0)) /
           bound.budget(0, 0);
  };
  double best = share();
  for (int i = 0; i < kHidden; ++i) {
    signs(i) = -signs(i);
    const double flipped = share();
    if (flipped > best) {
      best = flipped;
    } else {
      signs(i) = -signs(i);
    }
  }
  return best;
}

TEST(LogitsAdversary, ComesNearTheBoundAndNeverPassesIt) {
  double nearest = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    std::mt19937_64 random(seed);
    Attack attack = RandomAttack(random);
    Eigen::Array<double, 1, kHidden> signs = Eigen::Array<double, 1, kHidden>::Ones();
    double best = Share(attack, signs);
    for (int step = 0; step < 3000; ++step) {
      const Attack next = Changed(attack, random);
      Eigen::Array<double, 1, kHidden> next_signs = signs;
      const double share = Share(next, next_signs);
      ASSERT_LE(share, 1) << "seed " << seed << ", step " << step;
      if (share >= best) {
        best = share;
        attack = next;
        signs = next_signs;
      }
    }
    std::printf("seed %u: %.4f of the logits' bound\n", static_cast<unsigned>(seed), best);
    nearest = std::max(nearest, best);
  }
  EXPECT_GE(nearest, 0.8);
}

}  // namespace
}  // namespace voltcheck::reference
