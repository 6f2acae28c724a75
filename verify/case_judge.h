#ifndef VOLTCHECK_VERIFY_CASE_JUDGE_H_
#define VOLTCHECK_VERIFY_CASE_JUDGE_H_

#include <array>

#include "fixtures/case/declared_order.h"
#include "fixtures/case/problem.h"
#include "kernels/implementation.h"
#include "kernels/stage_runner.h"
#include "verify/departure.h"
#include "verify/expected.h"
#include "verify/judge_options.h"
#include "verify/record.h"

namespace voltcheck::verify {

/// What the judge has to know about the device that gave the outputs.
struct DeviceUnderTest {
  Numerics numerics = Numerics::kV100;  ///< arithmetic that it really has
  /// Whether reference/arith has its exp table: true on the simulator, which uses it.
  bool knows_exp = true;
  /// Runs the launches of one GEMM on another input, for locating a departure; null: not possible.
  RunGemm run_gemm;

  /// A part that somebody else's code computed, and how it says that it adds.
  struct Part {
    bool foreign = false;
    DeclaredOrder order;
  };
  std::array<Part, kernels::kParts> parts;  ///< W13, SiLU, W2, reduction
};

/// Judges the stages of one case in order, each on what the device itself handed to it, and writes
/// stages, logits and failures of `record`.
void JudgeCase(const Problem& problem, const Expected& expected,
               const kernels::ObservedStage& observed, const DeviceUnderTest& device,
               const JudgeOptions& options, CaseRecord& record);

/// The verdict of a case of which nothing but its stages' verdicts is known: the gravest of them,
/// with its reason; untested when no stage is there.
void ConcludeFromStages(CaseRecord& record);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_CASE_JUDGE_H_
