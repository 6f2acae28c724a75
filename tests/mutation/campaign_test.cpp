#include "verify/mutation/campaign.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "verify/mutation/assembler.h"
#include "verify/mutation/trial.h"

namespace voltcheck::mutation {
namespace {

CampaignOptions Small(std::vector<std::string> operators, std::string kernel) {
  CampaignOptions options;
  options.selection.kernel = std::move(kernel);
  options.selection.operators = std::move(operators);
  options.jobs = 1;
  options.kill_only = true;
  options.ptxas = FindAssembler("");
  return options;
}

TEST(Campaign, DoesNotDependOnJobs) {
  CampaignOptions options = Small({"drop-barrier", "move-barrier"}, "moe_segments");
  const Campaign one = RunCampaign(options);
  options.jobs = 3;
  const Campaign three = RunCampaign(options);
  ASSERT_EQ(one.results.size(), three.results.size());
  ASSERT_GE(one.results.size(), 4U);
  for (std::size_t i = 0; i < one.results.size(); ++i) {
    EXPECT_EQ(one.results[i].mutant.id, three.results[i].mutant.id);
    EXPECT_EQ(one.results[i].fate, three.results[i].fate) << one.results[i].mutant.id;
    EXPECT_EQ(one.results[i].reason, three.results[i].reason);
    EXPECT_EQ(one.results[i].cases, three.results[i].cases);
    EXPECT_EQ(one.results[i].rejected, three.results[i].rejected);
  }
  EXPECT_EQ(one.honest.cases, three.honest.cases);
}

TEST(Campaign, CatchesDroppedBarriersByTheirRaces) {
  const Campaign campaign = RunCampaign(Small({"drop-barrier"}, "moe_segments"));
  ASSERT_EQ(campaign.results.size(), 2U);
  for (const MutantResult& result : campaign.results) {
    EXPECT_EQ(result.fate, Fate::kCaught) << result.mutant.what;
    EXPECT_TRUE(result.reason.starts_with("race")) << result.reason;
  }
}

TEST(Campaign, SampleIsAPrefixOfALargerOne) {
  CampaignOptions options = Small({"off-by-one"}, "moe_gather");
  options.sample = 2;
  options.budget_cases = 1;
  const Campaign two = RunCampaign(options);
  options.sample = 3;
  const Campaign three = RunCampaign(options);
  EXPECT_EQ(two.mutants(), 2U);
  EXPECT_EQ(three.mutants(), 3U);
  for (std::size_t i = 0; i < two.results.size(); ++i) {
    EXPECT_EQ(two.results[i].mutant.id, three.results[i].mutant.id);
  }
}

// A counter that goes nowhere: the instruction limit ends it, and that counts as caught.
TEST(Campaign, HangingMutantsAreCaught) {
  Bench bench({});
  const std::vector<Killer> killers = QuickKillers("moe_segments");
  const MutantSet set = FindMutants({{}, "moe_segments", {"drop-predicate"}});
  bool hung = false;
  for (const Mutant& mutant : set.mutants) {
    // A branch back that is always taken.
    if (hung || !mutant.what.starts_with("bra: @%p21 ->")) {
      continue;
    }
    const KernelText& kernel = *set.kernels.at("moe_segments");
    const Trial trial =
        bench.Run(mutant, {kernel.file(), Apply(kernel.text(), mutant.edits), {}}, killers.front());
    hung = std::any_of(trial.record.findings.begin(), trial.record.findings.end(),
                       [](const kernels::Finding& f) { return f.checker == "limit"; });
    EXPECT_FALSE(trial.passed());
  }
  EXPECT_TRUE(hung);
}

TEST(Honest, SmallCasesRaiseNoAlarm) {
  HonestOptions options;
  options.count = 40;
  options.jobs = 1;
  const HonestFigures figures = RunHonestCases(options);
  EXPECT_EQ(figures.cases, 40U);
  EXPECT_EQ(figures.alarms, 0U) << (figures.examples.empty() ? "" : figures.examples.front());
}

}  // namespace
}  // namespace voltcheck::mutation
