// The cases that a gate adds for kernels that a user replaces.
#include "verify/replaced_cases.h"

#include <gtest/gtest.h>

#include <set>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/tactic.h"
#include "kernels/plan_parts.h"

namespace voltcheck::verify {
namespace {

TEST(ReplacedCases, EntriesAreThoseOfAllFilesButTheOnesLeftOut) {
  const std::set<std::string> entries = ReplacedEntries(
      {{"a.ptx",
        ".visible .entry moe_reduce()\n.visible .entry grouped_gemm_8x128x64_g32_3b()\n",
        {}},
       {"b.ptx", ".visible .entry moe_gather()\n", {}}},
      {"moe_gather"});
  EXPECT_EQ(entries, (std::set<std::string>{"grouped_gemm_8x128x64_g32_3b", "moe_reduce"}));
  const std::vector<ReplacedGemm> gemms = ReplacedGemms(entries);
  ASSERT_EQ(gemms.size(), 1U);
  EXPECT_EQ(kernels::GemmEntry(gemms[0].tile, gemms[0].group, gemms[0].metadata),
            "grouped_gemm_8x128x64_g32_3b");
}

// Whatever the tile, both GEMMs run it in every case, and no hazard is left to the other tiles.
TEST(ReplacedCases, EveryEntryMeetsEveryHazard) {
  for (const int group : {32, 64, 128}) {
    for (const Tile& tile : TilesForGroup(group)) {
      for (const Metadata metadata : {Metadata::k4Byte, Metadata::k3Byte}) {
        SCOPED_TRACE(kernels::GemmEntry(tile, group, metadata));
        std::set<Path> paths;
        std::set<Data> data;
        std::set<int> splits, tokens;
        bool uneven = false, shuffled = false, wide_expert = false;
        for (const Case& c : HazardCases(ReplacedGemm{tile, group, metadata}, 0)) {
          EXPECT_EQ(c.w13.tile, tile);
          EXPECT_EQ(c.w2.tile, tile);
          EXPECT_EQ(c.shape.group, group);
          EXPECT_EQ(c.metadata, metadata);
          paths.insert(c.path);
          data.insert(c.data);
          splits.insert(c.w13.splits);
          if (c.shape.top_k == 1 && c.shape.experts == 1) {
            tokens.insert(c.shape.tokens);
          }
          uneven = uneven || ChunkCount(tile, c.w13_k(), group) % c.w13.splits != 0;
          shuffled = shuffled || c.layout == SlotLayout::kShuffled;
          wide_expert = wide_expert || c.routing.expert > 255;
        }
        EXPECT_EQ(paths.size(), 5U);
        EXPECT_TRUE(data.contains(Data::kInteger) && data.contains(Data::kTies) &&
                    data.contains(Data::kSubnormal) && data.contains(Data::kExtreme));
        EXPECT_TRUE(tokens.contains(tile.m - 1) && tokens.contains(tile.m));
        EXPECT_TRUE(shuffled && wide_expert);
        if (WhyInfeasible({tile, 2}, 4 * 128, 128, group).empty()) {
          EXPECT_TRUE(uneven && *splits.rbegin() > 4 && tokens.contains(2 * tile.m + 1));
        }
      }
    }
  }
}

TEST(ReplacedCases, ACaseThatTheSuiteHasIsNotAddedAgain) {
  std::vector<Case> cases;
  AddHazardCases(std::set<std::string>{"moe_permute"}, 5, cases);
  ASSERT_FALSE(cases.empty());
  EXPECT_EQ(cases[0].seed, Case().seed + 5);
  const std::size_t once = cases.size();
  AddHazardCases(std::set<std::string>{"moe_permute"}, 5, cases);
  EXPECT_EQ(cases.size(), once);
  AddHazardCases(std::set<std::string>{"another_kernel"}, 5, cases);
  EXPECT_EQ(cases.size(), once);
}

}  // namespace
}  // namespace voltcheck::verify
