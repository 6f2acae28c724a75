#include "reference/routing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "fixtures/case/error.h"
#include "reference/exponential.h"
#include "test_problem.h"

namespace voltcheck::reference {
namespace {

using Ids = std::vector<std::int32_t>;

TEST(Exponential, IsWithinOneUlp) {
  for (int i = -70000; i <= 70000; ++i) {
    const double x = i * 0.0101;
    const double want = std::exp(x);
    if (want > 0x1p-1021 && std::isfinite(want)) {
      ASSERT_LE(std::fabs(Exp(x) - want), 0x1p-52 * want) << x;
    }
  }
  EXPECT_EQ(Exp(0), 1);
  EXPECT_EQ(Exp(-std::numeric_limits<double>::infinity()), 0);
  EXPECT_EQ(Exp(std::numeric_limits<double>::infinity()), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Exp(800), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(Exp(std::nan(""))));
}

TEST(SoftmaxTopK, TiesGoToTheLowerIndex) {
  const std::vector<float> logits{1, 3, 3, 3, 0, /**/ 2, 2, 2, 2, 2};
  const TopK selected = SoftmaxTopK(logits, 2, 5, 2);
  EXPECT_EQ(selected.ids, (Ids{1, 2, 0, 1}));
  for (const float w : selected.weights) {
    EXPECT_FLOAT_EQ(w, 0.5F);
  }
}

TEST(SoftmaxTopK, WeightsAreRenormalisedOverTheSelected) {
  const std::vector<float> logits{0, std::log(2.0F), std::log(6.0F)};
  const TopK selected = SoftmaxTopK(logits, 1, 3, 2);
  EXPECT_EQ(selected.ids, (Ids{2, 1}));
  EXPECT_NEAR(selected.weights[0], 0.75, 1e-6);
  EXPECT_NEAR(selected.weights[1], 0.25, 1e-6);
}

TEST(SoftmaxTopK, SumThatIsNotPositiveDividesByOne) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const TopK selected = SoftmaxTopK(std::vector<float>{1, nan, 2}, 1, 3, 2);
  EXPECT_EQ(selected.ids, (Ids{0, 1}));  // every probability is NaN: the lower indices
  EXPECT_TRUE(std::isnan(selected.weights[0]));
}

TEST(SoftmaxTopK, RefusesMoreThanThereAre) {
  EXPECT_THROW(SoftmaxTopK(std::vector<float>{1, 2}, 1, 2, 3), Error);
}

Problem Routed(const Ids& ids, int experts, int top_k, const Ids& order = {}) {
  Problem p;
  p.c.shape.experts = experts;
  p.c.shape.top_k = top_k;
  p.c.shape.tokens = static_cast<int>(ids.size()) / top_k;
  p.c.layout = order.empty() ? SlotLayout::kSorted : SlotLayout::kShuffled;
  p.topk_ids = ids;
  p.slot_order = order;
  return p;
}

TEST(Permute, SortsStablyByExpert) {
  const Permutation p = Permute(Routed({2, 0, /**/ 1, 2, /**/ 2, 0}, 4, 2));
  EXPECT_EQ(p.source, (Ids{1, 5, 2, 0, 3, 4}));
  EXPECT_EQ(p.expert, (Ids{0, 0, 1, 2, 2, 2}));
  EXPECT_EQ(p.inverse, (Ids{3, 0, 2, 4, 5, 1}));
  EXPECT_EQ(p.active, 3);
  EXPECT_EQ(p.rows, 6);
  EXPECT_EQ(p.offsets, (Ids{0, 2, 3, 6, 6, 6, 6}));
  EXPECT_EQ(p.segment_expert, (Ids{0, 1, 2, 0, 0, 0}));
}

TEST(Permute, OneExpertMayOwnSeveralRuns) {
  const Permutation p = Permute(Routed({1, 0, /**/ 1, 1}, 2, 2, {0, 1, 3, 2}));
  EXPECT_EQ(p.source, (Ids{0, 1, 3, 2}));
  EXPECT_EQ(p.expert, (Ids{1, 0, 1, 1}));
  EXPECT_EQ(p.active, 3);
  EXPECT_EQ(p.offsets, (Ids{0, 1, 2, 4, 4}));
  EXPECT_EQ(p.segment_expert, (Ids{1, 0, 1, 0}));
}

TEST(Permute, IdsOutOfRangeLieBehindTheComputedRowsInTokenOrder) {
  const std::int32_t huge = std::numeric_limits<std::int32_t>::max();
  const Permutation p = Permute(Routed({huge, 3, /**/ -1, 0, /**/ 4, 3}, 4, 2));
  EXPECT_EQ(p.rows, 3);
  EXPECT_EQ(p.source, (Ids{3, 1, 5, /**/ 0, 2, 4}));
  EXPECT_EQ(p.expert, (Ids{0, 3, 3, /**/ huge, -1, 4}));
  EXPECT_EQ(p.active, 2);
  EXPECT_EQ(p.offsets, (Ids{0, 1, 3, 3, 3, 3, 3}));
}

TEST(Permute, SlotsOfOtherRanksLieBehindTheComputedRows) {
  Problem problem = Routed({0, 3, /**/ 2, 1}, 4, 2);
  problem.c.ep_ranks = 2;
  problem.c.ep_rank = 1;
  const Permutation p = Permute(problem);
  EXPECT_EQ(p.rows, 2);
  EXPECT_EQ(p.source, (Ids{2, 1, /**/ 0, 3}));
  EXPECT_EQ(p.active, 2);
  problem.slot_order = {3, 1, 0, 2};
  problem.c.layout = SlotLayout::kShuffled;
  EXPECT_EQ(Permute(problem).source, (Ids{1, 2, /**/ 3, 0}));
}

TEST(Permute, NoComputedSlotAtAll) {
  const Permutation p = Permute(Routed({7, 8}, 4, 2));
  EXPECT_EQ(p.rows, 0);
  EXPECT_EQ(p.active, 0);
  EXPECT_EQ(p.offsets, (Ids{0, 0, 0}));
}

TEST(Permute, RanksShareTheExpertsWithoutGapOrOverlap) {
  Case c;
  c.shape.experts = 10;
  c.ep_ranks = 3;
  for (int e = 0; e < 10; ++e) {
    int owners = 0;
    for (c.ep_rank = 0; c.ep_rank < 3; ++c.ep_rank) {
      owners += IsComputed(c, e) ? 1 : 0;
    }
    EXPECT_EQ(owners, 1) << e;
  }
}

}  // namespace
}  // namespace voltcheck::reference
