// Brings m8n8k4 fragments into the order in which a vector step wants them. Included once per
// target.

#if defined(VOLTCHECK_REFERENCE_ARITH_FRAGMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLTCHECK_REFERENCE_ARITH_FRAGMENTS_INL_H_
#undef VOLTCHECK_REFERENCE_ARITH_FRAGMENTS_INL_H_
#else
#define VOLTCHECK_REFERENCE_ARITH_FRAGMENTS_INL_H_
#endif

#include "reference/arith/step-inl.h"
#include "reference/arith/warp_mma.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::arith::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// The B factors that the outputs of one accumulator register need, lane by lane, for each k.
///
/// With fp32 outputs register i of lane l = (t, h) holds row (l & 1) + (i & 2) + 4h and column
/// (i & 4) + (l & 2) + (i & 1): two kinds of A rows, by i & 2, and four of B columns, by i & 5.
/// With fp16 outputs it is row t + 4h and column i: one kind of A rows and eight of B columns.
/// Columns are the same for both halves of the warp, so 16 lanes of them suffice.
template <int kKinds>
struct Columns {
  alignas(64) float value[kKinds][4][16];
  alignas(64) std::int32_t exponent[kKinds][4][16];

  HWY_INLINE void Set(int kind, int k, std::size_t lane, const Factor& factor) {
    hn::Store(factor.value, DF(), &value[kind][k][lane]);
    hn::Store(factor.exponent, DI(), &exponent[kind][k][lane]);
  }
  /// The first lane of a vector of columns.
  struct Place {
    const float* value;
    const std::int32_t* exponent;

    HWY_INLINE void Get(int kind, Factor (&factors)[4]) const {
      for (int k = 0; k < 4; ++k) {
        factors[k].value = hn::Load(DF(), value + (kind * 4 + k) * 16);
        factors[k].exponent = hn::Load(DI(), exponent + (kind * 4 + k) * 16);
      }
    }
  };
  HWY_INLINE Place At(std::size_t lane) const {
    return {&value[0][0][lane], &exponent[0][0][lane]};
  }
};
using FloatColumns = Columns<4>;
using HalfColumns = Columns<8>;

// Shuffles inside groups of four lanes (the four lanes of a product that share h).

/// [x0 y0 x1 y1]
HWY_INLINE Factor ZipLow(const Factor& x, const Factor& y) {
  return {hn::InterleaveLower(DF(), x.value, y.value),
          hn::InterleaveLower(DI(), x.exponent, y.exponent)};
}
/// [x2 y2 x3 y3]
HWY_INLINE Factor ZipHigh(const Factor& x, const Factor& y) {
  return {hn::InterleaveUpper(DF(), x.value, y.value),
          hn::InterleaveUpper(DI(), x.exponent, y.exponent)};
}
template <class V>
HWY_INLINE V JoinLowLanes(V x, V y) {
  const hn::Repartition<std::uint64_t, DF> d64;
  return hn::BitCast(hn::DFromV<V>(),
                     hn::InterleaveLower(d64, hn::BitCast(d64, x), hn::BitCast(d64, y)));
}
template <class V>
HWY_INLINE V JoinHighLanes(V x, V y) {
  const hn::Repartition<std::uint64_t, DF> d64;
  return hn::BitCast(hn::DFromV<V>(),
                     hn::InterleaveUpper(d64, hn::BitCast(d64, x), hn::BitCast(d64, y)));
}
/// [x0 x1 y0 y1]
HWY_INLINE Factor JoinLow(const Factor& x, const Factor& y) {
  return {JoinLowLanes(x.value, y.value), JoinLowLanes(x.exponent, y.exponent)};
}
/// [x2 x3 y2 y3]
HWY_INLINE Factor JoinHigh(const Factor& x, const Factor& y) {
  return {JoinHighLanes(x.value, y.value), JoinHighLanes(x.exponent, y.exponent)};
}
/// [x0 x0 x2 x2]
HWY_INLINE Factor RepeatEven(const Factor& x) {
  return {hn::DupEven(x.value), hn::DupEven(x.exponent)};
}
/// [x1 x1 x3 x3]
HWY_INLINE Factor RepeatOdd(const Factor& x) {
  return {hn::DupOdd(x.value), hn::DupOdd(x.exponent)};
}
template <int kLane>
HWY_INLINE Factor Repeat(const Factor& x) {
  return {hn::Broadcast<kLane>(x.value), hn::Broadcast<kLane>(x.exponent)};
}

/// The four packed halves of a fragment, element by element, in the low 16 bits of each lane.
HWY_INLINE void LoadElements(const std::uint32_t* const* rows, std::size_t lane, VU (&halves)[4]) {
  const DU du;
  for (int r = 0; r < 2; ++r) {
    const VU words = hn::LoadU(du, rows[r] + lane);
    halves[2 * r] = hn::And(words, hn::Set(du, 0xFFFF));
    halves[2 * r + 1] = hn::ShiftRight<16>(words);
  }
}

/// The A factors of the fp32 outputs i with (i & 2) == 2 * kind, from the elements of the fragment.
HWY_INLINE void RowsOfFloats(MmaLayout layout, const Factor (&e)[4], int kind, Factor (&rows)[4]) {
  if (layout == MmaLayout::kRow) {  // lane t: row t, element k
    for (int k = 0; k < 4; ++k) rows[k] = kind == 0 ? JoinLow(e[k], e[k]) : JoinHigh(e[k], e[k]);
    return;
  }
  const Factor low = ZipLow(e[2 * kind], e[2 * kind + 1]);  // lane k, element of the row
  const Factor high = ZipHigh(e[2 * kind], e[2 * kind + 1]);
  rows[0] = JoinLow(low, low);
  rows[1] = JoinHigh(low, low);
  rows[2] = JoinLow(high, high);
  rows[3] = JoinHigh(high, high);
}

/// The A factors of the fp16 outputs.
HWY_INLINE void RowsOfHalves(MmaLayout layout, const Factor (&e)[4], Factor (&rows)[4]) {
  if (layout == MmaLayout::kRow) {
    for (int k = 0; k < 4; ++k) rows[k] = e[k];
    return;
  }
  rows[0] = JoinLow(ZipLow(e[0], e[1]), ZipLow(e[2], e[3]));
  rows[1] = JoinHigh(ZipLow(e[0], e[1]), ZipLow(e[2], e[3]));
  rows[2] = JoinLow(ZipHigh(e[0], e[1]), ZipHigh(e[2], e[3]));
  rows[3] = JoinHigh(ZipHigh(e[0], e[1]), ZipHigh(e[2], e[3]));
}

/// `h` is the half of the warp that holds these columns (4h and up).
template <MmaLayout kLayout>
HWY_INLINE void ExpandColumns(const Factor (&e)[4], int h, std::size_t lane,
                              FloatColumns& columns) {
  if (kLayout == MmaLayout::kCol) {  // lane t: column t, element k
    for (int k = 0; k < 4; ++k) {
      columns.Set(2 * h, k, lane, RepeatEven(e[k]));
      columns.Set(2 * h + 1, k, lane, RepeatOdd(e[k]));
    }
    return;
  }
  for (int odd = 0; odd < 2; ++odd) {  // lane k, element of the column
    const Factor low = ZipLow(e[odd], e[2 + odd]);
    const Factor high = ZipHigh(e[odd], e[2 + odd]);
    columns.Set(2 * h + odd, 0, lane, ZipLow(low, low));
    columns.Set(2 * h + odd, 1, lane, ZipHigh(low, low));
    columns.Set(2 * h + odd, 2, lane, ZipLow(high, high));
    columns.Set(2 * h + odd, 3, lane, ZipHigh(high, high));
  }
}

template <MmaLayout kLayout>
HWY_INLINE void ExpandColumns(const Factor (&e)[4], int h, std::size_t lane, HalfColumns& columns) {
  for (int i = 0; i < 4; ++i) {
    if (kLayout == MmaLayout::kCol) {  // here i is k, and the lane is the column
      columns.Set(4 * h, i, lane, Repeat<0>(e[i]));
      columns.Set(4 * h + 1, i, lane, Repeat<1>(e[i]));
      columns.Set(4 * h + 2, i, lane, Repeat<2>(e[i]));
      columns.Set(4 * h + 3, i, lane, Repeat<3>(e[i]));
    } else {
      columns.Set(4 * h + i, 0, lane, Repeat<0>(e[i]));
      columns.Set(4 * h + i, 1, lane, Repeat<1>(e[i]));
      columns.Set(4 * h + i, 2, lane, Repeat<2>(e[i]));
      columns.Set(4 * h + i, 3, lane, Repeat<3>(e[i]));
    }
  }
}

/// The elements of the A fragment in the lanes from `lane` on.
HWY_INLINE void LoadRows(const std::uint32_t* const* a, std::size_t lane, Factor (&elements)[4]) {
  VU halves[4];
  LoadElements(a, lane, halves);
  for (int i = 0; i < 4; ++i) elements[i] = DecodeA(halves[i]);
}

template <MmaLayout kLayout, class ColumnsOf>
HWY_NOINLINE void LoadColumns(const std::uint32_t* const* b, ColumnsOf& columns) {
#pragma GCC unroll 4
  for (std::size_t lane = 0; lane < 32; lane += kLanes) {
    VU halves[4];
    Factor elements[4];
    LoadElements(b, lane, halves);
    for (int i = 0; i < 4; ++i) elements[i] = DecodeB(halves[i]);
    ExpandColumns<kLayout>(elements, static_cast<int>(lane / 16), lane % 16, columns);
  }
}

template <class ColumnsOf>
HWY_INLINE void LoadColumns(MmaLayout layout, const std::uint32_t* const* b, ColumnsOf& columns) {
  if (layout == MmaLayout::kCol) {
    LoadColumns<MmaLayout::kCol>(b, columns);
  } else {
    LoadColumns<MmaLayout::kRow>(b, columns);
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace voltcheck::arith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // VOLTCHECK_REFERENCE_ARITH_FRAGMENTS_INL_H_
