#ifndef VOLTCHECK_VERIFY_STAGE_REASON_H_
#define VOLTCHECK_VERIFY_STAGE_REASON_H_

#include <cstdint>
#include <string>

#include "verify/comparison.h"
#include "verify/judge_options.h"
#include "verify/record.h"

namespace voltcheck::verify {

/// What the oracle's outputs of a stage look like.
struct OracleShape {
  Stage stage = Stage::kW13;
  std::uint64_t elements = 0;
  std::uint64_t idle = 0;   ///< zero because no route of their token is computed on this rank
  std::uint64_t zeros = 0;  ///< of the others: that round to a zero half
  std::uint64_t nonfinite = 0;
  bool constant = true;  ///< all but the idle ones are equal
};

/// The comparisons under the limits in force, which scale the budgets.
struct JudgedFigures {
  ComparisonFigures own;
  ComparisonFigures posterior;  ///< elements is 0 without one
  ComparisonFigures end_to_end;
};

/// Why the stage failed under the policy, one phrase with figures and a place; empty when it did
/// not.
std::string FailureReason(const StageRecord& record, const JudgedFigures& judged,
                          const StageLimits& limits, const JudgeOptions& options);

/// Why the comparison proves little, or empty. docs/judgement.md lists the rules.
std::string MistrustReason(const StageRecord& record, const OracleShape& oracle, bool must_be_exact,
                           const JudgeOptions& options);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_STAGE_REASON_H_
