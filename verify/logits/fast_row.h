#ifndef VOLTCHECK_VERIFY_LOGITS_FAST_ROW_H_
#define VOLTCHECK_VERIFY_LOGITS_FAST_ROW_H_

#include <cstddef>
#include <string_view>

#include "verify/logit_figures.h"

namespace voltcheck::logits {

/// How a capture stores its values.
enum class Type { kF16, kBf16, kF32 };
std::string_view ToString(Type type);
constexpr std::size_t BytesOf(Type type) { return type == Type::kF32 ? 4 : 2; }

/// One row of a capture: `count` values in little-endian order, at any alignment.
struct RowView {
  const std::byte* data = nullptr;
  Type type = Type::kF16;
};

/// The figures that verify::CompareLogitRow gives, for `count` >= 1 pairs, in vectors. Its sums run
/// over sixteen interleaved lanes of fp32 that go into fp64 every kChunk values, without fused
/// operations, so the result has the same bits on every machine and for every vector width. KL and
/// log-probability differences are sums of small terms, not differences of large ones, so they keep
/// about six digits however close the rows are. A row with a value that is not finite goes to
/// CompareLogitRow.
verify::LogitRow CompareRows(RowView base, RowView other, std::size_t count);

/// Values that are summed in fp32 before the sums go into fp64.
inline constexpr std::size_t kChunk = 1024;

/// The values as floats; exact.
void Widen(RowView row, std::size_t first, std::size_t count, float* out);

}  // namespace voltcheck::logits

#endif  // VOLTCHECK_VERIFY_LOGITS_FAST_ROW_H_
