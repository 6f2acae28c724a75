// What the suites cover: fails when a pair of values that a case can have is in none.
#include "verify/coverage.h"

#include <gtest/gtest.h>

#include <set>

#include "fixtures/case/descriptor.h"
#include "verify/problem_source.h"
#include "verify/suite.h"

namespace voltcheck::verify {
namespace {

std::vector<Case> CasesOf(const std::string& suite) {
  const std::string fixtures = VOLTCHECK_SOURCE_DIR "/fixtures/data";
  ProblemSource source(fixtures);
  return SuiteCases(suite, 0, fixtures, source);
}

const PairCoverage& PairOf(const Coverage& coverage, const std::string& a, const std::string& b) {
  for (const PairCoverage& pair : coverage.pairs) {
    if (coverage.dimensions[pair.first].name == a && coverage.dimensions[pair.second].name == b) {
      return pair;
    }
  }
  throw std::out_of_range(a + " x " + b);
}

TEST(Coverage, FullHoldsEveryPairOfValuesAndEveryTacticAtTheContractsShape) {
  const Coverage coverage = Cover(CasesOf("full"));
  EXPECT_TRUE(coverage.complete()) << ToText(coverage);
  EXPECT_EQ(coverage.pairs.size(), 36U) << "nine dimensions";
  EXPECT_EQ(PairOf(coverage, "routing", "w13").covered, 8U * 161U);
  EXPECT_EQ(PairOf(coverage, "w13", "w2").covered, 121U);
  EXPECT_EQ(PairOf(coverage, "group", "w2").covered, 96U + 96U + 161U);
  ASSERT_EQ(coverage.contract.size(), 2U);
  EXPECT_EQ(coverage.contract[0].tokens, 2);
  EXPECT_EQ(coverage.contract[1].tokens, 8);
  for (const ContractCoverage& c : coverage.contract) {
    EXPECT_EQ(c.w13_feasible, 96U) << "six tiles, sixteen split counts";
    EXPECT_EQ(c.w2_feasible, 20U) << "four tiles, five chunks";
  }
}

TEST(Coverage, CiHoldsEveryTacticOfBothGemmsAndEveryTokenCount) {
  std::set<int> tokens;
  std::set<std::string> w13;
  std::set<std::string> w2;
  for (const Case& c : CasesOf("ci")) {
    tokens.insert(c.shape.tokens);
    w13.insert(ToString(c.w13));
    w2.insert(ToString(c.w2));
  }
  for (const int t : {1, 2, 8, 9, 127, 128}) {
    EXPECT_TRUE(tokens.contains(t)) << t;
  }
  EXPECT_EQ(w13.size(), 161U) << "ten tiles, sixteen split counts, and one without split-K";
  EXPECT_EQ(w2.size(), 161U);
}

TEST(Coverage, EachSuiteHoldsTheSmallerOne) {
  std::set<std::string> full;
  for (const Case& c : CasesOf("full")) {
    full.insert(ToDescriptor(c));
  }
  std::set<std::string> ci;
  for (const Case& c : CasesOf("ci")) {
    EXPECT_TRUE(full.contains(ToDescriptor(c)));
    ci.insert(ToDescriptor(c));
  }
  for (const Case& c : CasesOf("smoke")) {
    EXPECT_TRUE(ci.contains(ToDescriptor(c)));
  }
}

TEST(Coverage, NamesWhatIsMissingAndWhatCannotBe) {
  std::vector<Case> cases = CasesOf("full");
  std::erase_if(cases, [](const Case& c) { return c.shape.tokens == 9 && c.path == Path::kDense; });
  const Coverage coverage = Cover(cases);
  EXPECT_FALSE(coverage.complete());
  const PairCoverage& pair = PairOf(coverage, "tokens", "path");
  EXPECT_EQ(pair.missing, std::vector<std::string>{"tokens 9, path dense"});
  EXPECT_EQ(pair.infeasible.size(), 5U) << "m1 beside more than one token";
  EXPECT_NE(ToText(coverage).find("missing: tokens 9, path dense\n"), std::string::npos);

  std::erase_if(cases, [](const Case& c) { return c.w2.splits == 5 && c.shape.hidden == 2560; });
  EXPECT_EQ(Cover(cases).contract[0].w2, 16U);
}

}  // namespace
}  // namespace voltcheck::verify
