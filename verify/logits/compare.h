#ifndef VOLTCHECK_VERIFY_LOGITS_COMPARE_H_
#define VOLTCHECK_VERIFY_LOGITS_COMPARE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "verify/logit_figures.h"
#include "verify/logits/capture.h"

namespace voltcheck::logits {

/// Rows with a value that is NaN or infinite: how many, and the first few.
struct BadRows {
  static constexpr std::size_t kNamed = 8;
  std::uint64_t count = 0;
  std::vector<std::uint64_t> first;
};

struct Comparison {
  verify::LogitFigures figures;
  BadRows bad;
  bool complete = false;  ///< false: stopped
};

struct CompareOptions {
  int jobs = 0;  ///< threads, 0: one per core; never changes a bit
  /// Called with each row in order.
  std::function<void(std::uint64_t row, const verify::LogitRow& figures)> row = {};
  /// Called after each batch with the number of rows done; false stops.
  std::function<bool(std::uint64_t done)> progress = {};
};

/// Compares two captures of equal shape row by row. A batch of rows at a time is read and its pages
/// are given back, so memory holds two batches and eight bytes a row, whatever the size. Throws
/// Error (status 2) for captures of different shapes.
Comparison CompareCaptures(const Capture& base, const Capture& other,
                           const CompareOptions& options);

}  // namespace voltcheck::logits

#endif  // VOLTCHECK_VERIFY_LOGITS_COMPARE_H_
