// Whole cases on the simulator, and the inputs that a case refuses.
#include "verify/case_runner.h"

#include <gtest/gtest.h>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "fixtures/generate.h"
#include "kernels/stage_runner.h"
#include "verify/promises.h"
#include "verify/sweep.h"

namespace voltcheck::verify {
namespace {

constexpr const char* kCase =
    "h=128,i=64,e=8,k=2,g=32,t=5,layout=shuffled,w13=8x128x64/1,w2=16x128x32/1";

Problem Small(const std::string& more = "") {
  return fixtures::Generate(ParseDescriptor(kCase + more));
}

std::string RefusalOf(const Problem& problem) {
  try {
    RunCase(problem, {});
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kBadInput);
    return error.what();
  }
  return "";
}

TEST(CaseRunner, ARightCasePassesOnEveryStage) {
  const CaseRecord record = RunCase(Small(), {});
  EXPECT_EQ(record.verdict, Verdict::kPassed) << record.reason;
  EXPECT_EQ(record.reason, "");
  EXPECT_GT(record.active_experts, 0);
  EXPECT_EQ(record.device.kind, "simulator");
  EXPECT_FALSE(record.at(Stage::kLogits).present) << "the case has no head";
  for (const Stage stage : {Stage::kW13, Stage::kSilu, Stage::kW2, Stage::kOutput}) {
    const StageRecord& s = record.at(stage);
    EXPECT_TRUE(s.present);
    EXPECT_EQ(s.bits_compared, s.own.elements);
    EXPECT_EQ(s.bits_differing, 0U);
    EXPECT_GT(s.own.max_use.magnitude, 0);
    EXPECT_LE(s.own.max_use.magnitude, 1);
    EXPECT_LE(s.end_to_end.max_use.magnitude, 1);
  }
}

TEST(CaseRunner, IntegerCasesAreExactThroughout) {
  const CaseRecord record = RunCase(Small(",data=integer"), {});
  EXPECT_EQ(record.verdict, Verdict::kPassed) << record.reason;
  EXPECT_EQ(record.at(Stage::kW13).exact, record.at(Stage::kW13).own.elements);
}

TEST(CaseRunner, ReproductionLineNamesDeviceAndSchedule) {
  DeviceOptions options;
  options.schedule = 7;
  EXPECT_EQ(
      RunCase(Small(), options).reproduction,
      "voltcheck replay --case '" + ToDescriptor(Small().c) + "' --device simulator --schedule 7");
}

TEST(CaseRunner, IdsOutsideTheExpertsAreBadInput) {
  Problem problem = Small();
  problem.topk_ids[3] = 8;
  EXPECT_NE(RefusalOf(problem).find("topk_ids[3]: expert id 8 is outside [0, 8)"),
            std::string::npos);
  problem.topk_ids[3] = -1;
  EXPECT_NE(RefusalOf(problem).find("-1"), std::string::npos);
}

TEST(CaseRunner, ANonFiniteReferenceIsBadInputUnlessDeclared) {
  Problem problem = Small();
  problem.hidden[7] = 0x7FFF;
  EXPECT_NE(RefusalOf(problem).find("the FP32 reference: w13 is not finite at ("),
            std::string::npos);
  problem.hidden[7] = 0x7C00;
  EXPECT_NE(RefusalOf(problem), "");
  problem.c.data = Data::kExtreme;
  EXPECT_EQ(RefusalOf(problem), "");
}

TEST(CaseRunner, ZeroActivationsAreMistrusted) {
  Problem problem = Small();
  std::fill(problem.hidden.begin(), problem.hidden.end(), std::uint16_t{0});
  const CaseRecord record = RunCase(problem, {});
  EXPECT_EQ(record.verdict, Verdict::kMistrusted);
  EXPECT_NE(record.reason.find("w13: 100% of the oracle's outputs are zero"), std::string::npos)
      << record.reason;
}

TEST(Promises, EveryIndexBufferIsComparedExactly) {
  const Problem problem = Small();
  const reference::Permutation permutation = reference::Permute(problem);
  kernels::ObservedStage right;
  right.source = permutation.source;
  right.expert = permutation.expert;
  right.offsets = permutation.offsets;
  right.segment_expert = permutation.segment_expert;
  right.rows = permutation.rows;
  right.output = {0};
  EXPECT_TRUE(CheckPromises(problem, permutation, right).empty());
  const auto broken = [&](auto change) {
    kernels::ObservedStage observed = right;
    change(observed);
    return CheckPromises(problem, permutation, observed);
  };
  EXPECT_EQ(broken([](auto& o) { ++o.source[2]; }).size(), 1U);
  EXPECT_EQ(broken([](auto& o) { ++o.expert[0]; }).size(), 1U);
  EXPECT_EQ(broken([](auto& o) { --o.offsets.back(); }).size(), 1U);
  EXPECT_EQ(broken([](auto& o) { o.segment_expert.back() = -1; }).size(), 1U);
  EXPECT_EQ(broken([](auto& o) { o.offsets.pop_back(); }).size(), 1U);
  EXPECT_EQ(broken([](auto& o) { --o.rows; }).size(), 1U);
  const auto repeats =
      broken([](auto& o) { o.violations.push_back("w2 differs between run 1 and run 2"); });
  EXPECT_EQ(PromiseVerdict(repeats), Verdict::kNondeterministic);
  EXPECT_EQ(PromiseVerdict(broken([](auto& o) { o.violations.push_back("a canary"); })),
            Verdict::kFailed);
}

TEST(Sweep, RecordsComeInOrderForAnyNumberOfJobs) {
  const std::vector<Case> cases =
      ParseGrid("h=128;i=64;e=8;k=2;g=32;t=1,33,2,17,3;seed=1,2;w13=8x128x64/1;w2=16x128x32/1");
  const ProblemSource source("");
  for (const int jobs : {1, 4}) {
    std::vector<std::string> seen;
    const Summary summary = RunCases(
        cases, source, {}, jobs, [&](const CaseRecord& r) { seen.push_back(r.descriptor); },
        [] { return false; });
    ASSERT_EQ(seen.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(seen[i], ToDescriptor(cases[i]));
    }
    EXPECT_TRUE(summary.passed());
  }
}

TEST(Sweep, StoppingHandsOverTheFinishedPrefix) {
  const std::vector<Case> cases =
      ParseGrid("h=128;i=64;e=8;k=2;g=32;t=1;seed=1..50;w13=8x128x64/1;w2=16x128x32/1");
  const ProblemSource source("");
  std::size_t seen = 0;
  const Summary summary = RunCases(
      cases, source, {}, 2, [&](const CaseRecord&) { ++seen; }, [&] { return seen >= 5; });
  EXPECT_GE(summary.cases, 5U);
  EXPECT_LT(summary.cases, 50U);
  EXPECT_EQ(summary.cases, seen);
}

TEST(Sweep, AnErrorEndsItAfterTheCasesBeforeWereHandedOver) {
  std::vector<Case> cases =
      ParseGrid("h=128;i=64;e=8;k=2;g=32;t=1;seed=1..6;w13=8x128x64/1;w2=16x128x32/1");
  cases[3].w13.splits = 16;  // more than K has chunks
  const ProblemSource source("");
  std::size_t seen = 0;
  EXPECT_THROW(RunCases(
                   cases, source, {}, 2, [&](const CaseRecord&) { ++seen; }, [] { return false; }),
               Error);
  EXPECT_EQ(seen, 3U);
}

TEST(Summary, NoCaseIsNoPass) {
  Summary summary;
  EXPECT_FALSE(summary.passed());
  summary.Add(Verdict::kPassed);
  EXPECT_TRUE(summary.passed());
  summary.Add(Verdict::kMistrusted);
  EXPECT_FALSE(summary.passed());
}

}  // namespace
}  // namespace voltcheck::verify
