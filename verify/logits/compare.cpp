#include "verify/logits/compare.h"

#include <sys/mman.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "fixtures/case/error.h"

namespace voltcheck::logits {
namespace {

// Bytes of one side that are read before the next batch begins. It has no influence on results.
constexpr std::uint64_t kBatchBytes = std::uint64_t{32} << 20;

std::string ShapeOf(const Capture& c) {
  return "[" + std::to_string(c.rows) + ", " + std::to_string(c.vocabulary) + "]";
}

// Tells the kernel what will be read next, or that rows are not needed any more.
void Advise(const Capture& c, std::uint64_t first, std::uint64_t last, int advice) {
  if (!c.mapped || first >= last) {
    return;
  }
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(c.row(first).data) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(c.row(last).data);
  // A page that the next rows begin in stays; given back or not, it reads the same.
  const std::uintptr_t length = advice == MADV_DONTNEED ? (end & ~(page - 1)) - begin : end - begin;
  if (length > 0 && length <= end) {
    madvise(reinterpret_cast<void*>(begin), length, advice);
  }
}

}  // namespace

Comparison CompareCaptures(const Capture& base, const Capture& other,
                           const CompareOptions& options) {
  if (base.rows != other.rows || base.vocabulary != other.vocabulary) {
    throw BadInput(
        other.name,
        "holds logits " + ShapeOf(other) + ", but " + base.name + " holds " + ShapeOf(base),
        "compare captures of the same rows and vocabulary");
  }
  std::optional<tbb::global_control> limit;
  if (options.jobs > 0) {
    limit.emplace(tbb::global_control::max_allowed_parallelism,
                  static_cast<std::size_t>(options.jobs));
  }
  const std::uint64_t row_bytes =
      base.vocabulary * std::max(BytesOf(base.type), BytesOf(other.type));
  // A whole number of rows for a few threads each, however long a row is.
  const std::uint64_t batch = std::clamp<std::uint64_t>(kBatchBytes / row_bytes, 16, 1 << 16);
  Comparison comparison;
  verify::LogitTotals totals;
  std::vector<verify::LogitRow> rows;
  for (std::uint64_t first = 0; first < base.rows; first += batch) {
    const std::uint64_t last = std::min(first + batch, base.rows);
    const std::uint64_t after = std::min(last + batch, base.rows);
    Advise(base, last, after, MADV_WILLNEED);
    Advise(other, last, after, MADV_WILLNEED);
    rows.resize(last - first);
    tbb::parallel_for(std::uint64_t{0}, last - first, [&](std::uint64_t i) {
      rows[i] = CompareRows(base.row(first + i), other.row(first + i), base.vocabulary);
    });
    for (std::uint64_t i = 0; i < rows.size(); ++i) {
      totals.Add(rows[i]);
      if (!rows[i].finite()) {
        ++comparison.bad.count;
        if (comparison.bad.first.size() < BadRows::kNamed) {
          comparison.bad.first.push_back(first + i);
        }
      }
      if (options.row) {
        options.row(first + i, rows[i]);
      }
    }
    Advise(base, first, last, MADV_DONTNEED);
    Advise(other, first, last, MADV_DONTNEED);
    if (options.progress && !options.progress(last) && last < base.rows) {
      comparison.figures = totals.Finish();
      return comparison;
    }
  }
  comparison.figures = totals.Finish();
  comparison.complete = true;
  return comparison;
}

}  // namespace voltcheck::logits
