#include "verify/stage_judge.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>

#include "reference/arith/half.h"

namespace voltcheck::verify {
namespace {

using reference::Bounded;
using reference::Matrix;

std::string Format(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string Format(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  return line;
}

std::span<const double> Rows(const Matrix<double>& m, std::size_t elements) {
  return {m.data(), elements};
}

Extremum Place(std::size_t index, int cols, double got, double want, double budget) {
  const auto width = static_cast<std::size_t>(cols);
  return {static_cast<int>(index / width),
          static_cast<int>(index % width),
          got,
          want,
          budget,
          std::abs(got - want)};
}

void CompareBits(const StageEvidence& e, StageRecord& record) {
  if (e.model == nullptr) {
    return;
  }
  record.bits_compared = e.got.size();
  for (std::size_t i = 0; i < e.got.size(); ++i) {
    const std::uint16_t want = e.model->bits[i];
    // The sign of zero and NaN payloads of a tensor core are not documented: compared as values.
    if (arith::HalfUlpDistance(e.got[i], want) == 0) {
      continue;
    }
    if (record.bits_differing++ == 0) {
      record.first_difference =
          Place(i, e.cols, arith::HalfToFloat(e.got[i]), arith::HalfToFloat(want), 0);
    }
  }
}

void CompareExact(const StageEvidence& e, StageRecord& record) {
  for (std::size_t i = 0; i < e.exact.size(); ++i) {
    if (e.exact[i] == 0) {
      continue;
    }
    ++record.exact;
    const std::uint16_t want = arith::DoubleToHalf(e.own->value.data()[i]);
    record.exact_differing += arith::HalfUlpDistance(e.got[i], want) != 0 ? 1 : 0;
  }
}

ComparisonFigures CompareEndToEnd(const StageEvidence& e, std::span<const float> reference) {
  const std::size_t n = e.got.size();
  std::vector<double> want(e.end_to_end->value.data(), e.end_to_end->value.data() + n);
  if (e.may_overflow) {
    // Where the fp16 pipeline overflows on the way, the exact value says nothing about the outcome.
    for (std::size_t i = 0; i < n; ++i) {
      if (!std::isfinite(reference[i])) {
        want[i] = std::numeric_limits<double>::quiet_NaN();
      }
    }
  }
  return Compare({e.rows, e.cols, e.got, want, Rows(e.end_to_end->budget, n),
                  /*judge_nonfinite=*/!e.may_overflow});
}

std::string OverBudgetReason(const ComparisonFigures& f, const char* scope) {
  if (f.max_use.magnitude > 1) {
    const Extremum& x = f.max_use;
    return Format(
        "%llu of %llu elements over the budget %s, worst %.3gx at (%d, %d): got %.6g, want %.6g",
        static_cast<unsigned long long>(f.over_budget), static_cast<unsigned long long>(f.elements),
        scope, x.magnitude, x.row, x.col, x.got, x.want);
  }
  return Format("%llu of %llu elements over the budget %s: NaN or infinity on one side only",
                static_cast<unsigned long long>(f.over_budget),
                static_cast<unsigned long long>(f.elements), scope);
}

// Why the comparison proves little, or empty.
std::string MistrustReason(const StageEvidence& e, const StageRecord& record) {
  if (e.got.empty()) {
    return "nothing was computed, so nothing was compared";
  }
  const std::span<const double> want = Rows(e.own->value, e.got.size());
  std::size_t zeros = 0;
  std::size_t nonfinite = 0;
  bool constant = true;
  for (const double w : want) {
    zeros += arith::HalfUlpDistance(arith::DoubleToHalf(w), 0) == 0 ? 1 : 0;
    nonfinite += std::isfinite(w) ? 0 : 1;
    constant = constant && w == want[0];
  }
  const auto n = static_cast<double>(want.size());
  if (static_cast<double>(zeros) > kMaxZeroShare * n) {
    return Format("%.0f%% of the oracle's outputs are zero",
                  100.0 * static_cast<double>(zeros) / n);
  }
  if (static_cast<double>(nonfinite) > kMaxNonfiniteShare * n) {
    return Format("%.0f%% of the oracle's outputs are not finite",
                  100.0 * static_cast<double>(nonfinite) / n);
  }
  if (constant && want.size() > 1) {
    return "all of the oracle's outputs are equal";
  }
  if (e.must_be_exact && record.exact < e.got.size()) {
    return Format(
        "only %llu of %zu outputs are provably exact though the case promises exact inputs",
        static_cast<unsigned long long>(record.exact), e.got.size());
  }
  if (record.bits_compared == 0 && record.own.budget_rms_relative > kMaxRelativeBudget) {
    return Format("the budget is %.3g times the outputs", record.own.budget_rms_relative);
  }
  return "";
}

// The element that a failure should show.
Extremum Worst(const StageRecord& record) {
  if (record.own.over_budget > 0 && record.own.max_use.magnitude > 1) {
    return record.own.max_use;
  }
  if (record.bits_differing > 0) {
    return record.first_difference;
  }
  return record.own.max_abs;
}

FailureArrays CutWindow(const StageEvidence& e, const Extremum& worst) {
  FailureArrays window;
  window.stage = e.stage;
  window.rows = std::min(e.rows, kFailureWindow);
  window.cols = std::min(e.cols, kFailureWindow);
  window.first_row = std::clamp(worst.row - window.rows / 2, 0, e.rows - window.rows);
  window.first_col = std::clamp(worst.col - window.cols / 2, 0, e.cols - window.cols);
  for (int r = window.first_row; r < window.first_row + window.rows; ++r) {
    for (int c = window.first_col; c < window.first_col + window.cols; ++c) {
      const std::size_t i = static_cast<std::size_t>(r) * static_cast<std::size_t>(e.cols) +
                            static_cast<std::size_t>(c);
      window.got.push_back(e.got[i]);
      window.want.push_back(e.own->value.data()[i]);
      window.budget.push_back(e.own->budget.data()[i]);
    }
  }
  return window;
}

std::string FailureReason(const StageEvidence& e, const StageRecord& record) {
  if (record.own.over_budget > 0) {
    return OverBudgetReason(record.own, "on its own input");
  }
  if (record.exact_differing > 0) {
    return Format("%llu of %llu exact outputs differ where the tolerance is 0",
                  static_cast<unsigned long long>(record.exact_differing),
                  static_cast<unsigned long long>(record.exact));
  }
  if (record.bits_differing > 0 && e.model_decides) {
    const Extremum& x = record.first_difference;
    return Format(
        "%llu of %llu elements differ in bits from the order model, first at (%d, %d): got %.8g, "
        "model %.8g",
        static_cast<unsigned long long>(record.bits_differing),
        static_cast<unsigned long long>(record.bits_compared), x.row, x.col, x.got, x.want);
  }
  if (record.end_to_end.over_budget > 0) {
    return OverBudgetReason(record.end_to_end, "end to end");
  }
  return "";
}

}  // namespace

StageRecord JudgeStage(const StageEvidence& e, std::vector<FailureArrays>* failures) {
  StageRecord record;
  record.present = true;
  const std::size_t n = e.got.size();
  record.own = Compare({e.rows, e.cols, e.got, Rows(e.own->value, n), Rows(e.own->budget, n)});
  record.end_to_end = CompareEndToEnd(e, {e.fp32->data(), n});
  const std::vector<double> reference(e.fp32->data(), e.fp32->data() + n);
  record.reference = Compare({e.rows, e.cols, e.got, reference, {}});
  CompareBits(e, record);
  CompareExact(e, record);

  const std::string prefix = std::string(ToString(e.stage)) + ": ";
  if (const std::string why = FailureReason(e, record); !why.empty()) {
    record.verdict = Verdict::kFailed;
    record.reason = prefix + why;
    failures->push_back(CutWindow(e, Worst(record)));
  } else if (const std::string doubt = MistrustReason(e, record); !doubt.empty()) {
    record.verdict = Verdict::kMistrusted;
    record.reason = prefix + doubt;
  } else {
    record.verdict = Verdict::kPassed;
  }
  return record;
}

}  // namespace voltcheck::verify
