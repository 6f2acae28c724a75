#ifndef VOLTCHECK_VERIFY_CASE_JUDGE_H_
#define VOLTCHECK_VERIFY_CASE_JUDGE_H_

#include "fixtures/case/problem.h"
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
};

/// Judges the stages of one case in order, each on what the device itself handed to it, and writes
/// stages, logits and failures of `record`.
void JudgeCase(const Problem& problem, const Expected& expected,
               const kernels::ObservedStage& observed, const DeviceUnderTest& device,
               const JudgeOptions& options, CaseRecord& record);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_CASE_JUDGE_H_
