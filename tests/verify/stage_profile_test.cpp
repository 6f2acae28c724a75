#include "verify/stage_profile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace voltcheck::verify {
namespace {

TEST(MagnitudeBin, IsTwoPowersOfTwoWide) {
  EXPECT_EQ(MagnitudeBin(0, -24), 0U);
  EXPECT_EQ(MagnitudeBin(0x1p-25, -24), 0U);
  EXPECT_EQ(MagnitudeBin(0x1p-24, -24), 1U);
  EXPECT_EQ(MagnitudeBin(0x1.fffp-23, -24), 1U);
  EXPECT_EQ(MagnitudeBin(0x1p-22, -24), 2U);
  EXPECT_EQ(MagnitudeBin(1e300, -24), kMagnitudeBins - 1);
  for (std::size_t bin = 1; bin < kMagnitudeBins; ++bin) {
    EXPECT_EQ(MagnitudeBin(MagnitudeBinLower(bin, -24), -24), bin);
  }
}

TEST(StageProfile, CountsEveryFiniteElementOnceAndFindsTheWorstParts) {
  constexpr int kRows = 3;
  constexpr int kCols = kTileColumns + 1;
  const std::vector<double> want(kRows * kCols, 1.0);
  const std::vector<double> budget(kRows * kCols, 0.5);
  std::vector<double> got = want;
  got[0] = 1.25;                    // expert 7, tile 0
  got[kCols + kTileColumns] = 0.0;  // expert 2, tile 1
  got[2 * kCols] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<int> expert{7, 2, 2};
  const StageProfile profile = MakeStageProfile({kRows, kCols, got, want, budget, want, expert});
  const std::uint64_t sum =
      std::accumulate(profile.density.begin(), profile.density.end(), std::uint64_t{0},
                      [](std::uint64_t n, const DensityCell& cell) { return n + cell.count; });
  EXPECT_EQ(sum, kRows * kCols - 1U) << "the NaN is nowhere";
  ASSERT_EQ(profile.density.size(), 3U) << "no difference, 1/4 and 1, all at |want| = 1";
  EXPECT_EQ(profile.experts, (std::vector<PartMaximum>{{2, 2.0F, 1.0F}, {7, 0.5F, 0.25F}}));
  EXPECT_EQ(profile.tiles, (std::vector<PartMaximum>{{0, 0.5F, 0.25F}, {1, 2.0F, 1.0F}}));
}

TEST(StageProfile, ADifferenceWithoutBudgetIsInfiniteUse) {
  const std::vector<double> want{1, 2};
  const std::vector<double> none{0, 0};
  const StageProfile profile =
      MakeStageProfile({1, 2, std::vector<double>{1, 2.5}, want, none, want, {}});
  ASSERT_EQ(profile.tiles.size(), 1U);
  EXPECT_TRUE(std::isinf(profile.tiles[0].use));
  EXPECT_TRUE(profile.experts.empty());
}

TEST(HashOutput, TellsOutputsApartAndIsNeverZero) {
  const std::vector<std::uint16_t> a{1, 2, 3};
  const std::vector<std::uint16_t> b{1, 2, 4};
  EXPECT_EQ(HashOutput(std::as_bytes(std::span(a))), HashOutput(std::as_bytes(std::span(a))));
  EXPECT_NE(HashOutput(std::as_bytes(std::span(a))), HashOutput(std::as_bytes(std::span(b))));
  EXPECT_NE(HashOutput({}), 0U);
  // SHA-256 of nothing begins e3b0c44298fc1c14.
  EXPECT_EQ(HashOutput({}), 0xe3b0c44298fc1c14U);
}

}  // namespace
}  // namespace voltcheck::verify
