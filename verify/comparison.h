#ifndef VOLTCHECK_VERIFY_COMPARISON_H_
#define VOLTCHECK_VERIFY_COMPARISON_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace voltcheck::verify {

/// What is compared: one stage's fp16 outputs, row-major, against fp64 values of the same shape.
struct Compared {
  int rows = 0;
  int cols = 0;
  std::span<const std::uint16_t> got;   ///< device, fp16 bits
  std::span<const double> want;         ///< reference or oracle
  std::span<const double> budget;       ///< how far `got` may be; empty: no budget figures
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

/// The figures of one comparison. Non-finite values are counted, never averaged.
struct ComparisonFigures {
  std::uint64_t elements = 0;
  std::uint64_t differing = 0;      ///< got != RN16(want)
  std::uint64_t nonfinite_got = 0;
  std::uint64_t nonfinite_want = 0;
  std::uint64_t over_budget = 0;    ///< includes elements where just one side is finite
  Extremum max_abs;                 ///< largest |got - want|
  Extremum max_use;                 ///< largest budget use |got - want| / budget
  double rms = 0;
  double bias = 0;                  ///< mean of got - want
  double rms_want = 0;
  double cosine = 0;                ///< 1 when both are zero
  double use_p999 = 0, use_p99 = 0, use_p50 = 0, use_rms = 0, use_mean = 0;
  double budget_rms_relative = 0;   ///< RMS(budget) / RMS(want): how much the check can prove
  /// ulp distances 0, 1, 2, 3-4, 5-8, ..., > 2^14, and non-finite.
  std::array<std::uint64_t, 18> ulp_histogram{};
};

ComparisonFigures Compare(const Compared& compared);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_COMPARISON_H_
