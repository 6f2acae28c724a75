// The grouped GEMM alone, against plain chains of the tensor core's dot product.
#include <gtest/gtest.h>

#include <algorithm>

#include "host_model.h"
#include "kernels/plan_parts.h"
#include "reference/arith/half.h"
#include "rig.h"

namespace voltcheck::kernels {
namespace {

using testing::ArithmeticOf;
using testing::ExpectedGemm;
using testing::GemmCase;
using testing::GemmProblem;
using testing::MakeGemm;
using testing::MakeTestDevice;
using testing::Rig;

/// Runs `c` and compares every output bit and every promise.
void ExpectExact(const GemmCase& c, Numerics numerics = Numerics::kV100,
                 std::uint64_t schedule = 0) {
  const GemmProblem problem = MakeGemm(c);
  const auto device = MakeTestDevice(numerics, schedule);
  const Rig rig(*device, problem.plan);
  ASSERT_EQ(rig.complaints(), "");
  const auto expected = ExpectedGemm(c, problem, ArithmeticOf(*device));
  const auto got = rig.Get<std::uint16_t>("out");
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i], expected[i]) << "row " << i / static_cast<std::size_t>(c.n) << " column "
                                   << i % static_cast<std::size_t>(c.n);
  }
}

struct TileCase {
  Tile tile;
  int group;
  Metadata metadata;
};

std::vector<TileCase> AllTiles() {
  std::vector<TileCase> all;
  for (const int group : {32, 64, 128}) {
    for (const Tile& tile : TilesForGroup(group)) {
      all.push_back({tile, group, Metadata::k4Byte});
      all.push_back({tile, group, Metadata::k3Byte});
    }
  }
  return all;
}

std::string NameOf(const ::testing::TestParamInfo<TileCase>& info) {
  return GemmEntry(info.param.tile, info.param.group, info.param.metadata);
}

class EveryTile : public ::testing::TestWithParam<TileCase> {};

// One segment of every kind: one row, none, one block of eight and one more, several CTA tiles; the
// same expert twice; columns that end inside a 32-column tile.
TEST_P(EveryTile, EqualsTheDotProductChains) {
  GemmCase c;
  c.tactic = {GetParam().tile, 1};
  c.group = GetParam().group;
  c.metadata = GetParam().metadata;
  c.lengths = {1, 0, 9, GetParam().tile.m + 3, 0, 8, 0};
  c.ids = {2, 0, 1, 0, 0, 2, 0};
  c.n = 72;
  ExpectExact(c);
}

TEST_P(EveryTile, EqualsTheDotProductChainsOnNewerChips) {
  GemmCase c;
  c.tactic = {GetParam().tile, 2};
  if (!WhyInfeasible(c.tactic, 256, 40, GetParam().group).empty()) {
    c.tactic.splits = 1;
  }
  c.group = GetParam().group;
  c.metadata = GetParam().metadata;
  c.lengths = {3, 10};
  c.ids = {1, 0};
  c.n = 40;
  ExpectExact(c, Numerics::kSm80Software);
}

INSTANTIATE_TEST_SUITE_P(Gemm, EveryTile, ::testing::ValuesIn(AllTiles()), NameOf);

TEST(Gemm, EverySplitCountAddsInAscendingOrder) {
  for (const Tile tile : {Tile{8, 128, 64}, Tile{16, 128, 32}}) {
    for (const int splits : {1, 2, 3, 4, 5, 7, 8}) {
      GemmCase c;
      c.tactic = {tile, splits};
      c.k = 512;
      c.n = 40;
      c.lengths = {1, 9, 0, 2};
      c.ids = {1, 0, 0, 1};
      SCOPED_TRACE(ToString(c.tactic));
      ExpectExact(c);
    }
  }
}

TEST(Gemm, SixteenSplits) {
  GemmCase c;
  c.tactic = {{16, 128, 32}, 16};
  c.k = 544;  // 17 chunks: the last split owns two
  c.n = 8;
  c.lengths = {3};
  c.ids = {0};
  ExpectExact(c);
}

TEST(Gemm, LeftOverChunksGoToTheLastSplits) {
  for (const int splits : {2, 4}) {
    GemmCase c;
    c.tactic = {{32, 128, 32}, splits};
    c.k = 160;  // 5 chunks: 2 + 3, 1 + 1 + 1 + 2
    c.n = 32;
    c.lengths = {5};
    c.ids = {0};
    SCOPED_TRACE(splits);
    ExpectExact(c);
  }
}

TEST(Gemm, WideTileOverTheContractsColumns) {
  GemmCase c;
  c.tactic = {{8, 256, 64}, 2};
  c.n = 320;  // the second CTA's columns are a quarter used
  c.lengths = {2, 1};
  c.ids = {0, 1};
  ExpectExact(c);
}

TEST(Gemm, DoesNotDependOnTheSchedule) {
  for (const std::uint64_t schedule : {1, 2, 3, 4}) {
    GemmCase c;
    c.tactic = {{16, 128, 32}, 3};
    c.n = 136;
    c.lengths = {1, 17, 0, 4};
    c.ids = {0, 1, 0, 0};
    SCOPED_TRACE(schedule);
    ExpectExact(c, Numerics::kV100, schedule);
  }
}

TEST(Gemm, SegmentLoopAndOffsetScheduleAgree) {
  GemmCase c;
  c.tactic = {{8, 128, 64}, 2};
  c.lengths = {0, 1, 20, 0, 8, 0};
  c.ids = {0, 1, 0, 0, 1, 0};
  c.schedule = Schedule::kSegments;
  ExpectExact(c);
}

TEST(Gemm, DenseLoopTakesTheSegmentsNumberAsExpert) {
  GemmCase c;
  c.tactic = {{8, 128, 64}, 1};
  c.lengths = {0, 5, 9, 0};
  c.ids = {0, 1, 2, 3};
  c.schedule = Schedule::kExperts;
  ExpectExact(c);
}

TEST(Gemm, SubnormalScalesAndHugeActivations) {
  GemmCase c;
  c.tactic = {{16, 128, 32}, 2};
  c.lengths = {4, 2};
  c.ids = {0, 1};
  GemmProblem problem = MakeGemm(c);
  // Rebuild with extreme values in place: scales down to 2^-24, activations up to 60000.
  for (AwqMatrix& m : problem.experts) {
    for (std::size_t i = 0; i < m.scales.size(); ++i) {
      m.scales[i] = static_cast<std::uint16_t>(i % 7 == 0 ? 1 + i % 5 : m.scales[i]);
    }
  }
  for (std::size_t i = 0; i < problem.input.size(); i += 3) {
    problem.input[i] = static_cast<std::uint16_t>(i % 2 == 0 ? 0x7b53 : 0x0003);
  }
  for (BufferSpec& buffer : problem.plan.buffers) {
    if (buffer.name == "input") {
      buffer.contents = ContentsOf(problem.input);
    } else if (buffer.name == "gemm.scales") {
      std::vector<std::uint16_t> scales;
      for (const AwqMatrix& m : problem.experts) {
        scales.insert(scales.end(), m.scales.begin(), m.scales.end());
      }
      buffer.contents = ContentsOf(scales);
    }
  }
  const auto device = MakeTestDevice();
  const Rig rig(*device, problem.plan);
  ASSERT_EQ(rig.complaints(), "");
  EXPECT_EQ(rig.Get<std::uint16_t>("out"), ExpectedGemm(c, problem, ArithmeticOf(*device)));
}

TEST(Gemm, FusedSiluIsSiluOfTheRoundedSums) {
  for (const Tile tile : {Tile{8, 128, 64}, Tile{64, 128, 32}}) {
    GemmCase c;
    c.tactic = {tile, 2};
    c.n = 80;
    c.lengths = {1, 1, 0, 1};
    c.ids = {1, 0, 0, 1};
    const auto device = MakeTestDevice();
    const GemmProblem plain = MakeGemm(c);
    const auto sums = ExpectedGemm(c, plain, ArithmeticOf(*device));
    c.fuse_silu = true;
    const Rig rig(*device, MakeGemm(c).plan);
    ASSERT_EQ(rig.complaints(), "");
    const auto got = rig.Get<std::uint16_t>("out");
    ASSERT_EQ(got.size(), sums.size() / 2);
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(testing::IsSiluMul(sums[2 * i], sums[2 * i + 1], got[i]))
          << i << ": gate " << sums[2 * i] << " up " << sums[2 * i + 1] << " got " << got[i];
    }
  }
}

TEST(Gemm, HasNoBankConflicts) {
  for (const int group : {32, 64, 128}) {
    for (const Tile& tile : TilesForGroup(group)) {
      GemmCase c;
      c.tactic = {tile, 1};
      c.group = group;
      c.n = tile.n;
      c.lengths = {tile.m};
      c.ids = {0};
      const auto device = MakeTestDevice();
      const GemmProblem problem = MakeGemm(c);
      const Rig rig(*device, problem.plan);
      EXPECT_EQ(rig.complaints(), "");
      if (device->Describe().kind == "simulator") {
        EXPECT_GT(rig.counters().mma, 0U) << "nothing was counted";
        EXPECT_GT(rig.counters().global_sectors, 0U) << "nothing was counted";
      }
      EXPECT_EQ(rig.counters().bank_conflicts, 0U) << ToString(tile);
    }
  }
}

}  // namespace
}  // namespace voltcheck::kernels
