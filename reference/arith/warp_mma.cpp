#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/arith/warp_mma.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// foreach_target must come before highway.h, which the -inl headers include.
#include "reference/arith/fragments-inl.h"
#include "reference/arith/warp_mma.h"
#include "reference/arith/warp_mma_scalar.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::arith::HWY_NAMESPACE {

/// Writes D to `out`, in rows of 32 lanes. Returns false, leaving `out` undefined, when an operand
/// is NaN or Inf (the software arithmetic takes those as well) or when the target has no vectors.
using WarpKernel = bool (*)(const WarpMmaForm& form, const std::uint32_t* const* a,
                            const std::uint32_t* const* b, const std::uint32_t* const* c,
                            std::uint32_t (*out)[32]);

#if HWY_TARGET == HWY_SCALAR

bool WarpMmaVector(const WarpMmaForm&, const std::uint32_t* const*, const std::uint32_t* const*,
                   const std::uint32_t* const*, std::uint32_t (*)[32]) {
  return false;
}

#else

inline constexpr std::uint32_t kAllLanes = (std::uint32_t{1} << kLanes) - 1;

/// Bits of 16 lanes, for both halves of the warp.
HWY_INLINE std::uint32_t BothHalves(std::uint32_t lanes) { return lanes | lanes << 16; }

HWY_INLINE VF LoadFloats(const std::uint32_t* row) {
  return hn::BitCast(DF(), hn::LoadU(DU(), row));
}
HWY_INLINE void StoreFloats(VF values, std::uint32_t* row) {
  hn::StoreU(hn::BitCast(DU(), values), DU(), row);
}

HWY_INLINE bool IsSpecial(VI exponents) {
  return !hn::AllFalse(DI(), hn::Eq(exponents, hn::Set(DI(), kExponentMask)));
}

template <int kFractionBits>
bool FusedToFloat(const WarpMmaForm& form, const std::uint32_t* const* a,
                  const std::uint32_t* const* b, const std::uint32_t* const* c,
                  std::uint32_t (*out)[32]) {
  FloatRows rows;
  FloatColumns columns;
  if (ExpandFragments(form, a, b, rows, columns)) return false;
  const std::uint32_t zero_rows[2] = {rows.ZeroLanes(0), rows.ZeroLanes(1)};
  std::uint32_t zero_columns[4];
  for (int kind = 0; kind < 4; ++kind) zero_columns[kind] = BothHalves(columns.ZeroLanes(kind));

  VI special = hn::Zero(DI());
  for (std::size_t lane = 0; lane < 32; lane += kLanes) {
    for (int row = 0; row < 2; ++row) {
      Factor a_factors[4];
      rows.Get(row, lane, a_factors);
      for (int column = 0; column < 4; ++column) {
        const int i = (column & 2) * 2 + row * 2 + (column & 1);
        const VF addend = LoadFloats(c[i] + lane);
        const std::uint32_t zeros = (zero_rows[row] | zero_columns[column]) >> lane;
        if ((zeros & kAllLanes) == kAllLanes) {
          StoreFloats(KeepAddend(addend), out[i] + lane);
          continue;
        }
        Factor b_factors[4];
        columns.Get(column, lane % 16, b_factors);
        StoreFloats(FusedStep<kFractionBits>(a_factors, b_factors, addend, special), out[i] + lane);
      }
    }
  }
  return !IsSpecial(special);
}

template <int kFractionBits>
bool FusedToHalf(const WarpMmaForm& form, const std::uint32_t* const* a,
                 const std::uint32_t* const* b, const std::uint32_t* const* c,
                 std::uint32_t (*out)[32]) {
  HalfRows rows;
  HalfColumns columns;
  if (ExpandFragments(form, a, b, rows, columns)) return false;
  const std::uint32_t zero_rows = rows.ZeroLanes(0);
  VI special = hn::Zero(DI());
  for (std::size_t lane = 0; lane < 32; lane += kLanes) {
    Factor a_factors[4];
    rows.Get(0, lane, a_factors);
    const bool all_zero = ((zero_rows >> lane) & kAllLanes) == kAllLanes;
    for (int i = 0; i < 4; ++i) {
      const VU words = hn::LoadU(DU(), c[i] + lane);
      const VF low = ValueOfHalf(hn::And(words, hn::Set(DU(), 0xFFFF)));
      const VF high = ValueOfHalf(hn::ShiftRight<16>(words));
      VU low_half, high_half;
      if (all_zero) {
        low_half = HalfOfValue(UnlessMinusZero(low));
        high_half = HalfOfValue(UnlessMinusZero(high));
      } else {
        Factor b_factors[4];
        columns.Get(2 * i, lane % 16, b_factors);
        low_half = FusedStepToHalf<kFractionBits>(a_factors, b_factors, low, special);
        columns.Get(2 * i + 1, lane % 16, b_factors);
        high_half = FusedStepToHalf<kFractionBits>(a_factors, b_factors, high, special);
      }
      hn::StoreU(hn::Or(low_half, hn::ShiftLeft<16>(high_half)), DU(), out[i] + lane);
    }
  }
  return !IsSpecial(special);
}

bool SoftwareToFloat(const WarpMmaForm& form, const std::uint32_t* const* a,
                     const std::uint32_t* const* b, const std::uint32_t* const* c,
                     std::uint32_t (*out)[32]) {
  FloatRows rows;
  FloatColumns columns;
  ExpandFragments(form, a, b, rows, columns);
  for (std::size_t lane = 0; lane < 32; lane += kLanes) {
    for (int row = 0; row < 2; ++row) {
      VF a_values[4];
      rows.GetValues(row, lane, a_values);
      for (int column = 0; column < 4; ++column) {
        const int i = (column & 2) * 2 + row * 2 + (column & 1);
        VF b_values[4];
        columns.GetValues(column, lane % 16, b_values);
        StoreFloats(SoftwareStep(a_values, b_values, LoadFloats(c[i] + lane)), out[i] + lane);
      }
    }
  }
  return true;
}

bool SoftwareToHalf(const WarpMmaForm& form, const std::uint32_t* const* a,
                    const std::uint32_t* const* b, const std::uint32_t* const* c,
                    std::uint32_t (*out)[32]) {
  HalfRows rows;
  HalfColumns columns;
  ExpandFragments(form, a, b, rows, columns);
  for (std::size_t lane = 0; lane < 32; lane += kLanes) {
    VF a_values[4];
    rows.GetValues(0, lane, a_values);
    for (int i = 0; i < 4; ++i) {
      const VU words = hn::LoadU(DU(), c[i] + lane);
      VF b_values[4];
      columns.GetValues(2 * i, lane % 16, b_values);
      const VU low = SoftwareStepToHalf(a_values, b_values,
                                        ValueOfHalf(hn::And(words, hn::Set(DU(), 0xFFFF))));
      columns.GetValues(2 * i + 1, lane % 16, b_values);
      const VU high =
          SoftwareStepToHalf(a_values, b_values, ValueOfHalf(hn::ShiftRight<16>(words)));
      hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(high)), DU(), out[i] + lane);
    }
  }
  return true;
}

bool WarpMmaVector(const WarpMmaForm& form, const std::uint32_t* const* a,
                   const std::uint32_t* const* b, const std::uint32_t* const* c,
                   std::uint32_t (*out)[32]) {
  WarpKernel kernel = nullptr;
  switch (form.arithmetic) {
    case StepArithmetic::kV100:
      kernel = form.d_half ? FusedToHalf<23> : FusedToFloat<23>;
      break;
    case StepArithmetic::kSm75:
      kernel = form.d_half ? FusedToHalf<24> : FusedToFloat<24>;
      break;
    case StepArithmetic::kSm80Software:
      kernel = form.d_half ? SoftwareToHalf : SoftwareToFloat;
      break;
  }
  return kernel(form, a, b, c, out);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace voltcheck::arith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cstring>

namespace voltcheck::arith {

HWY_EXPORT(WarpMmaVector);

void WarpMma884(const WarpMmaForm& form, const std::uint32_t* const* a,
                const std::uint32_t* const* b, const std::uint32_t* const* c,
                std::uint32_t* const* d) {
  // fp16 C with fp32 D would need C in another layout; no kernel of weight uses it.
  alignas(64) std::uint32_t out[8][32];
  if (form.c_half != form.d_half || !HWY_DYNAMIC_DISPATCH(WarpMmaVector)(form, a, b, c, out)) {
    WarpMma884Scalar(form, a, b, c, d);
    return;
  }
  const int registers = form.d_half ? 4 : 8;
  for (int i = 0; i < registers; ++i) std::memcpy(d[i], out[i], sizeof(out[i]));
}

}  // namespace voltcheck::arith
#endif  // HWY_ONCE
