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
#include <optional>
#include <vector>

#include "reference/arith/half.h"
#include "verify/logits/row_sums.h"

namespace voltcheck::logits {

HWY_EXPORT(CompareChunk);
HWY_EXPORT(LargestOfChunk);
HWY_EXPORT(WidenHalves);

std::string_view ToString(Type type) {
  constexpr std::array<std::string_view, 3> kNames{"fp16", "bf16", "fp32"};
  return kNames[static_cast<std::size_t>(type)];
}

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

// A piece of kChunk values of a row.
struct Piece {
  const std::byte* data = nullptr;
  Type type = Type::kF32;
};

// A row in pieces of kChunk values; the last one is filled up with values that add nothing.
class Pieces {
 public:
  Pieces(RowView row, std::size_t count) : row_(row), count_(count) {}

  std::size_t count() const { return count_; }
  std::size_t pieces() const { return (count_ + kChunk - 1) / kChunk; }
  std::size_t size(std::size_t piece) const { return std::min(kChunk, count_ - piece * kChunk); }
  // As it lies in the row where it is whole and `as_stored`, else as floats in `buffer`.
  Piece At(std::size_t piece, bool as_stored, float* buffer) const {
    const std::size_t n = size(piece);
    if (n == kChunk && (as_stored || row_.type == Type::kF32)) {
      return {row_.data + piece * kChunk * BytesOf(row_.type), row_.type};
    }
    Widen(row_, piece * kChunk, n, buffer);
    std::fill(buffer + n, buffer + kChunk, -std::numeric_limits<float>::max());
    return {reinterpret_cast<const std::byte*>(buffer), Type::kF32};
  }
  // The values that At() shows as floats.
  void Read(std::size_t piece, float* out) const { Widen(row_, piece * kChunk, size(piece), out); }

 private:
  RowView row_;
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
Top FindTop(const Pieces& row, const std::vector<float>& largest) {
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
    row.Read(chunk, values.data());
    for (std::size_t i = 0; i < row.size(chunk); ++i) {
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

// The lowest column of `chunk` with |difference| equal to `largest`.
std::size_t FindDifference(const Pieces& base, const Pieces& other, std::size_t chunk,
                           float largest) {
  alignas(64) std::array<float, kChunk> b;
  alignas(64) std::array<float, kChunk> o;
  base.Read(chunk, b.data());
  other.Read(chunk, o.data());
  std::size_t i = 0;
  while (i + 1 < base.size(chunk) && std::abs(o[i] - b[i]) != largest) {
    ++i;
  }
  return chunk * kChunk + i;
}

// A row and its copy: nothing differs, so only the greedy token is to be found.
verify::LogitRow CompareWithCopy(RowView base, std::size_t count) {
  const Pieces pieces(base, count);
  std::vector<float> largest(pieces.pieces());
  alignas(64) std::array<float, kChunk> values;
  for (std::size_t chunk = 0; chunk < pieces.pieces(); ++chunk) {
    bool finite = true;
    const Piece piece = pieces.At(chunk, true, values.data());
    largest[chunk] = HWY_DYNAMIC_DISPATCH(LargestOfChunk)(piece.data, piece.type, finite);
    if (!finite) {
      return CompareSlowly(base, base, count);
    }
  }
  const Top top = FindTop(pieces, largest);
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

// One reading of both rows: what each chunk gives, and its sums over the row.
class Reading {
 public:
  Reading(RowView base_row, RowView other_row, std::size_t count)
      : base(base_row, count),
        other(other_row, count),
        as_stored_(base_row.type == other_row.type) {}

  // Reads the rows, again where KL came out of a difference that left too few digits. False for
  // rows that vectors are not for: a value is not finite, or the largest ones leave no room for
  // fractions beside a power's exponent.
  bool Run() {
    if (!Run(Reach::kFar)) {
      return false;
    }
    if (row.differing > 0 && !sums.KlIsSharp()) {
      Run(Reach::kMiddle);
    }
    if (row.differing > 0 && !sums.ShiftIsClose()) {
      shift_ = sums.MeanDifference();
      Run(Reach::kMiddle);
    }
    return true;
  }

  Pieces base;
  Pieces other;
  verify::LogitRow row;  // the figures that are sums
  std::vector<float> base_largest;
  std::vector<float> other_largest;
  float max_abs = -1;
  std::size_t max_chunk = 0;
  RowSums sums;

 private:
  // No chunk is summed with a reach beyond `widest`.
  bool Run(Reach widest) {
    sums = RowSums();
    base_largest.clear();
    other_largest.clear();
    row = verify::LogitRow();
    max_abs = -1;
    Reach reach = Reach::kNear;
    for (std::size_t chunk = 0; chunk < base.pieces(); ++chunk) {
      const Piece b = base.At(chunk, as_stored_, b_.data());
      const Piece o = other.At(chunk, as_stored_, o_.data());
      const auto compare = [&] {
        return HWY_DYNAMIC_DISPATCH(CompareChunk)(b.data, o.data, b.type, sums.scale(), reach);
      };
      ChunkFigures f = compare();
      if (!Fits(f)) {
        return false;
      }
      if (chunk == 0) {  // nothing was known of where the values lie
        SetScale(f);
        f = compare();
      }
      for (;;) {
        const Reach wanted = std::min(Wanted(f, reach), widest);
        const bool outgrown = Outgrown(f);
        if (outgrown) {
          SetScale(f);
        }
        if (!outgrown && (reach == Reach::kMiddle || reach == wanted)) {
          sums.Add(f, reach);
          reach = wanted;
          break;
        }
        reach = wanted;
        f = compare();
      }
      Note(f, chunk);
    }
    row.compared = base.count();
    return true;
  }
  static bool Fits(const ChunkFigures& f) {
    return std::isfinite(f.squares) && std::abs(f.base_largest) < 0x1p20F &&
           std::abs(f.other_largest) < 0x1p20F;
  }
  // Sums in fp32 have room for powers that are this much larger than those seen before.
  bool Outgrown(const ChunkFigures& f) const {
    constexpr int kRoom = 20;
    return ExponentOf(f.base_largest) > sums.scale().base_exponent + kRoom ||
           ExponentOf(f.other_largest) > sums.scale().other_exponent + kRoom;
  }
  void SetScale(const ChunkFigures& f) {
    const bool first = base_largest.empty();
    base_so_far_ = first ? f.base_largest : std::max(base_so_far_, f.base_largest);
    other_so_far_ = first ? f.other_largest : std::max(other_so_far_, f.other_largest);
    sums.Rescale(ExponentOf(base_so_far_), ExponentOf(other_so_far_));
    sums.Shift(shift_.value_or(other_so_far_ - base_so_far_));
  }
  // What the values of the chunk ask for; near a border, what the last chunk had.
  Reach Wanted(const ChunkFigures& f, Reach last) const {
    const float shift = sums.scale().shift;
    const float farthest = std::max(f.highest - shift, shift - f.lowest);
    if (farthest <= (last == Reach::kNear ? 0.0625F : 0.03125F)) {
      return Reach::kNear;
    }
    return farthest <= (last == Reach::kFar ? 0.5F : 1.0F) ? Reach::kMiddle : Reach::kFar;
  }
  void Note(const ChunkFigures& f, std::size_t chunk) {
    row.differing += f.differing;
    row.sum += f.sum;
    row.squares += f.squares;
    const float largest = std::max(std::abs(f.lowest), std::abs(f.highest));
    if (largest > max_abs) {
      max_abs = largest;
      max_chunk = chunk;
    }
    base_largest.push_back(f.base_largest);
    other_largest.push_back(f.other_largest);
    other_so_far_ = std::max(other_so_far_, f.other_largest);
    if (f.base_largest > base_so_far_) {
      base_so_far_ = f.base_largest;
      sums.Shift(shift_.value_or(other_so_far_ - base_so_far_));
    }
  }

  bool as_stored_;
  std::optional<float> shift_;  // else that of the largest logits so far
  float base_so_far_ = 0;
  float other_so_far_ = 0;
  alignas(64) std::array<float, kChunk> b_;
  alignas(64) std::array<float, kChunk> o_;
};

}  // namespace

verify::LogitRow CompareRows(RowView base, RowView other, std::size_t count) {
  if (IsCopy(base, other, count)) {
    return CompareWithCopy(base, count);
  }
  Reading reading(base, other, count);
  if (!reading.Run()) {
    return CompareSlowly(base, other, count);
  }
  verify::LogitRow row = reading.row;
  const std::size_t worst =
      FindDifference(reading.base, reading.other, reading.max_chunk, reading.max_abs);
  row.max_abs_column = static_cast<int>(worst);
  row.max_abs = std::abs(static_cast<double>(ValueAt(other, worst)) -
                         static_cast<double>(ValueAt(base, worst)));

  const Top base_top = FindTop(reading.base, reading.base_largest);
  const Top other_top = FindTop(reading.other, reading.other_largest);
  row.base_argmax = static_cast<int>(base_top.column[0]);
  row.other_argmax = static_cast<int>(other_top.column[0]);
  row.flipped_margin = static_cast<double>(base_top.value[0]) -
                       static_cast<double>(ValueAt(base, other_top.column[0]));

  // Where nothing differs, nothing may come of rounding.
  const bool differs = row.differing > 0;
  row.kl = differs ? reading.sums.Kl() : 0;
  const double log_sum_change = differs ? reading.sums.LogSumChange() : 0;
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
