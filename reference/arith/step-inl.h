// The vector form of one k-step, for several outputs at a time. Included once per Highway target.
//
// How it computes the rule of FusedDotAdd without a shift per sign: a product of two halves is
// exact in fp32, scaling it by 2^(F - M) is exact, and the conversion to an integer then cuts
// toward zero. The integers add exactly. Outputs with a NaN or Inf among their operands are left to
// the scalar form.

#if defined(VOLTCHECK_REFERENCE_ARITH_STEP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLTCHECK_REFERENCE_ARITH_STEP_INL_H_
#undef VOLTCHECK_REFERENCE_ARITH_STEP_INL_H_
#else
#define VOLTCHECK_REFERENCE_ARITH_STEP_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "reference/arith/fused_dot_add.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::arith::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using DF = hn::CappedTag<float, 16>;
using DI = hn::RebindToSigned<DF>;
using DU = hn::RebindToUnsigned<DF>;
using DH = hn::Rebind<std::uint16_t, DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;
using VU = hn::Vec<DU>;
/// Outputs per vector: 4, 8 or 16.
inline constexpr std::size_t kLanes = hn::MaxLanes(DF());

/// Exponents are kept at their place in fp32 bits, with the bias of one factor only, so that the
/// sum of two is the bits of a power of two.
inline constexpr std::int32_t kExponentMask = 0x7F800000;
inline constexpr std::int32_t kBias = 127 << 23;
inline constexpr std::int32_t kSmallestExponent = kBias - (14 << 23);
/// Exponents of a zero factor: every sum with them is negative and none wraps.
inline constexpr std::int32_t kZeroA = -200'000'000;
inline constexpr std::int32_t kZeroB = -1'300'000'000;

/// One factor of a product in each lane.
struct Factor {
  VF value;
  VI exponent;  ///< kZeroA or kZeroB where the value is 0
};

/// fp32 values of the finite halves in the low 16 bits of each lane; the high bits are 0.
HWY_INLINE VF ValueOfHalf(VU half) {
#if HWY_TARGET <= HWY_AVX2
  const hn::Rebind<hwy::float16_t, DF> d16;
  return hn::PromoteTo(DF(), hn::BitCast(d16, hn::DemoteTo(DH(), hn::BitCast(DI(), half))));
#else
  const DU du;
  const VU magnitude = hn::And(half, hn::Set(du, 0x7FFF));
  const VU sign = hn::ShiftLeft<16>(hn::AndNot(hn::Set(du, 0x7FFF), half));
  const VU moved = hn::ShiftLeft<13>(magnitude);
  // Normal numbers change their bias; a subnormal one is read with a leading 1, which is taken off
  // again.
  const VU normal = hn::Add(moved, hn::Set(du, 112U << 23));
  const VF subnormal =
      hn::Sub(hn::BitCast(DF(), hn::Add(moved, hn::Set(du, 113U << 23))), hn::Set(DF(), 0x1p-14F));
  const VI signed_magnitude = hn::BitCast(DI(), magnitude);
  const auto is_subnormal = hn::RebindMask(DF(), hn::Lt(signed_magnitude, hn::Set(DI(), 0x400)));
  const VF value = hn::IfThenElse(is_subnormal, subnormal, hn::BitCast(DF(), normal));
  return hn::Or(value, hn::BitCast(DF(), sign));
#endif
}

/// The half nearest (ties to even) to each fp32 value that is not NaN, in the low 16 bits.
HWY_INLINE VU HalfOfValue(VF value) {
  const DU du;
#if HWY_TARGET <= HWY_AVX2
  const hn::Rebind<hwy::float16_t, DF> d16;
  return hn::PromoteTo(du, hn::BitCast(DH(), hn::DemoteTo(d16, value)));
#else
  const DI di;
  const VU sign = hn::And(hn::BitCast(du, value), hn::Set(du, 0x80000000U));
  const VU magnitude = hn::Xor(hn::BitCast(du, value), sign);
  // Subnormal results: adding 1/2 aligns the last place 2^-24 with that of the sum, which rounds.
  const VU aligned =
      hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(DF(), magnitude), hn::Set(DF(), 0.5F))),
              hn::Set(du, 0x3F000000U));
  // Normal results: half of the last place, less one unless the kept bit is odd.
  const VU odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1));
  const VU rounded = hn::ShiftRight<13>(
      hn::Add(hn::Add(hn::Sub(magnitude, hn::Set(du, 112U << 23)), hn::Set(du, 0xFFF)), odd));
  const VI order = hn::BitCast(di, magnitude);
  const auto is_subnormal = hn::RebindMask(du, hn::Lt(order, hn::Set(di, 113 << 23)));
  const auto overflows = hn::RebindMask(du, hn::Gt(order, hn::Set(di, 0x477FEFFF)));  // 65520 up
  VU half = hn::IfThenElse(is_subnormal, aligned, rounded);
  half = hn::IfThenElse(overflows, hn::Set(du, 0x7C00), half);
  return hn::Or(half, hn::ShiftRight<16>(sign));
#endif
}

/// Exact: 22 significant bits.
HWY_INLINE VF Product(const Factor& a, const Factor& b) { return hn::Mul(a.value, b.value); }

/// Finite halves as factors; the two sides of a product carry the bias differently.
template <std::int32_t kZero, std::int32_t kRemovedBias>
HWY_INLINE Factor Decode(VU half) {
  const DI di;
  const VF value = ValueOfHalf(half);
  const VI field = hn::And(hn::BitCast(di, value), hn::Set(di, kExponentMask));
  VI exponent = hn::Max(field, hn::Set(di, kSmallestExponent));
  if (kRemovedBias != 0) exponent = hn::Sub(exponent, hn::Set(di, kRemovedBias));
  const auto is_zero = hn::RebindMask(di, hn::Eq(value, hn::Zero(DF())));
  return {value, hn::IfThenElse(is_zero, hn::Set(di, kZero), exponent)};
}
HWY_INLINE Factor DecodeA(VU half) { return Decode<kZeroA, 0>(half); }
HWY_INLINE Factor DecodeB(VU half) { return Decode<kZeroB, kBias>(half); }

/// Finds NaN and Inf among operands.
class SpecialFinder {
 public:
  HWY_INLINE SpecialFinder()
      : halves_(hn::Zero(D16())), floats_(hn::Zero(DI())), lowest_(hn::Zero(DI())) {}

  HWY_INLINE void AddHalves(VU pairs) {
    halves_ = hn::Max(halves_, hn::And(hn::BitCast(D16(), pairs), hn::Set(D16(), 0x7FFF)));
  }
  HWY_INLINE void AddFloats(VF values) {
    const VI bits = hn::BitCast(DI(), values);
    floats_ = hn::Max(floats_, hn::And(bits, hn::Set(DI(), 0x7FFFFFFF)));
    lowest_ = hn::Min(lowest_, bits);
  }
  /// `count` words, a multiple of kLanes.
  HWY_INLINE void AddHalves(const std::uint32_t* pairs, std::size_t count) {
    for (std::size_t i = 0; i < count; i += kLanes) AddHalves(hn::LoadU(DU(), pairs + i));
  }
  HWY_INLINE void AddFloats(const std::uint32_t* bits, std::size_t count) {
    for (std::size_t i = 0; i < count; i += kLanes) {
      AddFloats(hn::BitCast(DF(), hn::LoadU(DU(), bits + i)));
    }
  }
  /// Floats count whose bits without the sign are above `largest`.
  HWY_INLINE bool Found(std::int32_t largest = 0x7F7FFFFF) const {
    return !hn::AllFalse(D16(), hn::Gt(halves_, hn::Set(D16(), 0x7BFF))) ||
           !hn::AllFalse(DI(), hn::Gt(floats_, hn::Set(DI(), largest)));
  }
  /// Whether one of the floats is -0, whose bits are the lowest integer.
  HWY_INLINE bool FoundMinusZero() const {
    return !hn::AllFalse(DI(), hn::Eq(lowest_, hn::Set(DI(), hwy::LimitsMin<std::int32_t>())));
  }

 private:
  using D16 = hn::Repartition<std::int16_t, DF>;
  hn::Vec<D16> halves_;
  VI floats_;
  VI lowest_;
};

/// Whether every lane has zeros for every k.
HWY_INLINE bool AllZero(const Factor (&factors)[4]) {
  const VF any = hn::Or(hn::Or(factors[0].value, factors[1].value),
                        hn::Or(factors[2].value, factors[3].value));
  return hn::AllTrue(DF(), hn::Eq(any, hn::Zero(DF())));
}

/// Toward zero, for values that fit: without the saturation that hn::ConvertTo adds.
HWY_INLINE VI Truncate(VF value) {
#if HWY_TARGET <= HWY_AVX3
  return VI{_mm512_cvttps_epi32(value.raw)};
#elif HWY_TARGET == HWY_AVX2
  return VI{_mm256_cvttps_epi32(value.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
  return VI{_mm_cvttps_epi32(value.raw)};
#else
  return hn::ConvertTo(DI(), value);
#endif
}

/// `yes` where `sign` is negative. (Before Highway 1.0.4 IfNegativeThenElse is wrong on SSSE3,
/// where it needs a blend by whole lanes.)
HWY_INLINE VF WhereNegative(VI sign, VF yes, VF no) {
#if HWY_TARGET == HWY_SSSE3
  return hn::IfThenElse(hn::RebindMask(DF(), hn::Lt(sign, hn::Zero(DI()))), yes, no);
#else
  return hn::IfNegativeThenElse(hn::BitCast(DF(), sign), yes, no);
#endif
}

/// D of a step whose products are all zero: C, -0 becoming +0.
HWY_INLINE VF UnlessMinusZero(VF c) { return hn::Add(c, hn::Zero(DF())); }

/// The exact sum of a step, before its one rounding.
struct AlignedSum {
  VI units;     ///< in units of 2^(M - F)
  VI largest;   ///< bits of 2^M
  VI products;  ///< bits of the largest power among the products; negative where all are zero
};

template <int kFractionBits>
HWY_INLINE AlignedSum SumAligned(const Factor (&a)[4], const Factor (&b)[4], VF c) {
  const DI di;
  const VI e0 = hn::Add(a[0].exponent, b[0].exponent);
  const VI e1 = hn::Add(a[1].exponent, b[1].exponent);
  const VI e2 = hn::Add(a[2].exponent, b[2].exponent);
  const VI e3 = hn::Add(a[3].exponent, b[3].exponent);
  const VI products = hn::Max(hn::Max(e0, e1), hn::Max(e2, e3));
  const VI c_field = hn::And(hn::BitCast(di, c), hn::Set(di, kExponentMask));
  const VI largest = hn::Max(products, c_field);
  // 2^(F - M) from the bits of 2^M: biases and exponents add up modulo 2^32.
  constexpr auto kScaleBits =
      static_cast<std::int32_t>(2 * static_cast<std::uint32_t>(kBias) + (kFractionBits << 23));
  const VF scale = hn::BitCast(DF(), hn::Sub(hn::Set(di, kScaleBits), largest));
  VI units = Truncate(hn::Mul(c, scale));
  const VI t0 = Truncate(hn::Mul(Product(a[0], b[0]), scale));
  const VI t1 = Truncate(hn::Mul(Product(a[1], b[1]), scale));
  const VI t2 = Truncate(hn::Mul(Product(a[2], b[2]), scale));
  const VI t3 = Truncate(hn::Mul(Product(a[3], b[3]), scale));
  units = hn::Add(hn::Add(hn::Add(t0, t1), hn::Add(t2, t3)), units);
  return {units, largest, products};
}

/// significand * 2^(M - F) with the sign of the sum. Never subnormal: a nonzero product has M >=
/// -28.
template <int kFractionBits>
HWY_INLINE VF Compose(VI significand, const AlignedSum& sum) {
  const DI di;
  const VI unit = hn::Sub(sum.largest, hn::Set(di, kFractionBits << 23));
  const VI sign = hn::And(sum.units, hn::Set(di, static_cast<std::int32_t>(0x80000000U)));
  return hn::Mul(hn::ConvertTo(DF(), significand), hn::BitCast(DF(), hn::Or(unit, sign)));
}

/// FusedDotAdd with four terms.
template <int kFractionBits>
struct FusedArithmetic {
  /// Whether zero products leave a half C as UnlessMinusZero does.
  static constexpr bool kZerosKeepHalf = true;

  static HWY_INLINE VF Step(const Factor (&a)[4], const Factor (&b)[4], VF c) {
    const AlignedSum sum = SumAligned<kFractionBits>(a, b, c);
    // A magnitude of 24 + n bits has its n low bits cut by the conversion, which rounds to nearest:
    // with the first of them (the top bit of `excess`) cleared, nearest is toward zero.
    const VI magnitude = hn::Abs(sum.units);
    const VI excess = hn::ShiftRight<24>(magnitude);
    const VF rounded = Compose<kFractionBits>(hn::AndNot(excess, magnitude), sum);
    return WhereNegative(sum.products, UnlessMinusZero(c), rounded);
  }

  /// The bits of a half in each lane.
  static HWY_INLINE VU StepToHalf(const Factor (&a)[4], const Factor (&b)[4], VF c) {
    const DI di;
    const AlignedSum sum = SumAligned<kFractionBits>(a, b, c);
    // Fewer than 30 bits: where they do not fit fp32, the lowest five become one sticky bit.
    const VI magnitude = hn::Abs(sum.units);
    const VI low = hn::Set(di, 31);
    const VI sticky = hn::AndNot(low, hn::Or(magnitude, hn::Add(hn::And(magnitude, low), low)));
    const VI exact = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, 0xFFFFFF)), sticky, magnitude);
    const VF wide = Compose<kFractionBits>(exact, sum);
    return HalfOfValue(WhereNegative(sum.products, UnlessMinusZero(c), wide));
  }
};

/// SoftwareDotAdd: products are exact, so a multiplication and an addition are the fused operation.
/// Finite halves cannot overflow fp32, so no NaN arises.
struct SoftwareArithmetic {
  /// Sums of negative zeros stay negative there.
  static constexpr bool kZerosKeepHalf = false;

  static HWY_INLINE VF Step(const Factor (&a)[4], const Factor (&b)[4], VF c) {
    VF sum = hn::Add(Product(a[0], b[0]), hn::Zero(DF()));
    for (int k = 1; k < 4; ++k) sum = hn::Add(sum, Product(a[k], b[k]));
    return hn::Add(c, sum);
  }

  static HWY_INLINE VU StepToHalf(const Factor (&a)[4], const Factor (&b)[4], VF c) {
    const VF p = hn::Add(Product(a[0], b[0]), Product(a[1], b[1]));
    const VF q = hn::Add(Product(a[2], b[2]), Product(a[3], b[3]));
    return HalfOfValue(hn::Add(hn::Add(c, p), q));
  }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace voltcheck::arith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // VOLTCHECK_REFERENCE_ARITH_STEP_INL_H_
