// What is drawn, how it shrinks, and the file of counterexamples.
#include "verify/properties/draw.h"

#include <gtest/gtest.h>
#include <rapidcheck/Random.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "planted_faults.h"

namespace voltcheck::properties {
namespace {

using testing::PlantedFault;

TEST(Draw, CasesAreValidAndFollowFromTheSeed) {
  const rc::Gen<Case> cases = SmallCases();
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Case c = cases(rc::Random(seed), 100).value();
    EXPECT_NO_THROW(ValidateCase(c)) << ToDescriptor(c);
    EXPECT_EQ(cases(rc::Random(seed), 100).value(), c);
    seen.insert(ToDescriptor(c));
  }
  EXPECT_GT(seen.size(), 290U);
}

TEST(Draw, EverySequenceOfSmallerCasesEnds) {
  const rc::Gen<Case> cases = SmallCases();
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Case c = cases(rc::Random(seed), 100).value();
    int steps = 0;
    // The timidest step each time: the longest way down.
    for (std::vector<Case> smaller = SmallerCases(c); !smaller.empty(); smaller = SmallerCases(c)) {
      c = smaller.back();
      ASSERT_NO_THROW(ValidateCase(c));
      ASSERT_LT(++steps, 1000);
    }
    EXPECT_EQ(c.shape.tokens, 1);
    EXPECT_EQ(c.shape.experts, 1);
    EXPECT_EQ(c.shape.hidden, 32);
    EXPECT_EQ(c.path, Path::kOffset);
    EXPECT_EQ(c.layout, SlotLayout::kSorted);
  }
}

TEST(Draw, AFewDrawsMeetEveryHazardClass) {
  for (const std::uint64_t seed : {kDefaultSeed, std::uint64_t{1}, std::uint64_t{2}}) {
    SearchOptions options;
    options.seed = seed;
    options.draws = 4;
    HazardCounts counts;
    for (const Case& c : DrawnCases(options)) {
      counts.Add(c);
    }
    EXPECT_TRUE(counts.Missed().empty()) << counts.Missed().front();
  }
}

PlantedFault FirstTokenFault() {
  for (PlantedFault& fault : testing::PlantedFaults()) {
    if (fault.property == "token-permutation") {
      return fault;
    }
  }
  return {};
}

TEST(Search, ACounterexampleIsTheSmallestOneAndReproduces) {
  const SearchOptions options = testing::WithFault(FirstTokenFault());
  const SearchResult result = RunProperties(options, [] { return false; });
  ASSERT_EQ(result.broken, 1U);
  const verify::PropertyRecord& record = result.records.back();
  // Two tokens are needed to permute; everything else is as plain as it gets.
  const Case c = ParseDescriptor(record.descriptor);
  Case plain;
  plain.shape = {32, 32, 1, 1, 32, 2};
  plain.w13 = DefaultTactic(2, plain.w13_k(), plain.w13_n(), 32);
  plain.w2 = DefaultTactic(2, plain.w2_k(), plain.w2_n(), 32);
  plain.seed = c.seed;
  EXPECT_EQ(record.descriptor, ToDescriptor(plain));
  EXPECT_EQ(record.reproduction, "voltcheck replay --property token-permutation --case '" +
                                     record.descriptor + "' --device simulator --schedule 0");
  EXPECT_GT(record.shrinks, 0U);
  EXPECT_EQ(record.seed, kDefaultSeed);
  EXPECT_EQ(record.tensor, "output");
  EXPECT_EQ(record.col, 0);
  EXPECT_NE(record.got, record.want);
}

TEST(Search, ResultsDoNotDependOnTheNumberOfJobs) {
  SearchOptions options = MakeSearchOptions({});
  options.draws = 1;
  options.chosen = {&FindProperty("slot-layout"), &FindProperty("zero-weight"),
                    &FindProperty("far-rows")};
  options.jobs = 1;
  const SearchResult one = RunProperties(options, [] { return false; });
  options.jobs = 3;
  const SearchResult three = RunProperties(options, [] { return false; });
  ASSERT_EQ(one.records.size(), three.records.size());
  for (std::size_t i = 0; i < one.records.size(); ++i) {
    EXPECT_EQ(one.records[i].descriptor, three.records[i].descriptor);
    EXPECT_EQ(one.records[i].verdict, three.records[i].verdict);
  }
}

TEST(Regressions, AFoundCounterexampleRunsFirstNextTime) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "voltcheck_regressions_test.txt").string();
  std::filesystem::remove(path);
  SearchOptions options = testing::WithFault(FirstTokenFault());
  options.regressions = ReadRegressions(path);
  EXPECT_TRUE(options.regressions.empty());
  const SearchResult first = RunProperties(options, [] { return false; });
  ASSERT_EQ(first.broken, 1U);
  AddRegressions(path, first.Counterexamples());
  AddRegressions(path, first.Counterexamples());  // known already: not written twice

  options.regressions = ReadRegressions(path);
  ASSERT_EQ(options.regressions, first.Counterexamples());
  const SearchResult second = RunProperties(options, [] { return false; });
  ASSERT_EQ(second.records.size(), 1U);  // broken by it, so nothing is drawn any more
  EXPECT_TRUE(second.records[0].regression);
  EXPECT_EQ(second.records[0].verdict, verify::Verdict::kFailed);
  EXPECT_EQ(second.records[0].descriptor, first.records.back().descriptor);

  // With the fault mended the case passes and draws go on.
  SearchOptions mended = MakeSearchOptions({});
  mended.chosen = options.chosen;
  mended.regressions = options.regressions;
  mended.draws = 1;
  const SearchResult third = RunProperties(mended, [] { return false; });
  ASSERT_EQ(third.records.size(), 2U);
  EXPECT_TRUE(third.records[0].regression);
  EXPECT_EQ(third.held, 2U);
  std::filesystem::remove(path);
}

TEST(Regressions, ALineThatIsNoneIsNamed) {
  try {
    ParseRegressions("list.txt", "# comment\n\ntoken-alone h=nonsense\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("list.txt:3: ")) << error.what();
    EXPECT_EQ(error.status(), ExitStatus::kBadInput);
  }
  EXPECT_THROW(ParseRegressions("list.txt", "no-such-property t=1\n"), Error);
  EXPECT_THROW(ParseRegressions("list.txt", "token-alone\n"), Error);
}

}  // namespace
}  // namespace voltcheck::properties
