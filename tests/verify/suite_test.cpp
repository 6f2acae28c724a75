// Suites: data files of grids, each case once, fixtures with their own shapes.
#include "verify/suite.h"

#include <gtest/gtest.h>

#include <set>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"

namespace voltcheck::verify {
namespace {

const std::string kFixtures = VOLTCHECK_SOURCE_DIR "/fixtures/data";

std::vector<Case> Parse(const std::string& text, std::uint64_t seed = 0) {
  ProblemSource source(kFixtures);
  return ParseSuite("test", text, seed, kFixtures, source);
}

TEST(Suite, LinesAreGridsAndCommentsAreLeftOut) {
  const std::vector<Case> cases = Parse("# first\n\nt=1,2;seed=3   # behind\r\n  \nt=5");
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(cases[0].shape.tokens, 1);
  EXPECT_EQ(cases[1].shape.tokens, 2);
  EXPECT_EQ(cases[1].seed, 3U);
  EXPECT_EQ(cases[2].shape.tokens, 5);
}

TEST(Suite, ACaseOfSeveralLinesRunsOnce) { EXPECT_EQ(Parse("t=1,2,4\nt=2,4,8\n").size(), 4U); }

TEST(Suite, TheSeedIsAdded) {
  const std::vector<Case> cases = Parse("t=1;seed=3,4", 10);
  EXPECT_EQ(cases[0].seed, 13U);
  EXPECT_EQ(cases[1].seed, 14U);
}

TEST(Suite, FixtureLinesTakeTheFixturesShapeAndItsTokens) {
  const std::vector<Case> cases = Parse("fixture=*;t=1,8,5000;w13=8x128x64/1;w2=16x128x32/1");
  ASSERT_EQ(cases.size(), 4U) << "two fixtures, and none holds 5000 tokens";
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(cases[i].data, Data::kFixture);
    EXPECT_EQ(cases[i].fixture_hash.size(), 12U);
    EXPECT_EQ(cases[i].shape.tokens, i % 2 == 0 ? 1 : 8);
  }
  EXPECT_EQ(cases[0].shape.hidden, 576);
  EXPECT_NE(cases[0].fixture_hash, cases[2].fixture_hash);
}

TEST(Suite, ErrorsNameTheLine) {
  try {
    Parse("t=1\n\nt=1;colour=red\n");
    FAIL() << "was not refused";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("test:3: ")) << error.what();
    EXPECT_EQ(error.status(), ExitStatus::kBadInput);
  }
}

TEST(Suite, EveryBuiltInSuiteParsesAndSaysWhatItIs) {
  for (const SuiteText& suite : Suites()) {
    EXPECT_FALSE(suite.summary.empty()) << suite.name;
    ProblemSource source(kFixtures);
    const std::vector<Case> cases = SuiteCases(suite.name, 0, kFixtures, source);
    std::set<std::string> names;
    for (const Case& c : cases) {
      names.insert(ToDescriptor(c));
    }
    EXPECT_EQ(names.size(), cases.size()) << suite.name;
  }
}

// What the pre-merge check promises to cover.
TEST(Suite, SmokeCoversTheHazardsItNames) {
  ProblemSource source(kFixtures);
  const std::vector<Case> cases = SuiteCases("smoke", 0, kFixtures, source);
  const auto count = [&cases](auto predicate) {
    return std::count_if(cases.begin(), cases.end(), predicate);
  };
  std::size_t exact = 0;
  while (exact < cases.size() &&
         (cases[exact].data == Data::kInteger || cases[exact].data == Data::kOneHot)) {
    ++exact;
  }
  EXPECT_GE(exact, 8U) << "exact inputs come first";
  for (const int tokens : {1, 2, 8, 9, 127, 128}) {
    EXPECT_GT(count([&](const Case& c) { return c.shape.tokens == tokens; }), 0) << tokens;
  }
  for (const int tokens : {1, 2, 8, 9}) {
    EXPECT_GT(
        count([&](const Case& c) { return c.data == Data::kFixture && c.shape.tokens == tokens; }),
        0)
        << tokens;
  }
  for (const char* tile : {"8x128x64", "16x128x32"}) {
    EXPECT_GT(count([&](const Case& c) { return ToString(c.w13.tile) == tile; }), 0) << tile;
    EXPECT_GT(count([&](const Case& c) { return ToString(c.w2.tile) == tile; }), 0) << tile;
  }
  for (const RoutingKind kind :
       {RoutingKind::kUniform, RoutingKind::kZipf, RoutingKind::kOne, RoutingKind::kDistinct,
        RoutingKind::kDuplicate, RoutingKind::kHole, RoutingKind::kSoftmax}) {
    EXPECT_GT(count([&](const Case& c) { return c.routing.kind == kind; }), 0)
        << static_cast<int>(kind);
  }
  EXPECT_GT(count([](const Case& c) { return c.layout == SlotLayout::kShuffled; }), 0);
  EXPECT_GT(count([](const Case& c) { return c.columns == Columns::kHalves; }), 0);
  EXPECT_GT(count([](const Case& c) { return c.w13.splits > 1; }), 0);
  EXPECT_GT(count([](const Case& c) { return c.w2.splits > 1; }), 0);
}

}  // namespace
}  // namespace voltcheck::verify
