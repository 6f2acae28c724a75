#include "verify/outputs_judge.h"

#include <string>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "verify/case_judge.h"
#include "verify/expected.h"

namespace voltcheck::verify {
namespace {

using kernels::ObservedStage;

void CheckSize(const char* name, std::size_t have, int rows, int cols) {
  const std::size_t want = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  if (have != 0 && have != want) {
    throw BadInput(std::string("outputs: ") + name,
                   "has " + std::to_string(have) + " elements, the case " + std::to_string(rows) +
                       " x " + std::to_string(cols),
                   "give outputs of the same tokens, experts and rank");
  }
}

void CheckSizes(const Problem& problem, const ForeignOutputs& outputs) {
  if (outputs.empty()) {
    throw BadInput("outputs", "hold none of w13, silu, w2, output and logits",
                   "name their tensors so");
  }
  const Case& c = problem.c;
  const Shape& s = c.shape;
  CheckSize("w13", outputs.w13.size(), s.slots(), c.w13_n());
  CheckSize("silu", outputs.silu.size(), s.slots(), s.intermediate);
  CheckSize("w2", outputs.w2.size(), s.slots(), c.w2_n());
  CheckSize("output", outputs.output.size(), s.tokens, s.hidden);
  if (!outputs.logits.empty()) {
    if (problem.head == nullptr) {
      throw BadInput("outputs: logits", "stand beside a fixture without a head",
                     "leave them out, or import the head");
    }
    CheckSize("logits", outputs.logits.size(), s.tokens, problem.head->vocabulary());
  }
}

ObservedStage Observed(const ForeignOutputs& outputs, int rows) {
  ObservedStage observed;
  observed.w13 = outputs.w13;
  observed.silu = outputs.silu;
  observed.w2 = outputs.w2;
  observed.output = outputs.output;
  observed.rows = rows;
  return observed;
}

LogitFigures CompareLogits(const Expected& expected, const std::vector<float>& logits) {
  LogitTotals totals;
  const auto width = static_cast<std::size_t>(expected.fp32_logits.cols());
  for (Eigen::Index t = 0; t < expected.fp32_logits.rows(); ++t) {
    totals.Add(
        CompareLogitRow({expected.fp32_logits.row(t).data(), width},
                        std::span(logits).subspan(static_cast<std::size_t>(t) * width, width)));
  }
  return totals.Finish();
}

}  // namespace

ForeignOutputs CapturedOf(const Problem& problem) {
  const CapturedOutputs& c = *problem.captured;
  return {c.w13, c.silu, c.w2, c.output, c.logits};
}

ForeignVerdict JudgeForeign(const Problem& problem, const ForeignOutputs& outputs,
                            Numerics numerics, const JudgeOptions& options,
                            std::optional<reference::AccumulationOrder> order) {
  CheckSizes(problem, outputs);
  ForeignVerdict verdict;
  const ObservedStage observed = Observed(outputs, problem.c.shape.slots());
  verdict.tactics = FindTactics(problem, observed, numerics);
  Problem judged = problem;
  judged.c.numerics = numerics;
  if (order) {
    verdict.order = *order;
  } else {
    bool all = verdict.tactics.w13.looked_for;
    for (const auto& [match, tactic] : {std::pair(&verdict.tactics.w13, &judged.c.w13),
                                        std::pair(&verdict.tactics.w2, &judged.c.w2)}) {
      if (!match->tactics.empty()) {
        *tactic = match->tactics.front();
      }
      all = all && (!match->looked_for || !match->tactics.empty());
    }
    verdict.order =
        all ? reference::AccumulationOrder::kDeclared : reference::AccumulationOrder::kUndeclared;
  }
  JudgeOptions judge = options;
  judge.order = verdict.order;
  judge.locate = false;  // there is no device to run again

  CaseRecord& record = verdict.record;
  record.c = judged.c;
  record.descriptor = ToDescriptor(judged.c);
  record.active_experts = static_cast<int>(problem.experts.size());
  record.device.kind = "outputs";
  record.device.name = "computed elsewhere";
  record.device.numerics = ToString(numerics);
  const Expected expected = Expect(judged, numerics, judge.order);
  // Nobody knows the exp table of a real V100: where the documented bound leaves two halves open,
  // both are right.
  DeviceUnderTest device;
  device.numerics = numerics;
  device.knows_exp = numerics != Numerics::kV100;
  JudgeCase(judged, expected, observed, device, judge, record);
  if (!outputs.logits.empty()) {
    verdict.logits = CompareLogits(expected, outputs.logits);
  }
  ConcludeFromStages(record);
  return verdict;
}

}  // namespace voltcheck::verify
