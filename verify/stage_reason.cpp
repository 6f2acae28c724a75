#include "verify/stage_reason.h"

#include <cstdarg>
#include <cstdio>

#include "verify/stage_judge.h"

namespace voltcheck::verify {
namespace {

std::string Format(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string Format(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  return line;
}

unsigned long long Wide(std::uint64_t value) { return value; }

bool BudgetDecides(Policy policy) { return policy == Policy::kBudget || policy == Policy::kAll; }
bool BitsDecide(Policy policy) { return policy == Policy::kBits || policy == Policy::kAll; }
bool ReferenceDecides(Policy policy) {
  return policy == Policy::kReference || policy == Policy::kAll;
}

std::string OverBudgetReason(const ComparisonFigures& f, double limit, const char* scope) {
  const std::string head =
      Format("%llu of %llu elements over ", Wide(f.over_budget), Wide(f.elements)) +
      (limit == 1 ? std::string("the budget ") : Format("%.4g times the budget ", limit)) + scope;
  if (f.max_use.magnitude > 1) {
    const Extremum& x = f.max_use;
    return head + Format(", worst %.3gx at (%d, %d): got %.6g, want %.6g", x.magnitude, x.row,
                         x.col, x.got, x.want);
  }
  return head + ": NaN or infinity on one side only";
}

std::string ReferenceReason(const StageRecord& record, const StageLimits& limits) {
  const Extremum& x = record.reference.max_abs;
  if (record.reference_over > 0) {
    return Format(
        "%llu of %llu elements farther from the FP32 reference than both budgets allow, largest "
        "difference %.3g at (%d, %d): got %.6g, want %.6g",
        Wide(record.reference_over), Wide(record.reference.elements), x.magnitude, x.row, x.col,
        x.got, x.want);
  }
  // Written so that a NaN figure does not pass.
  if (!(x.magnitude <= limits.reference_max_abs)) {
    return Format("%.6g from the FP32 reference at (%d, %d), limit %.6g: got %.6g, want %.6g",
                  x.magnitude, x.row, x.col, limits.reference_max_abs, x.got, x.want);
  }
  if (!(record.reference.rms <= limits.reference_rms)) {
    return Format("RMS %.6g from the FP32 reference, limit %.6g", record.reference.rms,
                  limits.reference_rms);
  }
  return "";
}

}  // namespace

std::string FailureReason(const StageRecord& record, const JudgedFigures& judged,
                          const StageLimits& limits, const JudgeOptions& options) {
  if (BudgetDecides(options.policy)) {
    if (judged.own.over_budget > 0) {
      return OverBudgetReason(judged.own, limits.own_use, "on its own input");
    }
    if (record.exact_differing > 0) {
      return Format("%llu of %llu exact outputs differ where the tolerance is 0",
                    Wide(record.exact_differing), Wide(record.exact));
    }
  }
  if (BitsDecide(options.policy) && record.bits_differing > 0) {
    const Extremum& x = record.first_difference;
    return Format(
        "%llu of %llu elements differ in bits from the order model, first at (%d, %d): got %.8g, "
        "model %.8g",
        Wide(record.bits_differing), Wide(record.bits_compared), x.row, x.col, x.got, x.want);
  }
  if (BudgetDecides(options.policy)) {
    if (judged.posterior.over_budget > 0) {
      return OverBudgetReason(judged.posterior, limits.own_use, "(a posteriori) on its own input");
    }
    if (judged.end_to_end.over_budget > 0) {
      return OverBudgetReason(judged.end_to_end, limits.end_to_end_use, "end to end");
    }
  }
  return ReferenceDecides(options.policy) ? ReferenceReason(record, limits) : "";
}

std::string MistrustReason(const StageRecord& record, const OracleShape& oracle, bool must_be_exact,
                           const JudgeOptions& options) {
  const std::uint64_t active = oracle.elements - oracle.idle;
  if (active == 0) {
    return "nothing was computed, so nothing was compared";
  }
  const auto n = static_cast<double>(active);
  if (static_cast<double>(oracle.zeros) > kMaxZeroShare * n) {
    return Format("%.0f%% of the oracle's outputs are zero",
                  100.0 * static_cast<double>(oracle.zeros) / n);
  }
  if (static_cast<double>(oracle.nonfinite) > kMaxNonfiniteShare * n) {
    return Format("%.0f%% of the oracle's outputs are not finite",
                  100.0 * static_cast<double>(oracle.nonfinite) / n);
  }
  if (oracle.constant && active > 1) {
    return "all of the oracle's outputs are equal";
  }
  if (must_be_exact && record.exact < oracle.elements) {
    return Format(
        "only %llu of %llu outputs are provably exact though the case promises exact inputs",
        Wide(record.exact), Wide(oracle.elements));
  }
  const bool bits_decided = BitsDecide(options.policy) && record.bits_compared > 0;
  if (options.policy == Policy::kBits) {
    // Logits follow from the output, whose bits decide for them.
    return bits_decided || oracle.stage == Stage::kLogits
               ? ""
               : "the policy is bits, and nothing predicts the bits of this stage";
  }
  if (bits_decided) {
    return "";
  }
  if (record.own.budget_rms_relative > kMaxRelativeBudget) {
    return Format("the budget is %.3g times the outputs", record.own.budget_rms_relative);
  }
  if (static_cast<double>(record.hidden) > kMaxHiddenShare * n) {
    return Format("%.0f%% of the outputs are not larger than their budgets",
                  100.0 * static_cast<double>(record.hidden) / n);
  }
  return "";
}

}  // namespace voltcheck::verify
