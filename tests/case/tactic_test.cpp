#include "fixtures/case/tactic.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "fixtures/case/error.h"

namespace voltcheck {
namespace {

std::vector<std::string> TileNames(int group) {
  std::vector<std::string> names;
  for (const Tile& tile : TilesForGroup(group)) {
    names.push_back(ToString(tile));
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Tactic, TableOfTheContract) {
  const std::vector<std::string> small{"128x128x16", "16x128x32", "32x128x32",
                                       "64x128x32",  "8x128x64",  "8x256x64"};
  EXPECT_EQ(TileNames(32), small);
  EXPECT_EQ(TileNames(64), small);
  EXPECT_EQ(TileNames(128),
            (std::vector<std::string>{"128x128x16", "128x256x16", "16x128x32", "16x256x32",
                                      "16x256x64", "32x128x32", "32x256x32", "64x128x32",
                                      "64x256x16", "8x128x64", "8x256x64"}));
  EXPECT_TRUE(TilesForGroup(16).empty());
}

TEST(Tactic, WhyInfeasibleNamesTheRule) {
  const auto why = [](const char* tactic, int k, int n, int group) {
    return WhyInfeasible(ParseTactic(tactic), k, n, group);
  };
  EXPECT_EQ(why("8x128x64/1", 256, 320, 32), "");
  EXPECT_EQ(why("8x128x64/1", 160, 2560, 32), "K = 160 is not a multiple of CTA_K = 64");
  EXPECT_EQ(why("8x256x64/1", 160, 2560, 32), "K = 160 is not a multiple of CTA_K = 64");
  EXPECT_EQ(why("16x128x32/5", 160, 2560, 32), "");
  EXPECT_EQ(why("16x128x32/6", 160, 2560, 32),
            "6 splits are more than the 5 chunks of 32 rows in K = 160");
  EXPECT_EQ(why("16x128x32/3", 256, 64, 128),
            "3 splits are more than the 2 chunks of 128 rows in K = 256");
  EXPECT_EQ(why("16x128x32/17", 2560, 64, 32), "split count 17 is not in 1..16");
  EXPECT_EQ(why("128x256x16/1", 256, 64, 32), "tile 128x256x16 does not exist for group 32");
  EXPECT_EQ(why("128x256x16/2", 256, 64, 128), "tile 128x256x16 takes no split-K");
  EXPECT_EQ(why("128x256x16/1", 256, 64, 128), "");
  EXPECT_EQ(why("8x128x64/1", 96, 64, 64), "K = 96 is not a multiple of the group = 64");
  EXPECT_EQ(why("8x128x64/1", 64, 60, 64), "N = 60 is not a multiple of 8");
  EXPECT_EQ(why("8x128x64/1", 64, 64, 16), "group = 16 is not 32, 64 or 128");
}

TEST(Tactic, LeftOverChunksGoToTheLastSplits) {
  const auto sizes = [](int splits) {
    const Tactic tactic{{16, 128, 32}, splits};
    std::vector<int> chunks;
    for (int s = 0; s < splits; ++s) {
      const SplitRange rows = SplitRows(tactic, s, 160, 32);
      chunks.push_back((rows.end - rows.begin) / 32);
    }
    return chunks;
  };
  EXPECT_EQ(sizes(2), (std::vector<int>{2, 3}));
  EXPECT_EQ(sizes(3), (std::vector<int>{1, 2, 2}));
  EXPECT_EQ(sizes(4), (std::vector<int>{1, 1, 1, 2}));
  EXPECT_EQ(sizes(5), (std::vector<int>{1, 1, 1, 1, 1}));
}

RC_GTEST_PROP(Tactic, SplitsCoverKInOrder, ()) {
  const int group = *rc::gen::element(32, 64, 128);
  const auto tiles = TilesForGroup(group);
  const Tile tile = tiles[*rc::gen::inRange<std::size_t>(0, tiles.size())];
  const int k = group * *rc::gen::inRange(1, 100);
  const Tactic tactic{tile, *rc::gen::inRange(1, 17)};
  RC_PRE(WhyInfeasible(tactic, k, 64, group).empty());
  int covered = 0;
  int previous = 0;
  for (int s = 0; s < tactic.splits; ++s) {
    const SplitRange rows = SplitRows(tactic, s, k, group);
    RC_ASSERT(rows.begin == covered);
    const int size = rows.end - rows.begin;
    RC_ASSERT(size > 0);
    RC_ASSERT(size % std::max(tile.k, group) == 0);
    RC_ASSERT(size >= previous);
    previous = size;
    covered = rows.end;
  }
  RC_ASSERT(covered == k);
}

RC_GTEST_PROP(Tactic, DefaultIsFeasibleWhereverAnyTacticIs, ()) {
  const int group = *rc::gen::element(32, 64, 128);
  const int k = group * *rc::gen::inRange(1, 100);
  const int n = 8 * *rc::gen::inRange(1, 400);
  const Tactic tactic = DefaultTactic(*rc::gen::inRange(1, 300), k, n, group);
  RC_ASSERT(WhyInfeasible(tactic, k, n, group) == "");
  RC_ASSERT(tactic.splits == 1);
}

TEST(Tactic, DefaultRule) {
  EXPECT_EQ(ToString(DefaultTactic(8, 2560, 320, 32)), "8x128x64/1");
  EXPECT_EQ(ToString(DefaultTactic(8, 160, 2560, 32)), "16x128x32/1");
}

RC_GTEST_PROP(Tactic, ParseAndPrintAreInverse, ()) {
  const auto number = rc::gen::inRange(1, 10000);
  const Tactic tactic{{*number, *number, *number}, *number};
  RC_ASSERT(ParseTactic(ToString(tactic)) == tactic);
}

TEST(Tactic, ParseRefuses) {
  EXPECT_EQ(ParseTactic("8x128x64"), (Tactic{{8, 128, 64}, 1}));
  for (const char* text : {"", "8", "8x128", "8x128x", "8x128x64/", "8x128x64/0", "8x128x64/x",
                           "-8x128x64", "8x128x64/1 ", " 8x128x64", "8X128X64", "8x128x64/1/1",
                           "99999x1x1", "8x128x64/99999999999999999999", "0x128x64", "+8x128x64"}) {
    try {
      ParseTactic(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::kBadInput);
      EXPECT_EQ(std::string(error.what()),
                "tactic '" + std::string(text) +
                    "': is no tactic; write CTA_MxCTA_NxCTA_K/SPLITS, for example 8x128x64/4");
    }
  }
}

}  // namespace
}  // namespace voltcheck
