#include "verify/stage_judge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "reference/arith/half.h"
#include "verify/stage_reason.h"

namespace voltcheck::verify {
namespace {

using reference::Bounded;
using reference::Matrix;

std::size_t Elements(const StageEvidence& e) {
  return static_cast<std::size_t>(e.rows) * static_cast<std::size_t>(e.cols);
}

double Got(const StageEvidence& e, std::size_t i) {
  return e.got_logits.empty() ? arith::HalfToFloat(e.got[i]) : e.got_logits[i];
}

ComparisonFigures CompareWith(const StageEvidence& e, std::span<const double> want,
                              std::span<const double> budget, bool judge_nonfinite = true) {
  return Compare({e.rows, e.cols, e.got, want, budget, judge_nonfinite, e.got_logits});
}

std::span<const double> Rows(const Matrix<double>& m, std::size_t elements) {
  return {m.data(), elements};
}

Extremum Place(std::size_t index, int cols, double got, double want) {
  const auto width = static_cast<std::size_t>(cols);
  return {static_cast<int>(index / width),
          static_cast<int>(index % width),
          got,
          want,
          0,
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
    if (e.leaves_open && e.leaves_open(i)) {
      ++record.bits_open;
    } else if (record.bits_differing++ == 0) {
      record.first_difference =
          Place(i, e.cols, arith::HalfToFloat(e.got[i]), arith::HalfToFloat(want));
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

// The end-to-end oracle's values. Where the fp16 pipeline overflows on the way, the exact value
// says nothing about the outcome.
std::vector<double> EndToEndWant(const StageEvidence& e) {
  const std::size_t n = Elements(e);
  std::vector<double> want(e.end_to_end->value.data(), e.end_to_end->value.data() + n);
  for (std::size_t i = 0; e.may_overflow && i < n; ++i) {
    if (!std::isfinite(e.fp32->data()[i])) {
      want[i] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return want;
}

// An element may be as far from the FP32 reference as its budget and the reference's own distance
// to the oracle allow together.
void CompareReference(const StageEvidence& e, std::span<const double> reference,
                      StageRecord& record) {
  record.reference = CompareWith(e, reference, {});
  constexpr double kRoundings = 1 + 0x1p-40;  // of the sum and the differences themselves
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double want = e.end_to_end->value.data()[i];
    const double allowed =
        (e.end_to_end->budget.data()[i] + std::abs(reference[i] - want)) * kRoundings;
    const bool finite =
        std::isfinite(Got(e, i)) && std::isfinite(reference[i]) && std::isfinite(want);
    if (!finite && e.may_overflow) {
      continue;
    }
    const bool within = e.got_logits.empty()
                            ? WithinBudget(e.got[i], reference[i], allowed)
                            : LogitWithinBudget(e.got_logits[i], reference[i], allowed);
    record.reference_over += within ? 0 : 1;
  }
}

// The elements that writing zeros would get right.
std::uint64_t CountHidden(const StageEvidence& e, const JudgeOptions& options) {
  // The logits' own budget is that of the host's fp32 sums; what judges the device is the other.
  const bool end_to_end = e.stage == Stage::kLogits || options.policy == Policy::kReference;
  const Bounded& bound = end_to_end ? *e.end_to_end : *e.own;
  std::uint64_t hidden = 0;
  for (std::size_t i = 0; i < Elements(e); ++i) {
    double budget = bound.budget.data()[i];
    if (!end_to_end && e.posterior != nullptr) {
      budget = std::min(budget, e.posterior->budget.data()[i]);
    }
    // A zero that must come out as zero hides nothing more: the share of zeros has its own limit.
    const double want = std::abs(bound.value.data()[i]);
    hidden += want > 0 && want <= budget ? 1 : 0;
  }
  return hidden;
}

// What says where differences lie, and a name for the bits.
void AddBreakdown(const StageEvidence& e, std::span<const double> reference,
                  std::span<const double> end_to_end, StageRecord& record) {
  const std::size_t n = Elements(e);
  std::vector<double> got(n);
  for (std::size_t i = 0; i < n; ++i) {
    got[i] = Got(e, i);
  }
  std::vector<int> tokens(e.row_token.begin(), e.row_token.end());
  if (tokens.empty()) {
    tokens.resize(static_cast<std::size_t>(e.rows));
    std::iota(tokens.begin(), tokens.end(), 0);
  }
  record.breakdown = MakeBreakdown(e.rows, e.cols, got, reference, tokens, e.row_expert);
  for (std::size_t p = 0; p < kParts.size(); ++p) {
    record.worst_part[p] = WorstOf(record.breakdown[p]);
  }
  record.profile = MakeStageProfile({e.rows, e.cols, got, Rows(e.own->value, n),
                                     Rows(e.own->budget, n), end_to_end, e.row_expert});
  record.hash = e.got_logits.empty() ? HashOutput(std::as_bytes(e.got.first(n)))
                                     : HashOutput(std::as_bytes(e.got_logits.first(n)));
}

// The element that a failure should show.
Extremum Worst(const StageRecord& record) {
  if (record.own.over_budget > 0 && record.own.max_use.magnitude > 1) {
    return record.own.max_use;
  }
  if (record.bits_differing > 0) {
    return record.first_difference;
  }
  if (record.end_to_end.over_budget > 0 && record.end_to_end.max_use.magnitude > 1) {
    return record.end_to_end.max_use;
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
  // A logit is judged by what the device's output is allowed.
  const Bounded& bound = e.stage == Stage::kLogits ? *e.end_to_end : *e.own;
  for (int r = window.first_row; r < window.first_row + window.rows; ++r) {
    for (int c = window.first_col; c < window.first_col + window.cols; ++c) {
      const std::size_t i = static_cast<std::size_t>(r) * static_cast<std::size_t>(e.cols) +
                            static_cast<std::size_t>(c);
      if (e.got_logits.empty()) {
        window.got.push_back(e.got[i]);
      } else {
        window.got_logits.push_back(e.got_logits[i]);
      }
      window.want.push_back(bound.value.data()[i]);
      window.budget.push_back(bound.budget.data()[i]);
    }
  }
  return window;
}

// The share of the outputs that the oracle says little with.
OracleShape ShapeOf(const StageEvidence& e) {
  OracleShape shape;
  shape.stage = e.stage;
  const std::span<const double> want = Rows(e.own->value, Elements(e));
  shape.elements = want.size();
  const double* first = nullptr;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!e.idle_rows.empty() && e.idle_rows[i / static_cast<std::size_t>(e.cols)] != 0) {
      ++shape.idle;
      continue;
    }
    const double w = want[i];
    first = first == nullptr ? &want[i] : first;
    const bool is_zero = arith::HalfUlpDistance(arith::DoubleToHalf(w), 0) == 0;
    shape.zeros += is_zero && !e.sparse_by_design ? 1 : 0;
    shape.nonfinite += std::isfinite(w) ? 0 : 1;
    shape.constant = shape.constant && w == *first;
  }
  return shape;
}

// The figures under a limit other than 1: which elements use more of their budget than that.
ComparisonFigures UnderLimit(const StageEvidence& e, const Bounded& bound,
                             std::span<const double> want, double limit,
                             const ComparisonFigures& figures, bool judge_nonfinite) {
  if (limit == 1) {
    return figures;
  }
  std::vector<double> budget(bound.budget.data(), bound.budget.data() + Elements(e));
  for (double& b : budget) {
    b *= limit;
  }
  return CompareWith(e, want, budget, judge_nonfinite);
}

}  // namespace

StageRecord JudgeStage(const StageEvidence& e, std::vector<FailureArrays>* failures,
                       const JudgeOptions& options) {
  StageRecord record;
  record.present = true;
  const std::size_t n = Elements(e);
  const std::span<const double> own_want = Rows(e.own->value, n);
  const std::vector<double> end_to_end_want = EndToEndWant(e);
  const std::vector<double> reference(e.fp32->data(), e.fp32->data() + n);
  record.own = CompareWith(e, own_want, Rows(e.own->budget, n));
  if (e.posterior != nullptr) {
    record.posterior = CompareWith(e, Rows(e.posterior->value, n), Rows(e.posterior->budget, n));
  }
  record.end_to_end =
      CompareWith(e, end_to_end_want, Rows(e.end_to_end->budget, n), !e.may_overflow);
  CompareReference(e, reference, record);
  CompareBits(e, record);
  CompareExact(e, record);
  record.hidden = CountHidden(e, options);
  AddBreakdown(e, reference, end_to_end_want, record);

  const StageLimits& limits = options.at(e.stage);
  const JudgedFigures judged{UnderLimit(e, *e.own, own_want, limits.own_use, record.own, true),
                             e.posterior == nullptr
                                 ? ComparisonFigures()
                                 : UnderLimit(e, *e.posterior, Rows(e.posterior->value, n),
                                              limits.own_use, record.posterior, true),
                             UnderLimit(e, *e.end_to_end, end_to_end_want, limits.end_to_end_use,
                                        record.end_to_end, !e.may_overflow)};
  const std::string prefix = std::string(ToString(e.stage)) + ": ";
  if (const std::string why = FailureReason(record, judged, limits, options); !why.empty()) {
    record.verdict = Verdict::kFailed;
    record.reason = prefix + why;
    failures->push_back(CutWindow(e, Worst(record)));
  } else if (const std::string doubt =
                 e.nothing_to_compute
                     ? ""
                     : MistrustReason(record, ShapeOf(e), e.must_be_exact, options);
             !doubt.empty()) {
    record.verdict = Verdict::kMistrusted;
    record.reason = prefix + doubt;
  } else {
    record.verdict = Verdict::kPassed;
  }
  if (record.verdict != Verdict::kFailed && !options.breakdowns) {
    record.breakdown = {};
  }
  return record;
}

}  // namespace voltcheck::verify
