// Compiled once per instruction set; Highway picks one at run time. Every operation is exact or
// correctly rounded, so all of them give the same bits.
#include "reference/dequantise.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/dequantise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace voltcheck::reference::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::CappedTag<float, kBlockWords>;
using WordTag = hn::RebindToUnsigned<FloatTag>;
using IntTag = hn::RebindToSigned<FloatTag>;
using Floats = hn::Vec<FloatTag>;
using Words = hn::Vec<WordTag>;

enum class Rounding { kNone, kInRange, kAnyRange };

// Rounds to 11 significant bits, to nearest, ties to even. That is the rounding to half also for
// results below 2^-14: scale and bias are multiples of 2^-24, so such a result has at most ten
// bits.
HWY_INLINE Floats RoundInRange(Floats x) {
  const FloatTag f;
  const WordTag u;
  const Words bits = hn::BitCast(u, x);
  const Words odd = hn::And(hn::ShiftRight<13>(bits), hn::Set(u, 1));
  const Words up = hn::Add(bits, hn::Add(odd, hn::Set(u, 0xFFF)));
  return hn::BitCast(f, hn::And(up, hn::Set(u, 0xFFFFE000)));
}

// From 65520 up the half is infinite; NaN stays NaN.
HWY_INLINE Floats RoundAnyRange(Floats x) {
  const FloatTag f;
  const auto in_range = hn::Lt(hn::Abs(x), hn::Set(f, 65520.0F));
  const Floats infinite = hn::Mul(x, hn::Set(f, std::numeric_limits<float>::infinity()));
  return hn::IfThenElse(in_range, RoundInRange(x), infinite);
}

template <Rounding kRounding>
void Dequantise(const std::uint32_t* HWY_RESTRICT words, int row_stride, int rows,
                const BlockMetadata& metadata, float* HWY_RESTRICT out) {
  const FloatTag f;
  const WordTag u;
  const IntTag s;
  const Words nibble_mask = hn::Set(u, 15);
  for (std::size_t j = 0; j < kBlockWords; j += hn::Lanes(f)) {
    for (int r = 0; r < rows; ++r) {
      Words rest = hn::LoadU(u, words + static_cast<std::ptrdiff_t>(r) * row_stride + j);
      float* row = out + static_cast<std::ptrdiff_t>(r) * 8 * kBlockWords + j;
      for (std::size_t i = 0; i < 8; ++i) {
        const Floats q = hn::ConvertTo(f, hn::BitCast(s, hn::And(rest, nibble_mask)));
        rest = hn::ShiftRight<4>(rest);
        const Floats scale = hn::Load(f, metadata.scale + i * kBlockWords + j);
        const Floats bias = hn::Load(f, metadata.bias + i * kBlockWords + j);
        Floats x = hn::Add(hn::Mul(q, scale), bias);
        if constexpr (kRounding == Rounding::kInRange) {
          x = RoundInRange(x);
        } else if constexpr (kRounding == Rounding::kAnyRange) {
          x = RoundAnyRange(x);
        }
        hn::StoreU(x, f, row + i * kBlockWords);
      }
    }
  }
}

// Whether no weight can reach 65520: |q * scale + bias| is at most 31 |scale|. False for NaN.
bool StaysInRange(const BlockMetadata& metadata) {
  const FloatTag f;
  auto in_range = hn::Eq(hn::Zero(f), hn::Zero(f));
  for (std::size_t i = 0; i < 8 * kBlockWords; i += hn::Lanes(f)) {
    const auto small = hn::Lt(hn::Abs(hn::Load(f, metadata.scale + i)), hn::Set(f, 2048.0F));
    in_range = hn::And(in_range, small);
  }
  return hn::AllTrue(f, in_range);
}

void DequantiseBlockTarget(const std::uint32_t* words, int row_stride, int rows,
                           const BlockMetadata& metadata, bool round_to_half, float* out) {
  if (!round_to_half) {
    Dequantise<Rounding::kNone>(words, row_stride, rows, metadata, out);
  } else if (StaysInRange(metadata)) {
    Dequantise<Rounding::kInRange>(words, row_stride, rows, metadata, out);
  } else {
    Dequantise<Rounding::kAnyRange>(words, row_stride, rows, metadata, out);
  }
}

}  // namespace
}  // namespace voltcheck::reference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace voltcheck::reference {

HWY_EXPORT(DequantiseBlockTarget);

void DequantiseBlock(const std::uint32_t* words, int row_stride, int rows,
                     const BlockMetadata& metadata, bool round_to_half, float* out) {
  HWY_DYNAMIC_DISPATCH(DequantiseBlockTarget)
  (words, row_stride, rows, metadata, round_to_half, out);
}

}  // namespace voltcheck::reference
#endif  // HWY_ONCE
