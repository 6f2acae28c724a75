#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "verify/logits/fast_row.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// foreach_target must come before highway.h, which the -inl header includes.
#include "verify/logits/chunk-inl.h"
#include "verify/logits/fast_row.h"

#if HWY_ONCE

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "reference/arith/half.h"
#include "reference/exponential.h"

namespace voltcheck::logits {

HWY_EXPORT(ScanChunk);
HWY_EXPORT(WeighChunk);
HWY_EXPORT(WidenHalves);

std::string_view ToString(Type type) {
  constexpr std::array<std::string_view, 3> kNames{"fp16", "bf16", "fp32"};
  return kNames[static_cast<std::size_t>(type)];
}

std::size_t BytesOf(Type type) { return type == Type::kF32 ? 4 : 2; }

void Widen(RowView row, std::size_t first, std::size_t count, float* out) {
  const std::byte* data = row.data + first * BytesOf(row.type);
  if (row.type == Type::kF32) {
    std::memcpy(out, data, count * sizeof(float));
    return;
  }
  HWY_DYNAMIC_DISPATCH(WidenHalves)(data, row.type == Type::kBf16, count, out);
}

namespace {

constexpr std::size_t kTop = verify::kTopTokens;

// Both rows in pieces of kChunk floats; the last piece is filled up with values that add nothing.
class Chunks {
 public:
  Chunks(RowView base, RowView other, std::size_t count)
      : base_(base), other_(other), count_(count) {}

  std::size_t chunks() const { return (count_ + kChunk - 1) / kChunk; }
  std::size_t size(std::size_t chunk) const { return std::min(kChunk, count_ - chunk * kChunk); }
  void Load(std::size_t chunk) {
    Fill(base_, chunk, b.data());
    Fill(other_, chunk, o.data());
  }
  void Fill(RowView row, std::size_t chunk, float* out) const {
    const std::size_t n = size(chunk);
    Widen(row, chunk * kChunk, n, out);
    std::fill(out + n, out + kChunk, -std::numeric_limits<float>::max());
  }

  alignas(64) std::array<float, kChunk> b{};
  alignas(64) std::array<float, kChunk> o{};

 private:
  RowView base_;
  RowView other_;
  std::size_t count_;
};

struct Top {
  std::array<float, kTop> value{};
  std::array<std::size_t, kTop> column{};
  std::size_t count = 0;

  // Keeps the best first; of equal ones the lower column, which comes first.
  void Offer(float x, std::size_t c) {
    if (count == kTop && !(x > value[kTop - 1])) {
      return;
    }
    std::size_t at = count < kTop ? count++ : kTop - 1;
    for (; at > 0 && x > value[at - 1]; --at) {
      value[at] = value[at - 1];
      column[at] = column[at - 1];
    }
    value[at] = x;
    column[at] = c;
  }
};

// The best columns of one row, given each chunk's largest value: a value that is among the best
// lies in a chunk whose largest is no smaller than the fifth largest of these.
Top FindTop(const Chunks& chunks, RowView row, const std::vector<float>& largest) {
  float floor = -std::numeric_limits<float>::infinity();
  if (largest.size() > kTop) {
    std::vector<float> sorted = largest;
    std::nth_element(sorted.begin(), sorted.begin() + kTop - 1, sorted.end(), std::greater<>());
    floor = sorted[kTop - 1];
  }
  Top top;
  alignas(64) std::array<float, kChunk> values;
  for (std::size_t chunk = 0; chunk < largest.size(); ++chunk) {
    if (largest[chunk] < floor || (top.count == kTop && !(largest[chunk] > top.value[kTop - 1]))) {
      continue;
    }
    chunks.Fill(row, chunk, values.data());
    const std::size_t n = chunks.size(chunk);
    for (std::size_t i = 0; i < n; ++i) {
      top.Offer(values[i], chunk * kChunk + i);
    }
  }
  return top;
}

float ValueAt(RowView row, std::size_t column) {
  float x = 0;
  Widen(row, column, 1, &x);
  return x;
}

verify::LogitRow CompareSlowly(RowView base, RowView other, std::size_t count) {
  std::vector<float> b(count);
  std::vector<float> o(count);
  Widen(base, 0, count, b.data());
  Widen(other, 0, count, o.data());
  return verify::CompareLogitRow(std::span<const float>(b), std::span<const float>(o));
}

// x - log(1 + x).
double XMinusLog1p(double x) {
  if (std::abs(x) < 1e-3) {
    return x * x * (1.0 / 2 - x * (1.0 / 3 - x * (1.0 / 4 - x * (1.0 / 5 - x / 6))));
  }
  return x - reference::Log(1 + x);
}

// The lowest column of `chunk` with |difference| equal to `largest`.
std::size_t FindDifference(Chunks& chunks, std::size_t chunk, float largest) {
  chunks.Load(chunk);
  std::size_t i = 0;
  while (i + 1 < chunks.size(chunk) && std::abs(chunks.o[i] - chunks.b[i]) != largest) {
    ++i;
  }
  return chunk * kChunk + i;
}

}  // namespace

verify::LogitRow CompareRows(RowView base, RowView other, std::size_t count) {
  Chunks chunks(base, other, count);
  verify::LogitRow row;
  std::vector<float> base_largest(chunks.chunks());
  std::vector<float> other_largest(chunks.chunks());
  float max_abs = -1;
  std::size_t max_chunk = 0;
  for (std::size_t chunk = 0; chunk < chunks.chunks(); ++chunk) {
    chunks.Load(chunk);
    const ChunkScan scan = HWY_DYNAMIC_DISPATCH(ScanChunk)(chunks.b.data(), chunks.o.data());
    if (!std::isfinite(scan.squares)) {
      return CompareSlowly(base, other, count);
    }
    row.differing += scan.differing;
    row.sum += scan.sum;
    row.squares += scan.squares;
    if (scan.max_abs > max_abs) {
      max_abs = scan.max_abs;
      max_chunk = chunk;
    }
    base_largest[chunk] = scan.base_largest;
    other_largest[chunk] = scan.other_largest;
  }
  row.compared = count;
  const std::size_t worst = FindDifference(chunks, max_chunk, max_abs);
  row.max_abs_column = static_cast<int>(worst);
  row.max_abs = std::abs(static_cast<double>(ValueAt(other, worst)) -
                         static_cast<double>(ValueAt(base, worst)));

  const Top base_top = FindTop(chunks, base, base_largest);
  const Top other_top = FindTop(chunks, other, other_largest);
  row.base_argmax = static_cast<int>(base_top.column[0]);
  row.other_argmax = static_cast<int>(other_top.column[0]);
  row.flipped_margin = static_cast<double>(base_top.value[0]) -
                       static_cast<double>(ValueAt(base, other_top.column[0]));

  // With p = softmax(base), d = (other - base) - shift for any shift, s = E_p[exp(d) - 1]:
  // KL = E_p[exp(d) - 1 - d] - (s - log(1 + s)), and other's log-sum-exp is base's plus
  // shift + log(1 + s).
  const float shift = other_top.value[0] - base_top.value[0];
  double weight = 0;
  double moved = 0;
  double curved = 0;
  if (row.differing > 0) {
    for (std::size_t chunk = 0; chunk < chunks.chunks(); ++chunk) {
      chunks.Load(chunk);
      const ChunkWeights w = HWY_DYNAMIC_DISPATCH(WeighChunk)(chunks.b.data(), chunks.o.data(),
                                                              base_top.value[0], shift);
      weight += w.weight;
      moved += w.moved;
      curved += w.curved;
    }
  }
  const double s = weight > 0 ? (moved + curved) / weight : 0;
  row.kl = weight > 0 ? std::max(curved / weight - XMinusLog1p(s), 0.0) : 0;
  const double log_sum_change =
      static_cast<double>(shift) + (row.differing > 0 ? reference::Log(1 + s) : 0);
  for (std::size_t i = 0; i < base_top.count; ++i) {
    const std::size_t c = base_top.column[i];
    const auto end = other_top.column.begin() + static_cast<std::ptrdiff_t>(other_top.count);
    row.top_overlap += std::find(other_top.column.begin(), end, c) != end ? 1 : 0;
    const double d =
        static_cast<double>(ValueAt(other, c)) - static_cast<double>(base_top.value[i]);
    row.top_log_probability = std::max(row.top_log_probability, std::abs(d - log_sum_change));
  }
  return row;
}

}  // namespace voltcheck::logits
#endif  // HWY_ONCE
