// Outputs computed elsewhere: judge, and the captured outputs of replayed fixtures. "Elsewhere" is
// our own simulator with tactics that the judge is not told.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "fixtures/case/descriptor.h"
#include "fixtures/fixture_export.h"
#include "fixtures/generate.h"
#include "kernels/kernel_set.h"
#include "kernels/plan.h"
#include "kernels/stage_runner.h"
#include "verify/device_options.h"
#include "verify/outputs_judge.h"

namespace voltcheck::tools {
namespace {

using verify::ForeignOutputs;
using verify::ForeignVerdict;

constexpr const char* kCase =
    "h=256,i=128,e=4,k=2,g=32,t=3,seed=9,w13=16x128x32/4,w2=8x128x64/2,cols=halves";

kernels::ObservedStage RunOnSimulator(const Problem& problem) {
  const auto device = verify::MakeDevice({}, problem.c.numerics);
  kernels::KernelSet set(*device, {});
  return kernels::RunPlan(*device, set, kernels::MakePlan(problem), problem.c.shape, {});
}

// One run for all tests.
const Problem& TheProblem() {
  static const Problem problem = fixtures::Generate(ParseDescriptor(kCase));
  return problem;
}
const ForeignOutputs& TheOutputs() {
  static const ForeignOutputs outputs = [] {
    const kernels::ObservedStage o = RunOnSimulator(TheProblem());
    return ForeignOutputs{o.w13, o.silu, o.w2, o.output, {}};
  }();
  return outputs;
}

bool Holds(const std::vector<Tactic>& tactics, const Tactic& tactic) {
  return std::find(tactics.begin(), tactics.end(), tactic) != tactics.end();
}

ForeignVerdict JudgeOf(const ForeignOutputs& outputs) {
  return verify::JudgeForeign(TheProblem(), outputs, Numerics::kV100, {}, std::nullopt);
}

TEST(Foreign, TheTacticIsFoundFromWhateverIsThere) {
  const ForeignOutputs& all = TheOutputs();
  const ForeignOutputs sets[] = {all,
                                 {{}, all.silu, {}, all.output, {}},
                                 {{}, {}, all.w2, {}, {}},
                                 {{}, {}, {}, all.output, {}}};
  for (const ForeignOutputs& outputs : sets) {
    const ForeignVerdict verdict = JudgeOf(outputs);
    EXPECT_TRUE(Holds(verdict.tactics.w13.tactics, TheProblem().c.w13));
    EXPECT_TRUE(Holds(verdict.tactics.w2.tactics, TheProblem().c.w2));
    EXPECT_FALSE(Holds(verdict.tactics.w13.tactics, ParseTactic("16x128x32/1")));
    EXPECT_EQ(verdict.order, reference::AccumulationOrder::kDeclared);
    EXPECT_EQ(verdict.record.verdict, verify::Verdict::kPassed) << verdict.record.reason;
  }
  const ForeignVerdict only_w13 = JudgeOf({all.w13, {}, {}, {}, {}});
  EXPECT_TRUE(Holds(only_w13.tactics.w13.tactics, TheProblem().c.w13));
  EXPECT_FALSE(only_w13.tactics.w2.looked_for);
}

TEST(Foreign, AnotherOrderIsJudgedByTheBudgetOfAnyOrder) {
  ForeignOutputs outputs = TheOutputs();
  outputs.w13[5] = static_cast<std::uint16_t>(outputs.w13[5] ^ 1);
  outputs.silu.clear();
  outputs.w2.clear();
  const ForeignVerdict verdict = JudgeOf(outputs);
  EXPECT_TRUE(verdict.tactics.w13.tactics.empty());
  EXPECT_EQ(verdict.order, reference::AccumulationOrder::kUndeclared);
  const verify::StageRecord& w13 = verdict.record.at(verify::Stage::kW13);
  EXPECT_EQ(w13.bits_compared, 0u);
  EXPECT_EQ(w13.posterior.elements, 0u);
  outputs.w13[5] = 0x7000;
  EXPECT_EQ(JudgeOf(outputs).record.verdict, verify::Verdict::kFailed);
}

TEST(Foreign, AStageWithoutItsInputIsJudgedFromTheCase) {
  ForeignOutputs outputs;
  outputs.output = TheOutputs().output;
  outputs.output[300] = 0x4900;  // 10
  const ForeignVerdict verdict = JudgeOf(outputs);
  EXPECT_EQ(verdict.record.verdict, verify::Verdict::kFailed);
  EXPECT_FALSE(verdict.record.at(verify::Stage::kW2).present);
  EXPECT_EQ(verdict.record.at(verify::Stage::kOutput).end_to_end.over_budget, 1u);
}

// A fixture with the outputs as captures, and the commands about it.
class ForeignCommand : public CommandTest {
 protected:
  ForeignCommand() {
    fixture_.problem = TheProblem();
    auto captured = std::make_shared<CapturedOutputs>();
    captured->w13 = TheOutputs().w13;
    captured->silu = TheOutputs().silu;
    captured->w2 = TheOutputs().w2;
    captured->output = TheOutputs().output;
    fixture_.problem.captured = captured;
    Write("whole");
    captured->output[7] = 0x7800;
    Write("spoilt");
    fixtures::ExportFixture(fixtures::ReadFixture(Path("whole.h5")), Path("whole.safetensors"));
    fixtures::ExportFixture(fixtures::ReadFixture(Path("spoilt.h5")), Path("spoilt.safetensors"));
  }
  void Write(const std::string& name) { fixtures::WriteFixture(fixture_, Path(name + ".h5")); }
  nlohmann::json Json(const std::vector<std::string>& words, int status) const {
    const Outcome outcome = Run(words);
    EXPECT_EQ(outcome.status, status) << outcome.out << outcome.err;
    return nlohmann::json::parse(outcome.out, nullptr, false);
  }

  fixtures::Fixture fixture_;
};

TEST_F(ForeignCommand, Judge) {
  const nlohmann::json good =
      Json({"judge", "whole.h5", "whole.safetensors", "--json", "--out", "run.h5"}, 0);
  EXPECT_EQ(good["schema"], "voltcheck.judge/1");
  EXPECT_EQ(good["cases"][0]["verdict"], "passed");
  EXPECT_EQ(good["summary"]["foreign"]["order"], "declared");
  EXPECT_NE(Run({"inspect", "run.h5"}).out.find("device_kind: outputs"), std::string::npos);
  const nlohmann::json bad = Json({"judge", "whole.h5", "spoilt.safetensors", "--json"}, 1);
  EXPECT_EQ(bad["cases"][0]["stages"]["output"]["verdict"], "failed");
  EXPECT_EQ(bad["cases"][0]["stages"]["w2"]["verdict"], "passed");
  const Outcome named = Run({"judge", "whole.h5", "whole.safetensors", "--w13", "16x128x32/1"});
  EXPECT_EQ(named.status, 1);
  EXPECT_NE(named.out.find("w13: bit for bit"), std::string::npos) << named.out;
  ExpectRefusal(Run({"judge", "whole.h5"}), 2, "needs a fixture and a file of outputs");
}

TEST_F(ForeignCommand, ReplayOfAFolderSaysWhichTacticsReproduceTheCapture) {
  std::filesystem::create_directory(Path("layers"));
  std::filesystem::rename(Path("whole.h5"), Path("layers/whole.h5"));
  std::filesystem::rename(Path("spoilt.h5"), Path("layers/spoilt.h5"));
  const nlohmann::json json =
      Json({"replay", "layers", "--tactics", "16x128x32/4,8x128x64/2", "--json"}, 1);
  EXPECT_EQ(json["summary"]["fixtures"].size(), 2u);
  const nlohmann::json& captures = json["summary"]["captures"];
  ASSERT_EQ(captures.size(), 2u);
  EXPECT_EQ(captures[0]["fixture"], "spoilt");
  EXPECT_EQ(captures[0]["verdict"], "failed");
  EXPECT_TRUE(captures[0]["equal_to_device"]["output"].empty());
  EXPECT_EQ(captures[1]["verdict"], "passed");
  EXPECT_EQ(captures[1]["equal_to_device"]["w13"][0], "16x128x32/4");
  const auto tactics = captures[1]["foreign"]["w13"]["tactics"].get<std::vector<std::string>>();
  EXPECT_NE(std::find(tactics.begin(), tactics.end(), "16x128x32/4"), tactics.end());
  const Outcome text = Run({"replay", "layers", "--tactics", "16x128x32/4"});
  EXPECT_NE(text.out.find("fixtures, worst first"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("captured outputs of whole: passed (order declared)"), std::string::npos);
  EXPECT_NE(text.out.find("device equal with 16x128x32/4"), std::string::npos);
}

}  // namespace
}  // namespace voltcheck::tools
