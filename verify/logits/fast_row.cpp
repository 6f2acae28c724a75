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

HWY_EXPORT(LargestOfChunk);
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
  Chunks(RowView base_row, RowView other_row, std::size_t count)
      : base_(base_row), other_(other_row), count_(count) {}

  std::size_t chunks() const { return (count_ + kChunk - 1) / kChunk; }
  std::size_t size(std::size_t chunk) const { return std::min(kChunk, count_ - chunk * kChunk); }
  // `base` and `other` then show the chunk's floats.
  void Load(std::size_t chunk) {
    base = Floats(base_, chunk, b_.data());
    other = Floats(other_, chunk, o_.data());
  }
  // A whole chunk of aligned floats is read where it lies.
  const float* Floats(RowView row, std::size_t chunk, float* buffer) const {
    const std::byte* at = row.data + chunk * kChunk * BytesOf(row.type);
    if (row.type == Type::kF32 && size(chunk) == kChunk &&
        reinterpret_cast<std::uintptr_t>(at) % alignof(float) == 0) {
      return reinterpret_cast<const float*>(at);
    }
    Fill(row, chunk, buffer);
    return buffer;
  }
  void Fill(RowView row, std::size_t chunk, float* out) const {
    const std::size_t n = size(chunk);
    Widen(row, chunk * kChunk, n, out);
    std::fill(out + n, out + kChunk, -std::numeric_limits<float>::max());
  }

  const float* base = nullptr;
  const float* other = nullptr;

 private:
  alignas(64) std::array<float, kChunk> b_;
  alignas(64) std::array<float, kChunk> o_;
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
    const float* at = chunks.Floats(row, chunk, values.data());
    const std::size_t n = chunks.size(chunk);
    for (std::size_t i = 0; i < n; ++i) {
      top.Offer(at[i], chunk * kChunk + i);
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
  while (i + 1 < chunks.size(chunk) && std::abs(chunks.other[i] - chunks.base[i]) != largest) {
    ++i;
  }
  return chunk * kChunk + i;
}

// The sums over a row that KL takes, relative to the largest base logit so far and to a shift. With
// p = softmax(base), d = (other - base) - shift for any shift, s = E_p[exp(d) - 1]:
// KL = E_p[exp(d) - 1 - d] - (s - log(1 + s)), and other's log-sum-exp is base's plus
// shift + log(1 + s).
struct Sums {
  float largest = -std::numeric_limits<float>::infinity();
  float shift = 0;
  double weight = 0;  // of e = exp(base - largest)
  double moved = 0;   // of e d
  double curved = 0;  // of e (exp(d) - 1 - d)

  void Rebase(float new_largest, float new_shift) {
    if (weight > 0) {
      const double scale =
          reference::Exp(static_cast<double>(largest) - static_cast<double>(new_largest));
      const double step = static_cast<double>(shift) - static_cast<double>(new_shift);
      // exp(step) - 1 - step, by its series where the difference would lose digits.
      double curve = 0;
      if (std::abs(step) <= 0.25) {
        for (int i = 14; i >= 2; --i) {
          curve = (i == 2 ? step * step / 2 : step / i) * (1 + curve);
        }
      } else {
        curve = reference::Exp(step) - 1 - step;
      }
      const double growth = curve + step;
      curved = scale * ((1 + growth) * curved + growth * moved + curve * weight);
      moved = scale * (moved + step * weight);
      weight *= scale;
    }
    largest = new_largest;
    shift = new_shift;
  }
  void Add(const ChunkWeights& w) {
    weight += w.weight;
    moved += w.moved;
    curved += w.curved;
  }
};

// A row and its copy: nothing differs, so only the greedy token is to be found.
verify::LogitRow CompareWithCopy(RowView base, std::size_t count) {
  const Chunks chunks(base, base, count);
  std::vector<float> largest(chunks.chunks());
  alignas(64) std::array<float, kChunk> values;
  for (std::size_t chunk = 0; chunk < chunks.chunks(); ++chunk) {
    bool finite = true;
    largest[chunk] =
        HWY_DYNAMIC_DISPATCH(LargestOfChunk)(chunks.Floats(base, chunk, values.data()), finite);
    if (!finite) {
      return CompareSlowly(base, base, count);
    }
  }
  const Top top = FindTop(chunks, base, largest);
  verify::LogitRow row;
  row.compared = count;
  row.max_abs_column = 0;
  row.base_argmax = row.other_argmax = static_cast<int>(top.column[0]);
  row.top_overlap = static_cast<int>(top.count);
  return row;
}

bool IsCopy(RowView base, RowView other, std::size_t count) {
  return base.type == other.type &&
         std::memcmp(base.data, other.data, count * BytesOf(base.type)) == 0;
}

}  // namespace

verify::LogitRow CompareRows(RowView base, RowView other, std::size_t count) {
  if (IsCopy(base, other, count)) {
    return CompareWithCopy(base, count);
  }
  Chunks chunks(base, other, count);
  verify::LogitRow row;
  std::vector<float> base_largest(chunks.chunks());
  std::vector<float> other_largest(chunks.chunks());
  float max_abs = -1;
  float other_so_far = -std::numeric_limits<float>::infinity();
  std::size_t max_chunk = 0;
  Sums sums;
  for (std::size_t chunk = 0; chunk < chunks.chunks(); ++chunk) {
    chunks.Load(chunk);
    const ChunkScan scan = HWY_DYNAMIC_DISPATCH(ScanChunk)(chunks.base, chunks.other);
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
    other_so_far = std::max(other_so_far, scan.other_largest);
    if (scan.base_largest > sums.largest) {
      sums.Rebase(scan.base_largest, other_so_far - scan.base_largest);
    }
    sums.Add(HWY_DYNAMIC_DISPATCH(WeighChunk)(chunks.base, chunks.other, sums.largest, sums.shift,
                                              scan.max_abs + std::abs(sums.shift)));
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

  // Where nothing differs, nothing may come of rounding.
  const bool differs = row.differing > 0;
  const double s = differs ? (sums.moved + sums.curved) / sums.weight : 0;
  row.kl = differs ? std::max(sums.curved / sums.weight - XMinusLog1p(s), 0.0) : 0;
  const double log_sum_change =
      differs ? static_cast<double>(sums.shift) + reference::Log(1 + s) : 0;
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
