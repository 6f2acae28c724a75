#include "verify/report/diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sample_run.h"

namespace voltcheck::report {
namespace {

using verify::Stage;
using verify::Verdict;

RunDiff Diff(const RunData& base, const RunData& head) {
  return DiffRuns(base, head, "base.h5", "head.h5");
}

// Of every text: the longest line that is neither a descriptor nor a command.
std::size_t LongestLine(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!Holds(line, "voltcheck replay") && !Holds(line, "h=")) {
      longest = std::max(longest, line.size());
    }
  }
  return longest;
}

TEST(Diff, TheSameRunIsBitEqual) {
  const RunData run = SampleRun(10);
  const RunDiff diff = Diff(run, run);
  EXPECT_TRUE(diff.same_setup);
  EXPECT_TRUE(diff.bit_equal());
  EXPECT_FALSE(diff.regressed()) << "failures that were there before are no regression";
  EXPECT_TRUE(WorstChangesFirst(diff, run).empty());
  EXPECT_EQ(DiffHeadline({run, run, diff}), "A/A: 10 cases in both: bit-equal");
}

TEST(Diff, WorseVerdictsBitsAndUsesAreFoundWorstFirst) {
  const RunData base = SampleRun(8);
  const RunData head = SampleRun(8, [](verify::CaseRecord& r) {
    if (r.c.seed == 1) {
      r.stages[0].hash = 99;
    } else if (r.c.seed == 2) {
      r.verdict = Verdict::kChecker;
      r.reason = "race in w13";
    } else if (r.c.seed == 4) {
      r.verdict = Verdict::kPassed;
    } else if (r.c.seed == 6) {
      r.stages[3].own.max_use.magnitude = 0.9;
    }
  });
  const RunDiff diff = Diff(base, head);
  EXPECT_TRUE(diff.regressed());
  EXPECT_FALSE(diff.bit_equal());
  EXPECT_EQ(diff.worse, 1U);
  EXPECT_EQ(diff.better, 1U);
  EXPECT_EQ(diff.bits_changed, 1U);
  EXPECT_EQ(diff.use_changed, 1U);
  const std::vector<const CasePair*> changed = WorstChangesFirst(diff, head);
  ASSERT_EQ(changed.size(), 4U);
  EXPECT_EQ(changed[0]->head, 2U);
  EXPECT_EQ(changed[1]->head, 4U);
  EXPECT_EQ(changed[2]->head, 1U);
  EXPECT_EQ(changed[2]->bits_changed, (std::vector<Stage>{Stage::kW13}));
  EXPECT_EQ(changed[3]->head, 6U);
  const DiffInput input{base, head, diff};
  const std::string text = DiffText(input);
  EXPECT_TRUE(Holds(text, "passed -> checker")) << text;
  EXPECT_TRUE(Holds(text, "race in w13\n  voltcheck replay --case '" + head.cases[2].descriptor));
  EXPECT_LE(LongestLine(text), 80U) << text;
  const auto json = nlohmann::json::parse(DiffJson(input));
  EXPECT_EQ(json["schema"], "voltcheck.diff/1");
  EXPECT_EQ(json["summary"]["worse"], 1);
  EXPECT_EQ(json["changes"][0]["head"]["reason"], "race in w13");
  EXPECT_TRUE(Holds(DiffMarkdown(input), "| 2 | 2 | passed -> checker |"));
}

TEST(Diff, OtherTacticsMatchNewAndGoneAreNamed) {
  const RunData base = SampleRun(4);
  const RunData head = SampleRun(5, [](verify::CaseRecord& r) {
    if (r.c.seed == 3) {
      r.c.w13 = ParseTactic("16x128x32/2");
      r.descriptor = ToDescriptor(r.c);
    } else if (r.c.seed == 0) {
      r.descriptor = "t=999";
      r.verdict = Verdict::kFailed;
    }
  });
  const RunDiff diff = Diff(base, head);
  EXPECT_EQ(diff.pairs.size(), 3U);
  EXPECT_EQ(diff.tactic_changed, 1U);
  EXPECT_EQ(diff.only_base, (std::vector<std::size_t>{0}));
  EXPECT_EQ(diff.only_head, (std::vector<std::size_t>{0, 4}));
  EXPECT_EQ(diff.new_not_passed, 2U);
  EXPECT_TRUE(diff.regressed()) << "a new case that does not pass";
  const std::string text = DiffText({base, head, diff});
  EXPECT_TRUE(Holds(text, "-> 16x128x32/2")) << text;
  EXPECT_TRUE(Holds(text, "gone passed: " + base.cases[0].descriptor)) << text;
}

TEST(Diff, LongCommandLinesAreShownWhereTheyDiffer) {
  RunData base = SampleRun(1);
  RunData head = base;
  base.attributes["arguments"] = "gate --suite smoke --seed 0 --schedule 3";
  head.attributes["arguments"] = "gate --suite smoke --seed 0 --draws 5 --schedule 3";
  const std::string text = DiffText({base, head, Diff(base, head)});
  EXPECT_TRUE(Holds(text, "  arguments    ... --schedule 3 -> ... --draws 5 --schedule 3\n"))
      << text;
}

TEST(Diff, BitsThatWereNotRecordedAreNotEqual) {
  const RunData base = SampleRun(3);
  const RunData head = SampleRun(3, [](verify::CaseRecord& r) { r.stages[0].hash = 0; });
  const RunDiff diff = Diff(base, head);
  EXPECT_FALSE(diff.bit_equal());
  EXPECT_FALSE(diff.regressed());
  EXPECT_EQ(diff.bits_unknown, 3U);
}

TEST(Diff, NoCommonCaseIsRefused) {
  const RunData base = SampleRun(2);
  const RunData head =
      SampleRun(2, [](verify::CaseRecord& r) { r.descriptor = "x=" + r.descriptor; });
  EXPECT_TRUE(
      Holds(Refusal([&] { Diff(base, head); }), "head.h5: has no case in common with base.h5"));
}

TEST(Diff, EqualDescriptorsMatchInOrder) {
  const auto same = [](verify::CaseRecord& r) { r.descriptor = "t=1"; };
  const RunData base = SampleRun(3, same);
  const RunData head = SampleRun(3, same);
  const RunDiff diff = Diff(base, head);
  ASSERT_EQ(diff.pairs.size(), 3U);
  EXPECT_EQ(diff.pairs[1].base, 1U);
  EXPECT_TRUE(diff.bit_equal());
}

TEST(Diff, ABrokenPropertyAndAnInterruptionAreRegressions) {
  RunData base = SampleRun(2);
  RunData head = base;
  base.properties.push_back(Property("repeat", "t=1", Verdict::kPassed));
  head.properties.push_back(Property("repeat", "t=1", Verdict::kFailed, "why"));
  const RunDiff broken = Diff(base, head);
  EXPECT_TRUE(broken.regressed());
  EXPECT_TRUE(Holds(DiffText({base, head, broken}), "property repeat is broken now: why"));
  EXPECT_FALSE(Diff(head, base).regressed());
  head = base;
  head.complete = false;
  EXPECT_TRUE(Diff(base, head).regressed());
}

TEST(Diff, ACommentHasAtMostSixtyLines) {
  const RunData base = SampleRun(80);
  const RunData head = SampleRun(80, [](verify::CaseRecord& r) { r.verdict = Verdict::kCrashed; });
  const RunDiff diff = Diff(base, head);
  const std::string text = DiffMarkdown({base, head, diff});
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 60) << text;
}

}  // namespace
}  // namespace voltcheck::report
