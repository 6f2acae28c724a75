#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/arith/warp_mma.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// foreach_target must come before highway.h, which the -inl headers include.
#include "reference/arith/fragments-inl.h"
#include "reference/arith/warp_mma.h"
#include "reference/arith/warp_mma_scalar.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::arith::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

int WarpMmaVector(const WarpMmaForm&, const std::uint32_t* const*, const std::uint32_t* const*,
                  const std::uint32_t* const*, std::uint32_t* const*) {
  return -1;
}
int WarpMmaTwiceVector(const WarpMmaForm&, const std::uint32_t* const*, const std::uint32_t* const*,
                       std::uint32_t* const*) {
  return -1;
}

#else

HWY_INLINE VF LoadFloats(const std::uint32_t* row) {
  return hn::BitCast(DF(), hn::LoadU(DU(), row));
}
HWY_INLINE void StoreFloats(VF values, std::uint32_t* row) {
  hn::StoreU(hn::BitCast(DU(), values), DU(), row);
}

struct HalfPair {
  VF low, high;
};
HWY_INLINE HalfPair LoadHalves(const std::uint32_t* row) {
  const VU words = hn::LoadU(DU(), row);
  return {ValueOfHalf(hn::And(words, hn::Set(DU(), 0xFFFF))),
          ValueOfHalf(hn::ShiftRight<16>(words))};
}
HWY_INLINE void StoreHalves(VU low, VU high, std::uint32_t* row) {
  hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(high)), DU(), row);
}

/// The factors of all rows of A, or of all columns of B: those of lane l at [k][l].
struct LaneFactors {
  alignas(64) float value[4][32];
  alignas(64) std::int32_t exponent[4][32];

  HWY_INLINE void Set(int k, std::size_t lane, const Factor& factor) {
    hn::Store(factor.value, DF(), &value[k][lane]);
    hn::Store(factor.exponent, DI(), &exponent[k][lane]);
  }
  HWY_INLINE Factor Get(int k, std::size_t lane) const {
    return {hn::Load(DF(), &value[k][lane]), hn::Load(DI(), &exponent[k][lane])};
  }
};

/// The rows of A that are zero in all four products, a bit each; `factors` of the others are set.
HWY_INLINE std::uint32_t LoadRows(MmaLayout layout, const std::uint32_t* const* a,
                                  LaneFactors& factors) {
  const DU du;
  std::uint32_t zeros = 0;
  for (std::size_t h = 0; h < 2; ++h) {
    VU halves[16 / kLanes][4];
    std::uint32_t used = 0;  // by lane t of a product; higher bits are of no interest
    for (std::size_t i = 0; i < 16 / kLanes; ++i) {
      VU(&e)[4] = halves[i];
      LoadVectors(layout == MmaLayout::kRow, a, 16 * h + i * kLanes, e);
      const VU any = hn::And(hn::Or(hn::Or(e[0], e[1]), hn::Or(e[2], e[3])), hn::Set(du, 0x7FFF));
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(du, hn::Ne(any, hn::Zero(du)), bits);
      const std::uint32_t lanes = bits[0] | static_cast<std::uint32_t>(bits[1]) << 8;
      used |= lanes | lanes >> 4 | lanes >> 8 | lanes >> 12;
    }
    zeros |= (~used & 0xF) << (4 * h);
    if ((used & 0xF) == 0) continue;
    for (std::size_t i = 0; i < 16 / kLanes; ++i) {
      for (int k = 0; k < 4; ++k) factors.Set(k, 16 * h + i * kLanes, DecodeA(halves[i][k]));
    }
  }
  return zeros;
}

/// The factors of row 4h + t of A in the lanes of each product.
template <int t>
HWY_INLINE void RowFactors(const LaneFactors& a, std::size_t lane, Factor (&row)[4]) {
  for (int k = 0; k < 4; ++k) row[k] = Repeat<t>(a.Get(k, lane));
}

/// Outputs of the rows 4h + t and 4h + t + 1, t even, which share registers: register i of lane
/// (t, h) holds row (t & 1) + (i & 2) + 4h and column (i & 4) + (t & 2) + (i & 1). A step takes the
/// columns in the order in which the lanes of B hold them. `zeros` has bits for zero rows.
template <class Arithmetic, int t>
HWY_NOINLINE void TwoRows(const LaneFactors& a, const LaneFactors& b, std::size_t h,
                          std::uint32_t zeros, const std::uint32_t* const* c,
                          std::uint32_t* const* d) {
  const bool even_is_zero = (zeros >> (4 * h + t) & 1) != 0;
  const bool odd_is_zero = (zeros >> (4 * h + t + 1) & 1) != 0;
  for (std::size_t product = 0; product < 16; product += kLanes) {
    const std::size_t lane = 16 * h + product;
    Factor even_row[4];
    Factor odd_row[4];
    if (!even_is_zero) RowFactors<t>(a, lane, even_row);
    if (!odd_is_zero) RowFactors<t + 1>(a, lane, odd_row);
#pragma GCC unroll 2
    for (std::size_t half = 0; half < 2; ++half) {
      const std::size_t i = 4 * half + t;
      const VF c0 = LoadFloats(c[i] + lane);
      const VF c1 = LoadFloats(c[i + 1] + lane);
      Factor columns[4];
      for (int k = 0; k < 4; ++k) columns[k] = b.Get(k, 16 * half + product);
      VF even = hn::OddEven(hn::DupEven(c1), hn::DupEven(c0));
      VF odd = hn::OddEven(hn::DupOdd(c1), hn::DupOdd(c0));
      even = even_is_zero ? UnlessMinusZero(even) : Arithmetic::Step(even_row, columns, even);
      odd = odd_is_zero ? UnlessMinusZero(odd) : Arithmetic::Step(odd_row, columns, odd);
      StoreFloats(hn::OddEven(hn::DupEven(odd), hn::DupEven(even)), d[i] + lane);
      StoreFloats(hn::OddEven(hn::DupOdd(odd), hn::DupOdd(even)), d[i + 1] + lane);
    }
  }
}

/// D of two zero rows.
HWY_INLINE void TwoZeroRows(std::size_t h, std::size_t t, const std::uint32_t* const* c,
                            std::uint32_t* const* d) {
  for (const std::size_t i : {t, t + 1, t + 4, t + 5}) {
    for (std::size_t lane = 16 * h; lane < 16 * h + 16; lane += kLanes) {
      StoreFloats(UnlessMinusZero(LoadFloats(c[i] + lane)), d[i] + lane);
    }
  }
}

/// Finite operands. All of A and B is read before D is written, and each row of C before its own
/// row of D. `stays`: D is where C is, and C has no -0, so zero rows have their results already.
/// Returns the number of zero rows.
template <class Arithmetic>
int MultiplyToFloats(const WarpMmaForm& form, const std::uint32_t* const* a,
                     const std::uint32_t* const* b, const std::uint32_t* const* c,
                     std::uint32_t* const* d, bool stays) {
  LaneFactors rows;
  LaneFactors columns;
  const std::uint32_t zeros = LoadRows(form.a, a, rows);
  for (std::size_t lane = 0; lane < 32; lane += kLanes) {
    VU halves[4];
    LoadVectors(form.b == MmaLayout::kCol, b, lane, halves);
    for (int k = 0; k < 4; ++k) columns.Set(k, lane, DecodeB(halves[k]));
  }
  for (std::size_t h = 0; h < 2; ++h) {
    for (std::size_t t = 0; t < 4; t += 2) {
      if ((zeros >> (4 * h + t) & 3) == 3) {
        if (!stays) TwoZeroRows(h, t, c, d);
      } else if (t == 0) {
        TwoRows<Arithmetic, 0>(rows, columns, h, zeros, c, d);
      } else {
        TwoRows<Arithmetic, 2>(rows, columns, h, zeros, c, d);
      }
    }
  }
  return hwy::PopCount(zeros);
}

/// TwoRows, in place, for two instructions in a row.
template <class Arithmetic, int t>
HWY_NOINLINE void TwoRowsTwice(const LaneFactors (&a)[2], const LaneFactors (&b)[2], std::size_t h,
                               const std::uint32_t (&zeros)[2], std::uint32_t* const* d) {
  for (std::size_t product = 0; product < 16; product += kLanes) {
    const std::size_t lane = 16 * h + product;
    VF even[2];
    VF odd[2];
    for (std::size_t half = 0; half < 2; ++half) {
      const VF c0 = LoadFloats(d[4 * half + t] + lane);
      const VF c1 = LoadFloats(d[4 * half + t + 1] + lane);
      even[half] = hn::OddEven(hn::DupEven(c1), hn::DupEven(c0));
      odd[half] = hn::OddEven(hn::DupOdd(c1), hn::DupOdd(c0));
    }
    for (int step = 0; step < 2; ++step) {
      const bool even_is_zero = (zeros[step] >> (4 * h + t) & 1) != 0;
      const bool odd_is_zero = (zeros[step] >> (4 * h + t + 1) & 1) != 0;
      Factor even_row[4];
      Factor odd_row[4];
      if (!even_is_zero) RowFactors<t>(a[step], lane, even_row);
      if (!odd_is_zero) RowFactors<t + 1>(a[step], lane, odd_row);
#pragma GCC unroll 2
      for (std::size_t half = 0; half < 2; ++half) {
        Factor columns[4];
        for (int k = 0; k < 4; ++k) columns[k] = b[step].Get(k, 16 * half + product);
        even[half] = even_is_zero ? UnlessMinusZero(even[half])
                                  : Arithmetic::Step(even_row, columns, even[half]);
        odd[half] = odd_is_zero ? UnlessMinusZero(odd[half])
                                : Arithmetic::Step(odd_row, columns, odd[half]);
      }
    }
    for (std::size_t half = 0; half < 2; ++half) {
      StoreFloats(hn::OddEven(hn::DupEven(odd[half]), hn::DupEven(even[half])),
                  d[4 * half + t] + lane);
      StoreFloats(hn::OddEven(hn::DupOdd(odd[half]), hn::DupOdd(even[half])),
                  d[4 * half + t + 1] + lane);
    }
  }
}

/// MultiplyToFloats, in place, for two instructions in a row: four rows of A and of B.
template <class Arithmetic>
int MultiplyTwice(const WarpMmaForm& form, const std::uint32_t* const* a,
                  const std::uint32_t* const* b, std::uint32_t* const* d, bool stays) {
  LaneFactors rows[2];
  LaneFactors columns[2];
  std::uint32_t zeros[2];
  for (int step = 0; step < 2; ++step) {
    zeros[step] = LoadRows(form.a, a + 2 * step, rows[step]);
    for (std::size_t lane = 0; lane < 32; lane += kLanes) {
      VU halves[4];
      LoadVectors(form.b == MmaLayout::kCol, b + 2 * step, lane, halves);
      for (int k = 0; k < 4; ++k) columns[step].Set(k, lane, DecodeB(halves[k]));
    }
  }
  for (std::size_t h = 0; h < 2; ++h) {
    for (std::size_t t = 0; t < 4; t += 2) {
      if (((zeros[0] & zeros[1]) >> (4 * h + t) & 3) == 3) {
        if (!stays) TwoZeroRows(h, t, d, d);
      } else if (t == 0) {
        TwoRowsTwice<Arithmetic, 0>(rows, columns, h, zeros, d);
      } else {
        TwoRowsTwice<Arithmetic, 2>(rows, columns, h, zeros, d);
      }
    }
  }
  return static_cast<int>(hwy::PopCount(zeros[0]) + hwy::PopCount(zeros[1]));
}

template <class Arithmetic>
HWY_NOINLINE void HalfLanes(MmaLayout layout, const std::uint32_t* const* a, HalfColumns::Place b,
                            const std::uint32_t* const* c, std::uint32_t* const* d,
                            std::size_t lane) {
  VU halves[4];
  Factor a_factors[4];
  LoadVectors(layout == MmaLayout::kRow, a, lane, halves);
  for (int k = 0; k < 4; ++k) a_factors[k] = DecodeA(halves[k]);
  const bool zero = Arithmetic::kZerosKeepHalf && AllZero(a_factors);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const HalfPair addends = LoadHalves(c[i] + lane);
    if (zero) {
      StoreHalves(HalfOfValue(UnlessMinusZero(addends.low)),
                  HalfOfValue(UnlessMinusZero(addends.high)), d[i] + lane);
      continue;
    }
    Factor b_factors[4];
    b.Get(2 * i, b_factors);
    const VU low = Arithmetic::StepToHalf(a_factors, b_factors, addends.low);
    b.Get(2 * i + 1, b_factors);
    StoreHalves(low, Arithmetic::StepToHalf(a_factors, b_factors, addends.high), d[i] + lane);
  }
}

/// Finite operands. Lanes of A are read before the same lanes of D are written, and so is each row
/// of C before its own row of D.
template <class Arithmetic>
void MultiplyToHalves(const WarpMmaForm& form, const std::uint32_t* const* a,
                      const std::uint32_t* const* b, const std::uint32_t* const* c,
                      std::uint32_t* const* d) {
  HalfColumns columns;
  LoadColumns(form.b, b, columns);
  for (std::size_t lane = 0; lane < 32; lane += kLanes) {
    HalfLanes<Arithmetic>(form.a, a, columns.At(lane % 16), c, d, lane);
  }
}

template <class Arithmetic>
int Multiply(const WarpMmaForm& form, const std::uint32_t* const* a, const std::uint32_t* const* b,
             const std::uint32_t* const* c, std::uint32_t* const* d, bool stays) {
  if (!form.d_half) return MultiplyToFloats<Arithmetic>(form, a, b, c, d, stays);
  MultiplyToHalves<Arithmetic>(form, a, b, c, d);
  return 0;
}

/// C and D have the same type. Returns -1, with nothing written, when an operand is NaN or Inf, and
/// else the number of zero rows that were left out.
int WarpMmaVector(const WarpMmaForm& form, const std::uint32_t* const* a,
                  const std::uint32_t* const* b, const std::uint32_t* const* c,
                  std::uint32_t* const* d) {
  const int registers = form.d_half ? 4 : 8;
  SpecialFinder specials;
  bool in_place = true;
  for (int i = 0; i < 2; ++i) {
    specials.AddHalves(a[i], 32);
    specials.AddHalves(b[i], 32);
  }
  for (int i = 0; i < registers; ++i) {
    if (form.c_half) {
      specials.AddHalves(c[i], 32);
    } else {
      specials.AddFloats(c[i], 32);
    }
    in_place = in_place && c[i] == d[i];
  }
  if (specials.Found()) return -1;

  // Unless each row of D replaces its own row of C, it may be a row of C that is needed later.
  alignas(64) std::uint32_t copies[8][32];
  const std::uint32_t* addends[8];
  for (int i = 0; i < registers; ++i) {
    addends[i] = c[i];
    if (in_place) continue;
    for (std::size_t lane = 0; lane < 32; lane += kLanes) {
      hn::Store(hn::LoadU(DU(), c[i] + lane), DU(), &copies[i][lane]);
    }
    addends[i] = copies[i];
  }

  const bool stays = in_place && !specials.FoundMinusZero();
  switch (form.arithmetic) {
    case StepArithmetic::kV100:
      return Multiply<FusedArithmetic<kV100DotAdd.fraction_bits> >(form, a, b, addends, d, stays);
    case StepArithmetic::kSm75:
      return Multiply<FusedArithmetic<kSm75DotAdd.fraction_bits> >(form, a, b, addends, d, stays);
    case StepArithmetic::kSm80Software:
      break;
  }
  return Multiply<SoftwareArithmetic>(form, a, b, addends, d, stays);
}

/// Returns -1, with nothing written, when an operand is NaN or Inf or the first result might be,
/// and else the number of zero rows that were left out.
int WarpMmaTwiceVector(const WarpMmaForm& form, const std::uint32_t* const* a,
                       const std::uint32_t* const* b, std::uint32_t* const* d) {
  // Four products are below 2^34, so sums with accumulators below 2^126 are finite.
  constexpr std::int32_t kLargest = (253 << 23) - 1;
  SpecialFinder specials;
  for (int i = 0; i < 4; ++i) {
    specials.AddHalves(a[i], 32);
    specials.AddHalves(b[i], 32);
  }
  for (int i = 0; i < 8; ++i) specials.AddFloats(d[i], 32);
  if (specials.Found(kLargest)) return -1;
  const bool stays = !specials.FoundMinusZero();
  switch (form.arithmetic) {
    case StepArithmetic::kV100:
      return MultiplyTwice<FusedArithmetic<kV100DotAdd.fraction_bits> >(form, a, b, d, stays);
    case StepArithmetic::kSm75:
      return MultiplyTwice<FusedArithmetic<kSm75DotAdd.fraction_bits> >(form, a, b, d, stays);
    case StepArithmetic::kSm80Software:
      break;
  }
  return MultiplyTwice<SoftwareArithmetic>(form, a, b, d, stays);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace voltcheck::arith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace voltcheck::arith {

HWY_EXPORT(WarpMmaVector);
HWY_EXPORT(WarpMmaTwiceVector);

int WarpMma884(const WarpMmaForm& form, const std::uint32_t* const* a,
               const std::uint32_t* const* b, const std::uint32_t* const* c,
               std::uint32_t* const* d) {
  // fp16 C with fp32 D would need C in another layout; no kernel of weight uses it.
  if (form.c_half == form.d_half) {
    const int zero_rows = HWY_DYNAMIC_DISPATCH(WarpMmaVector)(form, a, b, c, d);
    if (zero_rows >= 0) return zero_rows;
  }
  WarpMma884Scalar(form, a, b, c, d);
  return 0;
}

int WarpMma884Twice(const WarpMmaForm& form, const std::uint32_t* const* a,
                    const std::uint32_t* const* b, std::uint32_t* const* d) {
  const int zero_rows = HWY_DYNAMIC_DISPATCH(WarpMmaTwiceVector)(form, a, b, d);
  if (zero_rows >= 0) return zero_rows;
  return WarpMma884(form, a, b, d, d) + WarpMma884(form, a + 2, b + 2, d, d);
}

}  // namespace voltcheck::arith
#endif  // HWY_ONCE
