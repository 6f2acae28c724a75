#ifndef VOLTCHECK_VERIFY_COMPARISON_H_
#define VOLTCHECK_VERIFY_COMPARISON_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace voltcheck::verify {

/// What is compared: one stage's outputs, row-major, against fp64 values of the same shape. Either
/// `got` or `got_wide` is empty.
struct Compared {
  int rows = 0;
  int cols = 0;
  std::span<const std::uint16_t> got;  ///< device, fp16 bits
  std::span<const double> want;        ///< reference or oracle
  std::span<const double> budget;      ///< how far `got` may be; empty: no budget figures
  /// Whether an element that is finite on one side only counts as over budget. Off where an earlier
  /// stage may rightly have overflowed, so that the exact value says nothing about this element.
  bool judge_nonfinite = true;
  /// fp32 values (logits). Distances in units in the last place are then those of the values
  /// rounded to half, and nothing overflows at 65,520.
  std::span<const float> got_wide = {};
};

/// A place in a stage's output with the values that were found there.
struct Extremum {
  int row = -1;  ///< -1: nothing was compared
  int col = -1;
  double got = 0;
  double want = 0;
  double budget = 0;
  double magnitude = 0;  ///< the figure itself, e.g. |got - want|
};

/// Bins of the distance in units in the last place: 0, 1, 2, 3-4, 5-8, ..., 2^13+1..2^14, more,
/// non-finite.
inline constexpr std::size_t kUlpBins = 18;
/// The largest distance that bin `bin` holds; -1 for the last two, which have none.
std::int32_t UlpBinUpper(std::size_t bin);

/// The figures of one comparison. Non-finite values are counted, never averaged: every mean is over
/// the elements that are finite on both sides.
struct ComparisonFigures {
  std::uint64_t elements = 0;
  std::uint64_t differing = 0;  ///< got != RN16(want); -0 equals +0 and NaN equals NaN
  std::uint64_t nonfinite_got = 0;
  std::uint64_t nonfinite_want = 0;
  std::uint64_t over_budget = 0;  ///< includes elements where just one side is finite
  Extremum max_abs;               ///< largest |got - want|, first in row-major order
  Extremum max_use;               ///< largest budget use |got - want| / budget, likewise
  double rms = 0;                 ///< of got - want
  double bias = 0;                ///< mean of got - want
  double rms_want = 0;
  double cosine = 1;  ///< 1 when both are zero
  /// Budget use: nearest-rank quantiles, RMS, and signed mean of (got - want) / budget. Where the
  /// budget is 0 the use is 0 or infinite; infinite ones are in the quantiles, not in RMS and mean.
  double use_p999 = 0, use_p99 = 0, use_p50 = 0, use_rms = 0, use_mean = 0;
  double budget_rms_relative = 0;  ///< RMS(budget) / RMS(want): how little the check can prove
  std::array<std::uint64_t, kUlpBins> ulp_histogram{};
};

/// Near 65,520 an infinity is as right as 65,504: a got infinity passes when want +- budget reaches
/// there.
ComparisonFigures Compare(const Compared& compared);

/// Whether `got` may stand for `want`: the rule behind ComparisonFigures::over_budget.
bool WithinBudget(std::uint16_t got, double want, double budget);
/// The same for an fp32 value, which does not overflow at 65,520.
bool LogitWithinBudget(float got, double want, double budget);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_COMPARISON_H_
