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

/// The B factors of the fp16 outputs, lane by lane, for each column and k. Register i of lane
/// l = (t, h) holds row t + 4h and the columns 2i and 2i + 1. Columns are the same for both halves
/// of the warp, so 16 lanes of them suffice.
struct HalfColumns {
  alignas(64) float value[8][4][16];
  alignas(64) std::int32_t exponent[8][4][16];

  HWY_INLINE void Set(int column, int k, std::size_t lane, const Factor& factor) {
    hn::Store(factor.value, DF(), &value[column][k][lane]);
    hn::Store(factor.exponent, DI(), &exponent[column][k][lane]);
  }
  /// The first lane of a vector of columns.
  struct Place {
    const float* value;
    const std::int32_t* exponent;

    HWY_INLINE void Get(int column, Factor (&factors)[4]) const {
      for (int k = 0; k < 4; ++k) {
        factors[k].value = hn::Load(DF(), value + (column * 4 + k) * 16);
        factors[k].exponent = hn::Load(DI(), exponent + (column * 4 + k) * 16);
      }
    }
  };
  HWY_INLINE Place At(std::size_t lane) const {
    return {&value[0][0][lane], &exponent[0][0][lane]};
  }
};

// Shuffles inside groups of four lanes (the four lanes of a product that share h).

template <class V>
HWY_INLINE V JoinLowLanes(V x, V y) {  // [x0 x1 y0 y1]
  const hn::Repartition<std::uint64_t, DF> d64;
  return hn::BitCast(hn::DFromV<V>(),
                     hn::InterleaveLower(d64, hn::BitCast(d64, x), hn::BitCast(d64, y)));
}
template <class V>
HWY_INLINE V JoinHighLanes(V x, V y) {  // [x2 x3 y2 y3]
  const hn::Repartition<std::uint64_t, DF> d64;
  return hn::BitCast(hn::DFromV<V>(),
                     hn::InterleaveUpper(d64, hn::BitCast(d64, x), hn::BitCast(d64, y)));
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

/// Element j of lane i becomes element i of lane j, in groups of four lanes.
HWY_INLINE void Transpose(VU (&e)[4]) {
  const DU du;
  const VU low01 = hn::InterleaveLower(du, e[0], e[1]);
  const VU low23 = hn::InterleaveLower(du, e[2], e[3]);
  const VU high01 = hn::InterleaveUpper(du, e[0], e[1]);
  const VU high23 = hn::InterleaveUpper(du, e[2], e[3]);
  e[0] = JoinLowLanes(low01, low23);
  e[1] = JoinHighLanes(low01, low23);
  e[2] = JoinLowLanes(high01, high23);
  e[3] = JoinHighLanes(high01, high23);
}

/// The fragment of A or B from `lane` on, as lane t + 4h of a product's eight lanes would hold row
/// (of A) or column (of B) t + 4h: element k for k = 0 to 3. `natural` is the layout that already
/// is so: row for A, column for B.
HWY_INLINE void LoadVectors(bool natural, const std::uint32_t* const* rows, std::size_t lane,
                            VU (&halves)[4]) {
  LoadElements(rows, lane, halves);
  if (!natural) Transpose(halves);
}

HWY_NOINLINE void LoadColumns(MmaLayout layout, const std::uint32_t* const* b,
                              HalfColumns& columns) {
  for (std::size_t lane = 0; lane < 32; lane += kLanes) {
    VU halves[4];
    LoadVectors(layout == MmaLayout::kCol, b, lane, halves);
    const int h = static_cast<int>(lane / 16);
    for (int k = 0; k < 4; ++k) {
      const Factor factor = DecodeB(halves[k]);
      columns.Set(4 * h, k, lane % 16, Repeat<0>(factor));
      columns.Set(4 * h + 1, k, lane % 16, Repeat<1>(factor));
      columns.Set(4 * h + 2, k, lane % 16, Repeat<2>(factor));
      columns.Set(4 * h + 3, k, lane % 16, Repeat<3>(factor));
    }
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace voltcheck::arith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // VOLTCHECK_REFERENCE_ARITH_FRAGMENTS_INL_H_
