#ifndef VOLTCHECK_VERIFY_OUTPUTS_JUDGE_H_
#define VOLTCHECK_VERIFY_OUTPUTS_JUDGE_H_

#include <optional>
#include <span>
#include <vector>

#include "fixtures/case/problem.h"
#include "kernels/stage_runner.h"
#include "verify/judge_options.h"
#include "verify/record.h"
#include "verify/tactic_search.h"

namespace voltcheck::verify {

/// Stage outputs that were computed elsewhere, or captured: any of them, those that are missing are
/// empty. Rows in the operator's sorted order, W13 in the column layout of the case, halves.
struct ForeignOutputs {
  std::vector<std::uint16_t> w13;     ///< [S, 2I]
  std::vector<std::uint16_t> silu;    ///< [S, I]
  std::vector<std::uint16_t> w2;      ///< [S, H]
  std::vector<std::uint16_t> output;  ///< [T, H]
  std::vector<float> logits;          ///< [T, V]; compared with the FP32 reference's, never judged
  bool empty() const {
    return w13.empty() && silu.empty() && w2.empty() && output.empty() && logits.empty();
  }
};
/// The captured outputs of a problem, which must have some.
ForeignOutputs CapturedOf(const Problem& problem);

/// How foreign outputs did.
struct ForeignVerdict {
  CaseRecord record;
  TacticMatches tactics;
  /// Whether the order was declared for the judgement: asked for, or a tactic was found for every
  /// GEMM that could tell.
  reference::AccumulationOrder order = reference::AccumulationOrder::kUndeclared;
  std::optional<LogitFigures> logits;  ///< of the foreign logits, where the case has a head
};

/// Judges foreign outputs as a device's are judged: each stage on the foreign input of the stage
/// where that is there, else from the case's inputs, and end to end. `order`: as JudgeOptions says;
/// nothing: the tactics are looked for first, and the order is declared, with them, when each GEMM
/// that could tell has one; otherwise it is undeclared. `numerics` is the arithmetic of what
/// computed them. Throws Error (status 2) for an empty or wrongly sized set of outputs.
ForeignVerdict JudgeForeign(const Problem& problem, const ForeignOutputs& outputs,
                            Numerics numerics, const JudgeOptions& options,
                            std::optional<reference::AccumulationOrder> order);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_OUTPUTS_JUDGE_H_
