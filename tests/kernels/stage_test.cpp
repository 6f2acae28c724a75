// The whole stage on a device, every step against the host model on the device's own input of that
// step.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "host_model.h"
#include "kernels/stage_runner.h"
#include "rig.h"
#include "small_problem.h"

namespace voltcheck::kernels {
namespace {

using testing::ArithmeticOf;
using testing::GemmRow;
using testing::Halves;
using testing::MakeProblem;
using testing::MakeTestDevice;
using testing::Observe;
using testing::SmallCase;

bool IsComputed(const Case& c, std::int32_t id) {
  return id >= 0 && id < c.shape.experts && id >= c.shape.experts * c.ep_rank / c.ep_ranks &&
         id < c.shape.experts * (c.ep_rank + 1) / c.ep_ranks;
}

/// Rows in order, computed ones first.
std::vector<std::int32_t> ExpectedSource(const Problem& problem) {
  std::vector<std::int32_t> source(static_cast<std::size_t>(problem.c.shape.slots()));
  std::iota(source.begin(), source.end(), 0);
  const auto id = [&](std::int32_t slot) {
    return problem.topk_ids[static_cast<std::size_t>(slot)];
  };
  if (problem.c.layout == SlotLayout::kShuffled) {
    source = problem.slot_order;
  }
  const auto tail = std::stable_partition(source.begin(), source.end(), [&](std::int32_t slot) {
    return IsComputed(problem.c, id(slot));
  });
  if (problem.c.layout == SlotLayout::kSorted) {
    std::stable_sort(source.begin(), tail,
                     [&](std::int32_t a, std::int32_t b) { return id(a) < id(b); });
  }
  return source;
}

Halves RowOf(const Halves& matrix, int row, int width) {
  const auto begin = matrix.begin() + static_cast<std::ptrdiff_t>(row) * width;
  return {begin, begin + width};
}

/// Everything that `observed` holds against the host model.
void ExpectStage(const Problem& problem, const ObservedStage& observed,
                 arith::StepArithmetic arithmetic) {
  const Case& c = problem.c;
  const Shape& shape = c.shape;
  const int slots = shape.slots();
  const std::vector<std::int32_t> source = ExpectedSource(problem);
  ASSERT_EQ(observed.source, source);
  int rows = 0;
  std::vector<std::int32_t> offsets;
  std::vector<std::int32_t> runs;
  for (int row = 0; row < slots; ++row) {
    const std::int32_t id =
        problem.topk_ids[static_cast<std::size_t>(source[static_cast<std::size_t>(row)])];
    EXPECT_EQ(observed.expert[static_cast<std::size_t>(row)], id);
    if (IsComputed(c, id)) {
      ++rows;
      if (runs.empty() || runs.back() != id) {
        offsets.push_back(row);
        runs.push_back(id);
      }
    }
  }
  EXPECT_EQ(observed.rows, rows);
  if (!observed.offsets.empty()) {
    offsets.resize(static_cast<std::size_t>(slots) + 1, rows);
    runs.resize(static_cast<std::size_t>(slots), 0);
    EXPECT_EQ(observed.offsets, offsets);
    EXPECT_EQ(observed.segment_expert, runs);
  }

  const int inner = shape.intermediate;
  std::vector<int> row_of(static_cast<std::size_t>(slots), -1);
  for (int row = 0; row < rows; ++row) {
    const std::int32_t slot = source[static_cast<std::size_t>(row)];
    row_of[static_cast<std::size_t>(slot)] = row;
    const ExpertWeights* expert =
        problem.FindExpert(observed.expert[static_cast<std::size_t>(row)]);
    const Halves want_w13 = GemmRow(
        problem.hidden.data() + static_cast<std::ptrdiff_t>(slot / shape.top_k) * shape.hidden,
        expert->w13, c.w13.splits, std::max(c.w13.tile.k, shape.group), arithmetic);
    Halves gate(want_w13.begin(), want_w13.begin() + inner);
    Halves up(want_w13.begin() + inner, want_w13.end());
    if (!observed.w13.empty()) {
      Halves want = want_w13;
      if (c.columns == Columns::kInterleaved) {
        for (int j = 0; j < inner; ++j) {
          want[static_cast<std::size_t>(2 * j)] = gate[static_cast<std::size_t>(j)];
          want[static_cast<std::size_t>(2 * j + 1)] = up[static_cast<std::size_t>(j)];
        }
      }
      ASSERT_EQ(RowOf(observed.w13, row, 2 * inner), want) << "w13 row " << row;
    }
    const Halves silu = RowOf(observed.silu, row, inner);
    for (int j = 0; j < inner; ++j) {
      const auto at = static_cast<std::size_t>(j);
      ASSERT_TRUE(testing::IsSiluMul(gate[at], up[at], silu[at]))
          << "silu row " << row << " column " << j;
    }
    ASSERT_EQ(RowOf(observed.w2, row, shape.hidden),
              GemmRow(silu.data(), expert->w2, c.w2.splits, std::max(c.w2.tile.k, shape.group),
                      arithmetic))
        << "w2 row " << row;
  }
  for (int t = 0; t < shape.tokens; ++t) {
    const std::vector<int> token_rows(row_of.begin() + t * shape.top_k,
                                      row_of.begin() + (t + 1) * shape.top_k);
    ASSERT_EQ(RowOf(observed.output, t, shape.hidden),
              testing::ReduceToken(observed.w2, token_rows,
                                   problem.topk_weights.data() + t * shape.top_k, shape.hidden))
        << "token " << t;
  }
}

void RunAndExpect(const Problem& problem) {
  const auto device = MakeTestDevice(problem.c.numerics);
  ExpectStage(problem, Observe(problem), ArithmeticOf(*device));
}

/// A small case that runs in a fraction of a second.
Case TinyCase() {
  Case c = SmallCase();
  c.shape = {64, 64, 8, 3, 32, 5};
  return c;
}

TEST(Stage, OffsetPathInEveryLayoutAndForm) {
  for (const SlotLayout layout : {SlotLayout::kSorted, SlotLayout::kShuffled}) {
    for (const Columns columns : {Columns::kInterleaved, Columns::kHalves}) {
      for (const Metadata metadata : {Metadata::k4Byte, Metadata::k3Byte}) {
        Case c = TinyCase();
        c.layout = layout;
        c.columns = columns;
        c.metadata = metadata;
        RunAndExpect(MakeProblem(c));
      }
    }
  }
}

TEST(Stage, EveryPath) {
  for (const Path path : {Path::kSegment, Path::kDense, Path::kIndexed}) {
    Case c = TinyCase();
    c.path = path;
    RunAndExpect(MakeProblem(c));
  }
}

TEST(Stage, SingleTokenRoute) {
  Case c = TinyCase();
  c.shape.tokens = 1;
  c.path = Path::kM1;
  RunAndExpect(MakeProblem(c));
  c.shape.top_k = 8;
  RunAndExpect(MakeProblem(c, {3, 3, 1, 3, 7, 0, 1, 3}));  // one expert named several times
}

TEST(Stage, SingleTokenRouteLeavesIdsOutOfRangeOut) {
  Case c = TinyCase();
  c.shape.tokens = 1;
  c.shape.top_k = 6;
  c.path = Path::kM1;
  RunAndExpect(MakeProblem(c, {-1, 3, 8, 9, 2147483647, 3}));
  RunAndExpect(MakeProblem(c, {-1, -1, -1, -1, -1, -1}));
}

TEST(Stage, TokensAroundTheBlocksOfEight) {
  for (const int tokens : {1, 2, 7, 8, 9, 17}) {
    Case c = TinyCase();
    c.shape.tokens = tokens;
    c.shape.top_k = 2;
    RunAndExpect(MakeProblem(c));
  }
}

TEST(Stage, SplitBothGemms) {
  Case c = TinyCase();
  c.shape.hidden = 192;
  c.w13.splits = 3;
  c.w2.splits = 2;
  RunAndExpect(MakeProblem(c));
}

TEST(Stage, OneExpertTakesEverySlot) {
  Case c = TinyCase();
  RunAndExpect(MakeProblem(c, std::vector<std::int32_t>(15, 6)));
}

TEST(Stage, MoreSlotsThanThePermuteAndSegmentChunks) {
  Case c = TinyCase();
  c.shape = {64, 32, 40, 8, 32, 70};  // 560 slots: more than one chunk of 512 and two rounds of 256
  c.w13.tile = {16, 128, 32};
  RunAndExpect(MakeProblem(c));
}

TEST(Stage, ExpertParallelRanksLeaveOtherRanksSlotsOut) {
  for (const SlotLayout layout : {SlotLayout::kSorted, SlotLayout::kShuffled}) {
    for (int rank = 0; rank < 3; ++rank) {
      Case c = TinyCase();
      c.layout = layout;
      c.ep_rank = rank;
      c.ep_ranks = 3;
      RunAndExpect(MakeProblem(c));
    }
  }
}

TEST(Stage, ContractWidths) {
  for (const Columns columns : {Columns::kInterleaved, Columns::kHalves}) {
    Case c;
    c.shape = {2560, 160, 512, 2, 32, 1};
    c.columns = columns;
    c.w13 = {{8, 256, 64}, 4};
    c.w2 = {{64, 128, 32}, 2};
    RunAndExpect(MakeProblem(c));
  }
}

TEST(Stage, NewerChipsArithmetic) {
  Case c = TinyCase();
  c.numerics = Numerics::kSm80Software;
  RunAndExpect(MakeProblem(c));
}

TEST(Stage, PoisonRepeatsAndSchedulesChangeNothing) {
  Case c = TinyCase();
  c.shape.hidden = 128;
  c.w13.splits = 2;
  const Problem problem = MakeProblem(c);
  const ObservedStage base = Observe(problem);
  for (const Poison poison : {Poison::kNan, Poison::kOnes, Poison::kPrevious}) {
    RunOptions options;
    options.poison = poison;
    options.repeats = 2;
    EXPECT_EQ(Observe(problem, options).output, base.output);
  }
  for (const std::uint64_t schedule : {1, 2, 3}) {
    const ObservedStage other = Observe(problem, {}, schedule);
    EXPECT_EQ(other.w13, base.w13);
    EXPECT_EQ(other.w2, base.w2);
    EXPECT_EQ(other.output, base.output);
  }
}

}  // namespace
}  // namespace voltcheck::kernels
