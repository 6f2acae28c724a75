#include "verify/logit_figures.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "reference/exponential.h"

namespace voltcheck::verify {
namespace {

// Columns of the best logits, best first; of equal ones the lower column first.
template <typename Scalar>
std::vector<int> TopColumns(std::span<const Scalar> row) {
  std::vector<int> best;
  for (std::size_t c = 0; c < row.size(); ++c) {
    const auto worse = [&](int column) { return row[static_cast<std::size_t>(column)] < row[c]; };
    const auto at = std::find_if(best.begin(), best.end(), worse);
    if (at != best.end() || best.size() < kTopTokens) {
      best.insert(at, static_cast<int>(c));
      best.resize(std::min<std::size_t>(best.size(), kTopTokens));
    }
  }
  return best;
}

// log(sum(exp(x))), computed from the largest so that nothing overflows.
template <typename Scalar>
double LogSum(std::span<const Scalar> row, Scalar largest) {
  double sum = 0;
  for (const Scalar x : row) {
    sum += reference::Exp(static_cast<double>(x) - static_cast<double>(largest));
  }
  return static_cast<double>(largest) + reference::Log(sum);
}

// The value at rank ceil(rank), from 1, of ascending `values`.
double AtRank(const std::vector<double>& values, double rank) {
  const auto n = static_cast<double>(values.size());
  return values[static_cast<std::size_t>(std::clamp(std::ceil(rank), 1.0, n)) - 1];
}

double NearestRank(const std::vector<double>& values, double p) {
  return AtRank(values, p * static_cast<double>(values.size()));
}

// The rank of a quantile is binomial over samples.
double QuantileError(const std::vector<double>& values, double p) {
  const auto n = static_cast<double>(values.size());
  const double deviation = std::sqrt(n * p * (1 - p));
  return (AtRank(values, n * p + deviation) - AtRank(values, n * p - deviation)) / 2;
}

template <typename Scalar>
LogitRow Compare(std::span<const Scalar> base, std::span<const Scalar> other) {
  assert(!base.empty() && base.size() == other.size());
  LogitRow row;
  for (std::size_t c = 0; c < base.size(); ++c) {
    if (!std::isfinite(base[c]) || !std::isfinite(other[c])) {
      ++row.nonfinite;
      continue;
    }
    const double d = static_cast<double>(other[c]) - static_cast<double>(base[c]);
    ++row.compared;
    row.differing += d != 0 ? 1 : 0;
    row.sum += d;
    row.squares += d * d;
    if (row.max_abs_column < 0 || std::abs(d) > row.max_abs) {
      row.max_abs = std::abs(d);
      row.max_abs_column = static_cast<int>(c);
    }
  }
  if (!row.finite()) {
    return row;
  }
  const std::vector<int> base_top = TopColumns(base);
  const std::vector<int> other_top = TopColumns(other);
  row.base_argmax = base_top.front();
  row.other_argmax = other_top.front();
  const auto base_at = [&](int c) {
    return static_cast<double>(base[static_cast<std::size_t>(c)]);
  };
  const auto other_at = [&](int c) {
    return static_cast<double>(other[static_cast<std::size_t>(c)]);
  };
  row.flipped_margin = base_at(row.base_argmax) - base_at(row.other_argmax);
  const double base_log = LogSum(base, base[static_cast<std::size_t>(row.base_argmax)]);
  const double other_log = LogSum(other, other[static_cast<std::size_t>(row.other_argmax)]);
  for (const int c : base_top) {
    row.top_overlap += std::count(other_top.begin(), other_top.end(), c) > 0 ? 1 : 0;
    row.top_log_probability = std::max(
        row.top_log_probability, std::abs((other_at(c) - other_log) - (base_at(c) - base_log)));
  }
  for (std::size_t c = 0; c < base.size(); ++c) {
    const double log_p = static_cast<double>(base[c]) - base_log;
    const double log_q = static_cast<double>(other[c]) - other_log;
    row.kl += reference::Exp(log_p) * (log_p - log_q);
  }
  row.kl = std::max(row.kl, 0.0);  // it is never negative but by rounding
  return row;
}

}  // namespace

LogitRow CompareLogitRow(std::span<const float> base, std::span<const float> other) {
  return Compare(base, other);
}
LogitRow CompareLogitRow(std::span<const double> base, std::span<const double> other) {
  return Compare(base, other);
}

void RunningMean::Add(double x) {
  ++count_;
  const double distance = x - mean_;
  mean_ += distance / static_cast<double>(count_);
  squares_ += distance * (x - mean_);
}

double RunningMean::Error() const {
  const auto n = static_cast<double>(count_);
  return count_ < 2 ? 0 : std::sqrt(squares_ / (n - 1) / n);
}

void LogitTotals::Add(const LogitRow& row) {
  const auto index = static_cast<std::int64_t>(figures_.rows++);
  figures_.elements += row.compared;
  figures_.differing += row.differing;
  if (row.compared > 0) {
    row_bias_.Add(row.sum / static_cast<double>(row.compared));
    row_square_.Add(row.squares / static_cast<double>(row.compared));
  }
  sum_ += row.sum;
  squares_ += row.squares;
  if (row.max_abs_column >= 0 && (figures_.max_abs_row < 0 || row.max_abs > figures_.max_abs)) {
    figures_.max_abs = row.max_abs;
    figures_.max_abs_row = index;
    figures_.max_abs_column = row.max_abs_column;
  }
  if (!row.finite()) {
    ++figures_.nonfinite_rows;
    return;
  }
  figures_.argmax_equal += row.flipped() ? 0 : 1;
  if (row.flipped() && figures_.first_flip < 0) {
    figures_.first_flip = index;
    figures_.first_flip_base = row.base_argmax;
    figures_.first_flip_other = row.other_argmax;
  }
  figures_.flipped_margin = std::max(figures_.flipped_margin, row.flipped_margin);
  figures_.top_log_probability = std::max(figures_.top_log_probability, row.top_log_probability);
  overlap_ += static_cast<std::uint64_t>(row.top_overlap);
  kl_.push_back(row.kl);
  row_overlap_.Add(row.top_overlap);
  row_log_probability_.Add(row.top_log_probability);
  row_kl_.Add(row.kl);
  top_places_ = static_cast<int>(std::min<std::uint64_t>(kTopTokens, row.compared));
}

LogitFigures LogitTotals::Finish() const {
  LogitFigures f = figures_;
  if (f.elements > 0) {
    const auto n = static_cast<double>(f.elements);
    f.rms = std::sqrt(squares_ / n);
    f.bias = sum_ / n;
    f.bias_error = row_bias_.Error();
    // To first order; sqrt(x) moves by half of what x moves, over sqrt(x).
    f.rms_error = f.rms > 0 ? row_square_.Error() / (2 * f.rms) : 0;
  }
  if (!kl_.empty()) {
    std::vector<double> kl = kl_;
    std::sort(kl.begin(), kl.end());
    const auto n = static_cast<double>(kl.size());
    f.top_overlap = static_cast<double>(overlap_) / (n * top_places_);
    double sum = 0;
    for (const double x : kl) {
      sum += x;
    }
    f.kl_mean = sum / n;
    f.kl_median = NearestRank(kl, 0.5);
    f.kl_p99 = NearestRank(kl, 0.99);
    f.kl_max = kl.back();
    const double agreement = static_cast<double>(f.argmax_equal) / n;
    f.argmax_error = std::sqrt(agreement * (1 - agreement) / n);
    f.top_overlap_error = row_overlap_.Error() / top_places_;
    f.top_log_probability_mean = row_log_probability_.mean();
    f.top_log_probability_error = row_log_probability_.Error();
    f.kl_mean_error = row_kl_.Error();
    f.kl_median_error = QuantileError(kl, 0.5);
    f.kl_p99_error = QuantileError(kl, 0.99);
  }
  return f;
}

}  // namespace voltcheck::verify
