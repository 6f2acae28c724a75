#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/arith/half_bulk.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// foreach_target must come before highway.h, which the -inl header includes.
#include "reference/arith/half.h"
#include "reference/arith/step-inl.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::arith::HWY_NAMESPACE {

/// Converts whole vectors and returns how many elements that were; the rest is for the scalar form.
#if HWY_TARGET == HWY_SCALAR

std::size_t WidenVectors(const HalfBits*, float*, std::size_t) { return 0; }
std::size_t NarrowVectors(const float*, HalfBits*, std::size_t) { return 0; }

#else

std::size_t WidenVectors(const HalfBits* in, float* out, std::size_t n) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const VU halves = hn::PromoteTo(DU(), hn::LoadU(DH(), in + i));
    SpecialFinder specials;
    specials.AddHalves(halves);
    if (specials.Found()) {
      for (std::size_t j = i; j < i + kLanes; ++j) out[j] = arith::HalfToFloat(in[j]);
    } else {
      hn::StoreU(ValueOfHalf(halves), DF(), out + i);
    }
  }
  return i;
}

std::size_t NarrowVectors(const float* in, HalfBits* out, std::size_t n) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const VF values = hn::LoadU(DF(), in + i);
    if (!hn::AllFalse(DF(), hn::IsNaN(values))) {
      for (std::size_t j = i; j < i + kLanes; ++j) out[j] = arith::FloatToHalf(in[j]);
    } else {
      hn::StoreU(hn::DemoteTo(DH(), hn::BitCast(DI(), HalfOfValue(values))), DH(), out + i);
    }
  }
  return i;
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace voltcheck::arith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace voltcheck::arith {

HWY_EXPORT(WidenVectors);
HWY_EXPORT(NarrowVectors);

void HalfToFloat(const HalfBits* in, float* out, std::size_t n) {
  for (std::size_t i = HWY_DYNAMIC_DISPATCH(WidenVectors)(in, out, n); i < n; ++i) {
    out[i] = HalfToFloat(in[i]);
  }
}

void FloatToHalf(const float* in, HalfBits* out, std::size_t n) {
  for (std::size_t i = HWY_DYNAMIC_DISPATCH(NarrowVectors)(in, out, n); i < n; ++i) {
    out[i] = FloatToHalf(in[i]);
  }
}

}  // namespace voltcheck::arith
#endif  // HWY_ONCE
