#include "fixtures/case/tactic_choice.h"

#include <gtest/gtest.h>

#include <set>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"

namespace voltcheck {
namespace {

TEST(TacticChoice, DefaultLeavesTheCasesAlone) {
  const std::vector<Case> cases{ParseDescriptor("t=1"), ParseDescriptor("t=2,w13=64x128x32/2")};
  EXPECT_EQ(WithTactics(cases, "default"), cases);
  EXPECT_TRUE(ChosenTactics("default").empty());
}

TEST(TacticChoice, AllIsEveryTileThatFitsOnce) {
  EXPECT_EQ(ChosenTactics("all").size(), 11U);
  const std::vector<Case> cases = WithTactics({ParseDescriptor("h=256,i=128,g=32")}, "all");
  ASSERT_EQ(cases.size(), 6U) << "the tiles of group 32";
  for (const Case& c : cases) {
    EXPECT_EQ(c.w13, c.w2) << "both GEMMs take it";
    EXPECT_EQ(c.w13.splits, 1);
  }
}

TEST(TacticChoice, AGemmThatCannotTakeATacticKeepsItsOwn) {
  // W2 with K = 160 has no eight-row tile.
  const std::vector<Case> cases =
      WithTactics({ParseDescriptor("h=2560,i=160,e=16,w2=32x128x32/5")}, "8x256x64/4,64x128x32/2");
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(ToString(cases[0].w13), "8x256x64/4");
  EXPECT_EQ(ToString(cases[0].w2), "32x128x32/5");
  EXPECT_EQ(ToString(cases[1].w13), "64x128x32/2");
  EXPECT_EQ(ToString(cases[1].w2), "64x128x32/2");
}

TEST(TacticChoice, TakesTheWordsOfAGrid) {
  EXPECT_EQ(ChosenTactics("8x256x64/*").size(), 16U);
  EXPECT_EQ(ChosenTactics("8x256x64/2..4,all/2,8x256x64/2").size(), 13U);
}

TEST(TacticChoice, CasesThatComeAboutTwiceRunOnce) {
  const std::vector<Case> cases{ParseDescriptor("t=1,w13=8x128x64/1"),
                                ParseDescriptor("t=1,w13=64x128x32/1")};
  EXPECT_EQ(WithTactics(cases, "16x128x32/1").size(), 1U);
}

TEST(TacticChoice, RefusesWhatIsNoTacticAndWhatFitsNowhere) {
  const std::vector<Case> cases{ParseDescriptor("h=64,i=64,g=32")};
  for (const char* choice : {"", "fast", "8x128x64/", "12x128x64/1", "all/", "64x256x16/1",
                             "8x128x64/0..3", "16x128x32/3"}) {
    try {
      WithTactics(cases, choice);
      ADD_FAILURE() << "took '" << choice << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::kBadInput);
    }
  }
}

}  // namespace
}  // namespace voltcheck
