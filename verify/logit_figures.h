#ifndef VOLTCHECK_VERIFY_LOGIT_FIGURES_H_
#define VOLTCHECK_VERIFY_LOGIT_FIGURES_H_

#include <cstdint>
#include <span>
#include <vector>

namespace voltcheck::verify {

inline constexpr int kTopTokens = 5;

/// Two rows of logits over the same vocabulary against each other. Means are over the entries that
/// are finite on both sides.
struct LogitRow {
  std::uint64_t compared = 0;   ///< entries finite on both sides
  std::uint64_t nonfinite = 0;  ///< entries that are not
  std::uint64_t differing = 0;  ///< entries finite on both sides that are not equal
  double max_abs = 0;           ///< of other - base
  int max_abs_column = -1;
  double sum = 0;      ///< of other - base
  double squares = 0;  ///< of (other - base)^2
  int base_argmax = -1;
  int other_argmax = -1;  ///< ties go to the lower column
  /// Where the argmax flipped: how far base puts its own winner above other's. 0 where it did not.
  double flipped_margin = 0;
  int top_overlap = 0;  ///< tokens that are among the kTopTokens best of both
  /// Over base's kTopTokens best: largest |difference| of their log-probabilities.
  double top_log_probability = 0;
  double kl = 0;  ///< KL(softmax(base) || softmax(other)), natural logarithm

  bool finite() const { return nonfinite == 0; }
  bool flipped() const { return base_argmax != other_argmax; }
};

/// `base` and `other` have equal, nonzero length. A row that is not finite throughout has no
/// argmax, top tokens or KL: these stay at their defaults.
LogitRow CompareLogitRow(std::span<const float> base, std::span<const float> other);
LogitRow CompareLogitRow(std::span<const double> base, std::span<const double> other);

/// The mean of values that come one after another, and its standard error: how far the mean of
/// another sample of as many rows may be expected to lie from it.
class RunningMean {
 public:
  void Add(double x);
  std::uint64_t count() const { return count_; }
  double mean() const { return mean_; }
  /// Sample standard deviation over the root of the count; 0 for fewer than two values.
  double Error() const;

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // of the distances to the mean so far
};

/// The figures of many rows. "Over finite rows" leaves out rows with a NaN or an infinity, which
/// `nonfinite_rows` counts. Each `..._error` is the standard error of the figure beside it with
/// rows as the independent sample; those of the KL quantiles are half the distance between the
/// values one standard deviation of the rank below and above.
struct LogitFigures {
  std::uint64_t rows = 0;
  std::uint64_t nonfinite_rows = 0;
  std::uint64_t elements = 0;  ///< entries finite on both sides
  double max_abs = 0;
  std::int64_t max_abs_row = -1;
  int max_abs_column = -1;
  double rms = 0;
  double bias = 0;                 ///< mean of other - base
  std::uint64_t argmax_equal = 0;  ///< finite rows whose argmax is the same
  double flipped_margin = 0;       ///< largest over finite rows; 0 when none flipped
  double top_overlap = 0;          ///< mean share of the kTopTokens best, over finite rows
  double top_log_probability = 0;  ///< largest over finite rows
  double kl_mean = 0, kl_median = 0, kl_p99 = 0, kl_max = 0;  ///< over finite rows, nearest rank
  std::int64_t first_flip = -1;  ///< first row whose greedy token differs; -1: none
  int first_flip_base = -1;      ///< column of base's greedy token there
  int first_flip_other = -1;     ///< and of other's
  std::uint64_t differing = 0;   ///< entries finite on both sides that are not equal
  double rms_error = 0, bias_error = 0;
  double argmax_error = 0;  ///< of argmax_equal / finite rows
  double top_overlap_error = 0;
  double top_log_probability_mean = 0, top_log_probability_error = 0;  ///< over finite rows
  double kl_mean_error = 0, kl_median_error = 0, kl_p99_error = 0;
};

/// Collects rows in order, in memory of eight bytes a row.
class LogitTotals {
 public:
  void Add(const LogitRow& row);
  LogitFigures Finish() const;

 private:
  LogitFigures figures_;
  double sum_ = 0;
  double squares_ = 0;
  std::uint64_t overlap_ = 0;
  RunningMean row_bias_, row_square_, row_overlap_, row_log_probability_, row_kl_;
  int top_places_ = kTopTokens;  ///< fewer in a vocabulary that has fewer
  std::vector<double> kl_;
};

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_LOGIT_FIGURES_H_
