#ifndef VOLTCHECK_VERIFY_JUDGE_OPTIONS_H_
#define VOLTCHECK_VERIFY_JUDGE_OPTIONS_H_

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "reference/budget.h"
#include "verify/record.h"

namespace voltcheck::verify {

/// Which of the independent tests decide a stage's verdict. All of them are computed and recorded
/// whatever the policy; promises, checkers and crashes always decide.
enum class Policy {
  kBits,       ///< the order-faithful model alone
  kBudget,     ///< the proven budgets alone, exact inputs included
  kReference,  ///< the distance to the FP32 reference alone
  kAll,        ///< all of them
};
std::string_view ToString(Policy policy);
/// Throws Error (status 2) that lists the names.
Policy ParsePolicy(std::string_view text);

/// Text of the order: "declared" or "undeclared".
std::string_view ToString(reference::AccumulationOrder order);
/// Throws Error (status 2) that lists the names.
reference::AccumulationOrder ParseOrder(std::string_view text);

/// How much a stage may differ. The defaults are strict: a proven budget may be used up, never
/// exceeded, and the distance to the FP32 reference has no other limit than what the budget proves.
struct StageLimits {
  double own_use = 1;         ///< largest budget use on the device's own input
  double end_to_end_use = 1;  ///< largest budget use from the case's inputs
  double reference_max_abs = std::numeric_limits<double>::infinity();  ///< of |got - fp32|
  double reference_rms = std::numeric_limits<double>::infinity();      ///< of got - fp32
  bool operator==(const StageLimits&) const = default;
};

/// The names of the limits as command lines and configurations have them: own-use, end-to-end-use,
/// reference-max-abs, reference-rms.
std::vector<std::string_view> LimitNames();
/// The limit of that name, or null.
double* FindLimit(StageLimits& limits, std::string_view name);

/// How cases are judged. Everything here but `breakdowns` and `locate`, which add figures, can
/// change a verdict.
struct JudgeOptions {
  Policy policy = Policy::kAll;
  /// Whether the kernels follow the contract's order of summation and arithmetic. Undeclared: no
  /// bits are compared, and the budget is the one that holds for any order.
  reference::AccumulationOrder order = reference::AccumulationOrder::kDeclared;
  std::array<StageLimits, kStages.size()> limits;
  /// Compute the head in fp64 instead of fp32, on the device's output and on the FP32 reference's,
  /// so that its own rounding is out of the logit figures.
  bool head_fp64 = false;
  /// Keep the figures of every token, expert and tile of each stage, not only of failed ones.
  bool breakdowns = false;
  /// Find the k-step at which a differing element leaves the model, by running the device again on
  /// shortened inputs: about ten more runs for each GEMM that differs.
  bool locate = false;
  /// A case for which the kernels have no plan throws Error (status 2) instead of being skipped.
  bool plan_or_throw = false;

  const StageLimits& at(Stage stage) const { return limits[static_cast<std::size_t>(stage)]; }
  StageLimits& at(Stage stage) { return limits[static_cast<std::size_t>(stage)]; }
};

/// The options that differ from the default as a command line takes them, " --order undeclared
/// --w13.own-use 0.5"; empty for the default. `breakdowns`, `locate` and `plan_or_throw` are not
/// in it.
std::string CommandLine(const JudgeOptions& options);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_JUDGE_OPTIONS_H_
