// Dealing cases out: to shards, to workers, and to a few probes that stand for all.
#include "verify/scale/shards.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "deal_simulation.h"
#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "verify/scale/cost_model.h"
#include "verify/scale/dealer.h"

namespace voltcheck::verify {
namespace {

std::vector<std::uint64_t> AnyCosts() {
  const auto count = *rc::gen::inRange<std::size_t>(1, 300);
  return *rc::gen::container<std::vector<std::uint64_t>>(
      count, rc::gen::inRange<std::uint64_t>(1, 1'000'000));
}

RC_GTEST_PROP(Shards, EveryCaseIsInOneShardAndNoneIsOverloaded, ()) {
  const std::vector<std::uint64_t> costs = AnyCosts();
  const auto of = *rc::gen::inRange<std::uint64_t>(1, 12);
  const std::uint64_t total = std::accumulate(costs.begin(), costs.end(), std::uint64_t{0});
  const std::uint64_t largest = *std::max_element(costs.begin(), costs.end());
  std::set<std::size_t> seen;
  for (std::uint64_t number = 1; number <= of; ++number) {
    const std::vector<std::size_t> mine = CasesOfShard(costs, {number, of});
    RC_ASSERT(mine == CasesOfShard(costs, {number, of}));
    std::uint64_t load = 0;
    for (const std::size_t index : mine) {
      RC_ASSERT(seen.insert(index).second);
      load += costs[index];
    }
    RC_ASSERT(load <= total / of + largest);
    RC_ASSERT(std::is_sorted(mine.begin(), mine.end(), [&](std::size_t a, std::size_t b) {
      return costs[a] > costs[b] || (costs[a] == costs[b] && a < b);
    }));
  }
  RC_ASSERT(seen.size() == costs.size());
}

RC_GTEST_PROP(Families, StayTogetherAmongCasesThatCostAsMuch, ()) {
  const std::vector<std::uint64_t> costs = AnyCosts();
  const std::vector<std::size_t> order = CostliestFirst(costs);
  const auto family = *rc::gen::container<std::vector<std::size_t>>(
      costs.size(), rc::gen::inRange<std::size_t>(0, 100));
  const std::vector<std::size_t> together = FamiliesTogether(order, costs, family);
  RC_ASSERT(std::set<std::size_t>(together.begin(), together.end()).size() == order.size());
  RC_ASSERT(together.size() == order.size());
  for (std::size_t i = 1; i < together.size(); ++i) {
    RC_ASSERT(costs[together[i - 1]] * 2 > costs[together[i]]);
  }
}

TEST(Families, ComeWindowByWindow) {
  // 40 families of three cases that cost 4 to 6, listed as a grid lists them; one case of 9.
  std::vector<std::uint64_t> costs;
  std::vector<std::size_t> family;
  for (std::size_t member = 0; member < 3; ++member) {
    for (std::size_t f = 0; f < 40; ++f) {
      costs.push_back(6 - member);
      family.push_back(f);
    }
  }
  costs.push_back(9);
  family.push_back(7);
  const std::vector<std::size_t> together = FamiliesTogether(CostliestFirst(costs), costs, family);
  std::vector<std::size_t> want = {120};
  for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{0, 32}, {32, 40}}) {
    for (std::size_t member = 0; member < 3; ++member) {
      for (std::size_t f = begin; f < end; ++f) {
        want.push_back(40 * member + f);
      }
    }
  }
  EXPECT_EQ(together, want);
}

TEST(Shards, AreWrittenAsParts) {
  EXPECT_EQ(ParseShard("--shard", "2/4"), (Shard{2, 4}));
  EXPECT_EQ(ToString(Shard{2, 4}), "2/4");
  EXPECT_TRUE(ParseShard("--shard", "1/1").whole());
  for (const char* text : {"", "2", "0/4", "5/4", "1/0", "a/4", "1/4x", "-1/4", "1/1000001"}) {
    EXPECT_THROW(ParseShard("--shard", text), Error) << text;
  }
}

// Workers ask at random, and some are lost with what they hold: every case is finished once.
RC_GTEST_PROP(Dealer, EveryCaseIsFinishedWhateverIsLost, ()) {
  const std::vector<std::uint64_t> costs = AnyCosts();
  const auto workers = *rc::gen::inRange<std::size_t>(1, 9);
  Dealer dealer(CostliestFirst(costs), costs, workers);
  std::vector<std::vector<std::uint64_t>> held(workers);
  std::vector<int> finished(costs.size(), 0);
  // One draw seeds all that happens: RapidCheck keeps every value it draws.
  std::mt19937 random(*rc::gen::noShrink(rc::gen::arbitrary<std::uint32_t>()));
  for (int step = 0; !dealer.AllFinished(); ++step) {
    RC_ASSERT(step < 1000000);
    const std::size_t worker = random() % workers;
    if (random() % 10 == 0) {
      dealer.Lost(worker);
      // Half of the lost ones were only slow: their cases may still be told as finished.
      if (random() % 2 == 0) {
        held[worker].clear();
      }
    } else if (held[worker].empty()) {
      held[worker] = dealer.Deal(worker);
    } else {
      const std::uint64_t number = held[worker].back();
      held[worker].pop_back();
      finished[number] += dealer.Finished(worker, number) ? 1 : 0;
    }
  }
  RC_ASSERT(std::all_of(finished.begin(), finished.end(), [](int n) { return n == 1; }));
  RC_ASSERT(dealer.finished() == costs.size());
}

TEST(Dealer, ChunksBecomeSmallerTowardsTheEnd) {
  const std::vector<std::uint64_t> costs(1000, 10);
  Dealer dealer(CostliestFirst(costs), costs, 2);
  EXPECT_EQ(dealer.Deal(0).size(), 125U);  // an eighth
  std::size_t last = 125;
  for (std::size_t size = dealer.Deal(1).size(); size > 0; size = dealer.Deal(1).size()) {
    EXPECT_LE(size, last);
    last = size;
  }
  EXPECT_EQ(last, 1U);
}

// Each case is drawn as often as its share of the cost says, in any beginning of the list, but for
// the unevenness of the sequence.
RC_GTEST_PROP(Probes, AreSpreadOverTheCost, ()) {
  const std::vector<std::uint64_t> costs = AnyCosts();
  const auto count = *rc::gen::inRange<std::size_t>(1, 400);
  const std::vector<std::size_t> probes = ChooseProbes(costs, count);
  RC_ASSERT(probes.size() == count);
  const double total = std::accumulate(costs.begin(), costs.end(), 0.0);
  std::vector<std::size_t> drawn(costs.size(), 0);
  for (const std::size_t probe : probes) {
    ++drawn.at(probe);
  }
  const double unevenness = 2 * (1 + std::log2(static_cast<double>(count) + 1));
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const double expected = static_cast<double>(costs[i]) / total * static_cast<double>(count);
    RC_ASSERT(std::abs(static_cast<double>(drawn[i]) - expected) <= unevenness);
  }
}

// What the model does not know of some cases does not move the mean of all.
TEST(Probes, ForeseeCasesThatTheModelMisjudges) {
  std::mt19937 random(3);
  std::vector<std::uint64_t> costs;
  std::vector<double> seconds;
  for (int i = 0; i < 3000; ++i) {
    costs.push_back(1000 + random() % 1'000'000);
    const double wrong = costs.back() % 3 == 0 ? 3 : 0.7;  // a third takes four times as long
    seconds.push_back(1e-6 * static_cast<double>(costs.back()) * wrong);
  }
  double mean = 0;
  const std::vector<std::size_t> probes = ChooseProbes(costs, 128);
  for (const std::size_t probe : probes) {
    mean += seconds[probe] / static_cast<double>(costs[probe]) / static_cast<double>(probes.size());
  }
  const double foreseen = mean * std::accumulate(costs.begin(), costs.end(), 0.0);
  const double taken = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  EXPECT_NEAR(foreseen / taken, 1, 0.15);
}

TEST(Dealer, AThousandRanksAreNearlyAlwaysBusy) {
  DealSimulation simulation;
  simulation.ranks = 1000;
  simulation.cases = 200'000;
  const DealOutcome outcome = Simulate(simulation);
  EXPECT_LT(outcome.idle, 0.05);
  EXPECT_GT(outcome.idle, 0);
  EXPECT_LT(outcome.busy_leader, 0.5);
}

TEST(CostModel, MoreWorkCostsMore) {
  const auto cost = [](const char* text) { return PredictedCost(ParseDescriptor(text)); };
  EXPECT_LT(cost("t=1"), cost("t=64"));
  EXPECT_LT(cost("h=256"), cost("h=1024"));
  EXPECT_LT(cost("t=64,routing=one:0"), cost("t=64"));
  EXPECT_LT(cost("t=8"), cost("t=8,head=4096"));
  EXPECT_LT(cost("t=8,stage=w13"), cost("t=8"));
  // A launch for each segment, with room for all rows: most of its blocks have nothing to do.
  EXPECT_LT(5 * cost("t=128,path=offset"), cost("t=128,path=segment"));
}

}  // namespace
}  // namespace voltcheck::verify
