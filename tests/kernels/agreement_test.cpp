// What must give the same bits although it is computed another way, over groups, token counts and
// tactics.
#include <gtest/gtest.h>

#include <algorithm>

#include "rig.h"
#include "small_problem.h"

namespace voltcheck::kernels {
namespace {

using testing::MakeProblem;
using testing::Observe;
using testing::SmallCase;

struct Setting {
  const char* name;
  Shape shape;  ///< H, I, E, k, g, T
  Tactic w13;
  Tactic w2;
};

/// Every group, tokens on either side of what the dispatch looks at, small and large tiles, with
/// and without split-K, the W2 widths of the contract.
std::vector<Setting> Settings() {
  return {{"g32_t2", {128, 64, 8, 3, 32, 2}, {{8, 128, 64}, 2}, {{16, 128, 32}, 1}},
          {"g32_t9", {160, 96, 8, 3, 32, 9}, {{32, 128, 32}, 3}, {{128, 128, 16}, 2}},
          {"g32_t128", {64, 32, 6, 2, 32, 128}, {{64, 128, 32}, 2}, {{16, 128, 32}, 1}},
          {"g32_contract_w2", {320, 160, 16, 10, 32, 2}, {{8, 256, 64}, 4}, {{64, 128, 32}, 5}},
          {"g64_t8", {256, 64, 8, 3, 64, 8}, {{8, 256, 64}, 4}, {{8, 128, 64}, 1}},
          {"g64_t127", {128, 64, 5, 2, 64, 127}, {{128, 128, 16}, 1}, {{32, 128, 32}, 1}},
          {"g128_t5", {256, 128, 6, 2, 128, 5}, {{16, 256, 64}, 2}, {{16, 256, 32}, 1}},
          {"g128_t128", {256, 128, 4, 1, 128, 128}, {{64, 256, 16}, 2}, {{128, 256, 16}, 1}}};
}

Case CaseOf(const Setting& setting) {
  Case c = SmallCase();
  c.shape = setting.shape;
  c.w13 = setting.w13;
  c.w2 = setting.w2;
  return c;
}

void ExpectSame(const ObservedStage& one, const ObservedStage& other) {
  EXPECT_EQ(one.w13, other.w13);
  EXPECT_EQ(one.silu, other.silu);
  EXPECT_EQ(one.w2, other.w2);
  EXPECT_EQ(one.output, other.output);
}

class Agreement : public ::testing::TestWithParam<Setting> {};

TEST_P(Agreement, OffsetSegmentDenseAndIndexedAreOne) {
  Case c = CaseOf(GetParam());
  const ObservedStage offset = Observe(MakeProblem(c));
  ASSERT_FALSE(offset.w13.empty());
  for (const Path path : {Path::kSegment, Path::kDense, Path::kIndexed}) {
    c.path = path;
    SCOPED_TRACE(static_cast<int>(path));
    ExpectSame(Observe(MakeProblem(c)), offset);
  }
}

TEST_P(Agreement, UnsortedIdsChangeTheOrderOfRowsAlone) {
  Case c = CaseOf(GetParam());
  c.layout = SlotLayout::kShuffled;
  const ObservedStage offset = Observe(MakeProblem(c));
  for (const Path path : {Path::kSegment, Path::kIndexed}) {
    c.path = path;
    ExpectSame(Observe(MakeProblem(c)), offset);
  }
  c.layout = SlotLayout::kSorted;
  EXPECT_EQ(Observe(MakeProblem(c)).output, offset.output);
}

TEST_P(Agreement, ThreeByteMetadataIsTheFourByteForm) {
  Case c = CaseOf(GetParam());
  const ObservedStage four = Observe(MakeProblem(c));
  c.metadata = Metadata::k3Byte;
  ExpectSame(Observe(MakeProblem(c)), four);
}

TEST_P(Agreement, HalvesHoldTheColumnsOfInterleaved) {
  Case c = CaseOf(GetParam());
  const ObservedStage interleaved = Observe(MakeProblem(c));
  c.columns = Columns::kHalves;
  const ObservedStage halves = Observe(MakeProblem(c));
  const auto inner = static_cast<std::size_t>(c.shape.intermediate);
  ASSERT_EQ(halves.w13.size(), interleaved.w13.size());
  for (std::size_t row = 0; row < halves.w13.size() / (2 * inner); ++row) {
    for (std::size_t j = 0; j < inner; ++j) {
      const std::size_t at = row * 2 * inner;
      ASSERT_EQ(halves.w13[at + j], interleaved.w13[at + 2 * j]) << "gate " << j;
      ASSERT_EQ(halves.w13[at + inner + j], interleaved.w13[at + 2 * j + 1]) << "up " << j;
    }
  }
  EXPECT_EQ(halves.silu, interleaved.silu);
  EXPECT_EQ(halves.w2, interleaved.w2);
  EXPECT_EQ(halves.output, interleaved.output);
}

TEST_P(Agreement, TokensInAnotherOrderAreTheSameTokens) {
  const Case c = CaseOf(GetParam());
  const Problem problem = MakeProblem(c);
  const auto tokens = static_cast<std::ptrdiff_t>(c.shape.tokens);
  // Token t of the other problem is token (t * step + 1) mod T of the first.
  const std::ptrdiff_t step = tokens % 3 == 0 ? 5 : 3;
  const auto from = [&](std::ptrdiff_t t) { return (t * step + 1) % tokens; };
  const auto permuted = [&](auto values, std::ptrdiff_t width) {
    const auto copy = values;
    for (std::ptrdiff_t t = 0; t < tokens; ++t) {
      std::copy_n(copy.begin() + from(t) * width, width, values.begin() + t * width);
    }
    return values;
  };
  Problem other = problem;
  other.hidden = permuted(problem.hidden, c.shape.hidden);
  other.topk_ids = permuted(problem.topk_ids, c.shape.top_k);
  other.topk_weights = permuted(problem.topk_weights, c.shape.top_k);
  EXPECT_EQ(Observe(other).output, permuted(Observe(problem).output, c.shape.hidden));
}

/// The matrix with each row of scales and zero points repeated, so that groups are `group` long.
AwqMatrix InGroupsOf(int group, const AwqMatrix& m) {
  AwqMatrix fine = m;
  fine.group = group;
  fine.scales.clear();
  fine.qzeros.clear();
  for (int row = 0; row < m.k / group; ++row) {
    const std::ptrdiff_t source = row / (m.group / group);
    fine.scales.insert(fine.scales.end(), m.scales.begin() + source * m.n,
                       m.scales.begin() + (source + 1) * m.n);
    fine.qzeros.insert(fine.qzeros.end(), m.qzeros.begin() + source * (m.n / 8),
                       m.qzeros.begin() + (source + 1) * (m.n / 8));
  }
  return fine;
}

Problem WithGroup(int group, Problem problem) {
  problem.c.shape.group = group;
  for (auto& expert : problem.experts) {
    auto fine = std::make_shared<ExpertWeights>(*expert);
    fine->w13 = InGroupsOf(group, expert->w13);
    fine->w2 = InGroupsOf(group, expert->w2);
    expert = fine;
  }
  return problem;
}

// The fork halves a group that does not divide the local sizes and repeats scales and zeros.
TEST(EffectiveGroup, EqualsTheNativeOneWithTheSameValues) {
  struct Halving {
    int native, effective;
    Tactic w13;
    int tokens;
  };
  // Split boundaries fall on multiples of max(CTA_K, g), which must coincide: K = 256 in halves.
  for (const Halving& h : {Halving{64, 32, {{16, 128, 32}, 2}, 3},
                           {64, 32, {{8, 256, 64}, 4}, 9},
                           {128, 32, {{64, 128, 32}, 2}, 2},
                           {128, 64, {{8, 128, 64}, 2}, 17},
                           {128, 32, {{128, 128, 16}, 1}, 128}}) {
    for (const Metadata metadata : {Metadata::k4Byte, Metadata::k3Byte}) {
      Case c = SmallCase();
      c.shape = {256, 128, 4, 2, h.native, h.tokens};
      c.w13 = h.w13;
      c.w2 = {{32, 128, 32}, 1};
      c.metadata = metadata;
      const Problem native = MakeProblem(c);
      SCOPED_TRACE(std::to_string(h.native) + " as " + std::to_string(h.effective) + ", " +
                   ToString(h.w13));
      ExpectSame(Observe(WithGroup(h.effective, native)), Observe(native));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Agreement, ::testing::ValuesIn(Settings()),
                         [](const auto& setting) { return std::string(setting.param.name); });

}  // namespace
}  // namespace voltcheck::kernels
