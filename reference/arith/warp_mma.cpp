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

bool WarpMmaVector(const WarpMmaForm&, const std::uint32_t* const*, const std::uint32_t* const*,
                   const std::uint32_t* const*, std::uint32_t* const*) {
  return false;
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

/// The outputs of the lanes from `lane` on. (Not inlined: in the loop over lanes GCC 12 keeps
/// dozens of pointers, and reloads them from the stack, where two with constant offsets do.)
template <class Arithmetic>
HWY_NOINLINE void FloatLanes(MmaLayout layout, const std::uint32_t* const* a, FloatColumns::Place b,
                             const std::uint32_t* const* c, std::uint32_t* const* d,
                             std::size_t lane) {
  Factor elements[4];
  LoadRows(a, lane, elements);
#pragma GCC unroll 2
  for (int row = 0; row < 2; ++row) {
    Factor a_factors[4];
    RowsOfFloats(layout, elements, row, a_factors);
    const bool zero = AllZero(a_factors);
#pragma GCC unroll 4
    for (int column = 0; column < 4; ++column) {
      const int i = (column & 2) * 2 + row * 2 + (column & 1);
      const VF addend = LoadFloats(c[i] + lane);
      if (zero) {
        StoreFloats(UnlessMinusZero(addend), d[i] + lane);
        continue;
      }
      Factor b_factors[4];
      b.Get(column, b_factors);
      StoreFloats(Arithmetic::Step(a_factors, b_factors, addend), d[i] + lane);
    }
  }
}

template <class Arithmetic>
HWY_NOINLINE void HalfLanes(MmaLayout layout, const std::uint32_t* const* a, HalfColumns::Place b,
                            const std::uint32_t* const* c, std::uint32_t* const* d,
                            std::size_t lane) {
  Factor elements[4];
  Factor a_factors[4];
  LoadRows(a, lane, elements);
  RowsOfHalves(layout, elements, a_factors);
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
void Multiply(const WarpMmaForm& form, const std::uint32_t* const* a, const std::uint32_t* const* b,
              const std::uint32_t* const* c, std::uint32_t* const* d) {
  if (form.d_half) {
    HalfColumns columns;
    LoadColumns(form.b, b, columns);
    for (std::size_t lane = 0; lane < 32; lane += kLanes) {
      HalfLanes<Arithmetic>(form.a, a, columns.At(lane % 16), c, d, lane);
    }
  } else {
    FloatColumns columns;
    LoadColumns(form.b, b, columns);
    for (std::size_t lane = 0; lane < 32; lane += kLanes) {
      FloatLanes<Arithmetic>(form.a, a, columns.At(lane % 16), c, d, lane);
    }
  }
}

/// C and D have the same type. Returns false, with nothing written, when an operand is NaN or Inf.
bool WarpMmaVector(const WarpMmaForm& form, const std::uint32_t* const* a,
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
  if (specials.Found()) return false;

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

  switch (form.arithmetic) {
    case StepArithmetic::kV100:
      Multiply<FusedArithmetic<kV100DotAdd.fraction_bits> >(form, a, b, addends, d);
      break;
    case StepArithmetic::kSm75:
      Multiply<FusedArithmetic<kSm75DotAdd.fraction_bits> >(form, a, b, addends, d);
      break;
    case StepArithmetic::kSm80Software:
      Multiply<SoftwareArithmetic>(form, a, b, addends, d);
      break;
  }
  return true;
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace voltcheck::arith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace voltcheck::arith {

HWY_EXPORT(WarpMmaVector);

void WarpMma884(const WarpMmaForm& form, const std::uint32_t* const* a,
                const std::uint32_t* const* b, const std::uint32_t* const* c,
                std::uint32_t* const* d) {
  // fp16 C with fp32 D would need C in another layout; no kernel of weight uses it.
  if (form.c_half != form.d_half || !HWY_DYNAMIC_DISPATCH(WarpMmaVector)(form, a, b, c, d)) {
    WarpMma884Scalar(form, a, b, c, d);
  }
}

}  // namespace voltcheck::arith
#endif  // HWY_ONCE
