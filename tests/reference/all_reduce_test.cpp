// The orders of all-reduce sums, and what they change.
#include "reference/all_reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "fixtures/generate.h"
#include "reference/arith/half.h"
#include "reference/stage.h"

namespace voltcheck::reference {
namespace {

std::string TextOf(const std::vector<SumOrder>& orders, const std::string& name) {
  for (const SumOrder& order : orders) {
    if (("; " + order.name + ";").find("; " + name + ";") != std::string::npos) {
      return order.Text();
    }
  }
  return "no " + name;
}

TEST(AllReduceOrders, OfFourRanks) {
  const std::vector<SumOrder> orders = AllReduceOrders(4);
  EXPECT_EQ(TextOf(orders, "ring, chunk 0"), "((r2+r1)+r3)+r0");
  EXPECT_EQ(TextOf(orders, "ring, chunk 3"), "((r1+r0)+r2)+r3");
  EXPECT_EQ(TextOf(orders, "recursive halving"), "(r0+r2)+(r1+r3)");
  // Rank 2 is the root's child and has the children 1 and 3; mirrored for the second tree.
  EXPECT_EQ(TextOf(orders, "tree, first half"), "((r2+r1)+r3)+r0");
  EXPECT_EQ(TextOf(orders, "tree, second half"), "((r1+r2)+r0)+r3");
  EXPECT_NE(TextOf(orders, "tree inside a node").find("r0"), std::string::npos);
}

TEST(AllReduceOrders, EveryRankOnce) {
  for (int ranks = 2; ranks <= 17; ++ranks) {
    std::set<std::string> names;
    for (const SumOrder& order : AllReduceOrders(ranks)) {
      // A rank that was added somewhere must not be added again, and all end in the root.
      std::set<int> added;
      for (const auto& [to, from] : order.adds) {
        EXPECT_TRUE(added.insert(from).second) << order.name << " of " << ranks;
        EXPECT_FALSE(added.contains(to)) << order.name << " of " << ranks;
      }
      EXPECT_EQ(added.size(), static_cast<std::size_t>(ranks) - 1) << order.name;
      EXPECT_FALSE(added.contains(order.root));
      EXPECT_TRUE(names.insert(order.name).second);
    }
  }
  EXPECT_THROW(AllReduceOrders(1), Error);
}

TEST(OrderSpread, KnownSumsOfFourHalves) {
  // 2048 + 1 is a tie in half and goes to 2048: only orders that add the ones first see them.
  const std::vector<float> big{2048};
  const std::vector<float> one{1};
  const std::vector<std::span<const float>> ranks{big, one, one, one};
  const OrderSpread half = SpreadOfOrders(ranks, SumType::kHalf);
  EXPECT_EQ(half.differing, 1U);
  EXPECT_EQ(half.max_element, 0);
  EXPECT_GT(half.max, 0);
  const OrderSpread wide = SpreadOfOrders(ranks, SumType::kFloat);
  EXPECT_EQ(wide.differing, 0U) << "fp32 holds all of these sums";
  for (const OrderSpread::Order& order : wide.orders) {
    EXPECT_EQ(order.max_error, 0);
  }
}

TEST(OrderSpread, HalfSumsAreRoundedAtEveryStep) {
  std::mt19937_64 random(3);
  std::vector<std::vector<float>> values(4, std::vector<float>(200));
  for (auto& rank : values) {
    for (float& x : rank) {
      x = arith::HalfToFloat(static_cast<arith::HalfBits>(random() & 0xBBFF));
    }
  }
  const std::vector<std::span<const float>> ranks(values.begin(), values.end());
  for (const SumOrder& order : AllReduceOrders(4)) {
    const std::vector<float> sums = SumRanks(order, ranks, SumType::kHalf);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      std::vector<arith::HalfBits> h;
      for (const auto& rank : values) {
        h.push_back(arith::FloatToHalf(rank[i]));
      }
      for (const auto& [to, from] : order.adds) {
        h[static_cast<std::size_t>(to)] =
            arith::HalfAdd(h[static_cast<std::size_t>(to)], h[static_cast<std::size_t>(from)]);
      }
      EXPECT_EQ(sums[i], arith::HalfToFloat(h[static_cast<std::size_t>(order.root)]));
    }
  }
}

TEST(OrderSpread, WhatIsNotFiniteIsCounted) {
  const std::vector<float> a{60000, 1};
  const std::vector<float> b{60000, 1};
  const std::vector<std::span<const float>> ranks{a, b};
  const OrderSpread half = SpreadOfOrders(ranks, SumType::kHalf);
  EXPECT_EQ(half.nonfinite, 1U);
  EXPECT_EQ(half.max, 0);
  EXPECT_EQ(SpreadOfOrders(ranks, SumType::kFloat).nonfinite, 0U);
}

TEST(Shard, TheRanksAddUpToTheCase) {
  const Case c = ParseDescriptor("h=64,i=128,e=4,k=2,g=32,t=3,data=normal,seed=5");
  const Problem whole = fixtures::Generate(c);
  const StageOptions exact{WeightKind::kContract, Rounding::kNone};
  const Matrix<double> want = RunStage<double>(whole, Permute(whole), exact).output;
  Matrix<double> sum = Matrix<double>::Zero(want.rows(), want.cols());
  for (int rank = 0; rank < 4; ++rank) {
    const Problem shard = ShardOf(whole, rank, 4);
    EXPECT_EQ(shard.c.shape.intermediate, 32);
    sum += RunStage<double>(shard, Permute(shard), exact).output;
  }
  EXPECT_LT((sum - want).cwiseAbs().maxCoeff(), 1e-12 * want.cwiseAbs().maxCoeff());
  EXPECT_THROW(ShardOf(whole, 0, 3), Error);
  EXPECT_THROW(ShardOf(whole, 0, 8), Error) << "sixteen rows are half a group";
}

}  // namespace
}  // namespace voltcheck::reference
