// binary16 in 32-bit cells to float and back, bit-exact on every target. Include after lanes-inl.h.
#if defined(VOLTCHECK_KERNELS_SIMULATOR_EXEC_HALF_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLTCHECK_KERNELS_SIMULATOR_EXEC_HALF_LANES_INL_H_
#undef VOLTCHECK_KERNELS_SIMULATOR_EXEC_HALF_LANES_INL_H_
#else
#define VOLTCHECK_KERNELS_SIMULATOR_EXEC_HALF_LANES_INL_H_
#endif

#include <hwy/highway.h>

#undef VOLTCHECK_NATIVE_HALF

#include "kernels/simulator/exec/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::simulator {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Whether the target converts halves itself; then rows of pairs are read as 64 halves.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define VOLTCHECK_NATIVE_HALF 1
#else
#define VOLTCHECK_NATIVE_HALF 0
#endif

/// `bits` holds one half per 32-bit cell (upper bits zero). Exact; subnormals kept.
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Vec<hn::RebindToFloat<D>> WidenHalf(D d, V bits) {
  const hn::RebindToFloat<D> df;
  // Moving the exponent field into place leaves it too small by 112; the multiplication repairs
  // that and normalises subnormals. Exponent 31 (Inf, NaN) is set apart.
  const auto magnitude = hn::And(bits, hn::Set(d, 0x7fffu));
  const auto scaled = hn::Mul(hn::BitCast(df, hn::ShiftLeft<13>(magnitude)), hn::Set(df, 0x1p112f));
  const auto special = hn::Gt(magnitude, hn::Set(d, 0x7bffu));
  const auto fixed = hn::IfThenElse(
      special, hn::Or(hn::BitCast(d, scaled), hn::Set(d, 0x7f800000u)), hn::BitCast(d, scaled));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(d, 0x8000u)));
  return hn::BitCast(df, hn::Or(fixed, sign));
}

/// Rounds to nearest even, overflow gives Inf, NaN gives 0x7FFF; one half per cell.
template <class D, class VF>
HWY_INLINE hn::Vec<D> NarrowHalf(D d, VF value) {
  const hn::RebindToFloat<D> df;
  const auto bits = hn::BitCast(d, value);
  const auto sign = hn::ShiftRight<16>(hn::And(bits, hn::Set(d, 0x80000000u)));
  const auto magnitude = hn::And(bits, hn::Set(d, 0x7fffffffu));
  // Normal results: add half of the last kept bit, less one when it is even, then rebias.
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d, 1u));
  const auto normal = hn::ShiftRight<13>(
      hn::Add(hn::Sub(magnitude, hn::Set(d, 0x38000000u)), hn::Add(odd, hn::Set(d, 0xfffu))));
  // Subnormal results: adding 1/2 puts the half's last bit into the float's, and rounds.
  const auto small = hn::Sub(hn::BitCast(d, hn::Add(hn::BitCast(df, magnitude), hn::Set(df, 0.5f))),
                             hn::Set(d, 0x3f000000u));
  auto half = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0x38800000u)), small, normal);
  half = hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, 0x477fefffu)), hn::Set(d, 0x7c00u), half);
  half = hn::Or(half, sign);
  return hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, 0x7f800000u)), hn::Set(d, 0x7fffu), half);
}

}  // namespace HWY_NAMESPACE
}  // namespace voltcheck::simulator
HWY_AFTER_NAMESPACE();

#endif  // VOLTCHECK_KERNELS_SIMULATOR_EXEC_HALF_LANES_INL_H_
