// The comparisons of setp, set and slct ("@setp.lt.s32" writes one predicate), and selp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simulator/exec/compare.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include "kernels/simulator/exec/half_lanes-inl.h"
#include "kernels/simulator/exec/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::simulator {
namespace HWY_NAMESPACE {

enum class Relation { kEq, kNe, kLt, kLe, kGt, kGe, kNumber, kNan };

/// `kUnordered`: also true when an operand is NaN (equ, neu, ltu, ...).
template <Relation kRelation, bool kUnordered, class D, class V>
HWY_INLINE hn::Mask<D> Compare(D, V a, V b) {
  if constexpr (kUnordered) {  // the negation of the opposite ordered relation
    switch (kRelation) {
      case Relation::kEq:
        return hn::Not(hn::Or(hn::Lt(a, b), hn::Gt(a, b)));
      case Relation::kNe:
        return hn::Not(hn::Eq(a, b));
      case Relation::kLt:
        return hn::Not(hn::Ge(a, b));
      case Relation::kLe:
        return hn::Not(hn::Gt(a, b));
      case Relation::kGt:
        return hn::Not(hn::Le(a, b));
      default:
        return hn::Not(hn::Lt(a, b));
    }
  } else {
    switch (kRelation) {
      case Relation::kEq:
        return hn::Eq(a, b);
      case Relation::kNe:  // ordered: false when an operand is NaN
        if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
          return hn::Or(hn::Lt(a, b), hn::Gt(a, b));
        } else {
          return hn::Ne(a, b);
        }
      case Relation::kLt:
        return hn::Lt(a, b);
      case Relation::kLe:
        if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
          return hn::Le(a, b);
        } else {
          return hn::Not(hn::Gt(a, b));
        }
      case Relation::kGt:
        return hn::Gt(a, b);
      case Relation::kGe:
        if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
          return hn::Ge(a, b);
        } else {
          return hn::Not(hn::Lt(a, b));
        }
      case Relation::kNumber:
        return hn::And(hn::Eq(a, a), hn::Eq(b, b));
      default:  // Highway's Ne is false for NaN on some targets
        return hn::Not(hn::And(hn::Eq(a, a), hn::Eq(b, b)));
    }
  }
}

template <class D, class V>
HWY_INLINE V FlushFloat(D d, V v) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, v);
  const auto is_small = hn::Eq(hn::And(bits, hn::Set(du, 0x7f800000u)), hn::Zero(du));
  return hn::BitCast(d, hn::IfThenElse(is_small, hn::And(bits, hn::Set(du, 0x80000000u)), bits));
}

template <typename Type, Relation kRelation, bool kUnordered, bool kFtz>
struct Test {
  using T = Type;
  template <class D, class V>
  static HWY_INLINE hn::Mask<D> Run(D d, V a, V b) {
    if constexpr (kFtz) {
      a = FlushFloat(d, a);
      b = FlushFloat(d, b);
    }
    return Compare<kRelation, kUnordered>(d, a, b);
  }
};

/// 16-bit integers lie zero-extended in 32-bit cells; signed ones are extended here.
template <Relation kRelation>
struct TestSigned16 {
  using T = std::int32_t;
  template <class D, class V>
  static HWY_INLINE hn::Mask<D> Run(D d, V a, V b) {
    return Compare<kRelation, false>(d, hn::ShiftLeft<16>(a), hn::ShiftLeft<16>(b));
  }
};

template <class D, class V>
HWY_INLINE V FlushHalf(D d, V bits) {
  const auto is_small = hn::Eq(hn::And(bits, hn::Set(d, 0x7c00u)), hn::Zero(d));
  return hn::IfThenElse(is_small, hn::And(bits, hn::Set(d, 0x8000u)), bits);
}
template <Relation kRelation, bool kUnordered, bool kFtz, class D, class V>
HWY_INLINE hn::Mask<D> CompareHalves(D d, V a, V b) {
  const hn::RebindToFloat<D> df;
  if constexpr (kFtz) {
    a = FlushHalf(d, a);
    b = FlushHalf(d, b);
  }
  return hn::RebindMask(d, Compare<kRelation, kUnordered>(df, WidenHalf(d, a), WidenHalf(d, b)));
}
template <Relation kRelation, bool kUnordered, bool kFtz>
struct TestHalf {
  using T = std::uint32_t;
  template <class D, class V>
  static HWY_INLINE hn::Mask<D> Run(D d, V a, V b) {
    return CompareHalves<kRelation, kUnordered, kFtz>(d, a, b);
  }
};
/// f16x2: op[0] for the low halves, op[1] for the high ones.
template <Relation kRelation, bool kUnordered, bool kFtz>
void TestHalfPair(ExecContext& context, const Instr& instr) {
  const Tag<std::uint32_t> d;
  const std::uint32_t* a = context.Row<const std::uint32_t>(instr.op[2]);
  const std::uint32_t* b = context.Row<const std::uint32_t>(instr.op[3]);
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  const auto low_mask = hn::Set(d, 0xffffu);
  for (std::size_t i = 0; i < kWarpSize; i += hn::Lanes(d)) {
    const auto va = hn::Load(d, a + i);
    const auto vb = hn::Load(d, b + i);
    low |= MaskBits(
        d,
        CompareHalves<kRelation, kUnordered, kFtz>(d, hn::And(va, low_mask), hn::And(vb, low_mask)),
        i);
    high |= MaskBits(d,
                     CompareHalves<kRelation, kUnordered, kFtz>(d, hn::ShiftRight<16>(va),
                                                                hn::ShiftRight<16>(vb)),
                     i);
  }
  std::uint32_t* p = context.Row<std::uint32_t>(instr.op[0]);
  std::uint32_t* q = context.Row<std::uint32_t>(instr.op[1]);
  *p = (*p & ~context.mask) | (low & context.mask);
  *q = (*q & ~context.mask) | (high & context.mask);
}

template <typename T, bool kFull>
void Select(ExecContext& context, const Instr& instr) {
  const Tag<T> d;
  T* out = context.Row<T>(instr.op[0]);
  const T* a = context.Row<const T>(instr.op[1]);
  const T* b = context.Row<const T>(instr.op[2]);
  const std::uint32_t p = *context.Row<const std::uint32_t>(instr.op[3]);
  for (std::size_t i = 0; i < kWarpSize; i += hn::Lanes(d)) {
    const auto chosen = hn::IfThenElse(LaneMask(d, p, i), hn::Load(d, a + i), hn::Load(d, b + i));
    StoreLanes<kFull>(d, chosen, context.mask, i, out);
  }
}

template <typename T, Relation kRelation>
void AppendInteger(OpList& list, const std::string& name, const std::string& type) {
  list.push_back(CompareEntry<Test<T, kRelation, false, false>>("@setp." + name + "." + type, ""));
}
/// Signed and unsigned orderings; unsigned ones also by their names lo, ls, hi, hs.
template <typename S, typename U>
void AppendIntegers(OpList& list, const std::string& bits) {
  AppendInteger<U, Relation::kEq>(list, "eq", "b" + bits);
  AppendInteger<U, Relation::kNe>(list, "ne", "b" + bits);
  AppendInteger<U, Relation::kEq>(list, "eq", "u" + bits);
  AppendInteger<U, Relation::kNe>(list, "ne", "u" + bits);
  AppendInteger<U, Relation::kLt>(list, "lt", "u" + bits);
  AppendInteger<U, Relation::kLe>(list, "le", "u" + bits);
  AppendInteger<U, Relation::kGt>(list, "gt", "u" + bits);
  AppendInteger<U, Relation::kGe>(list, "ge", "u" + bits);
  AppendInteger<U, Relation::kLt>(list, "lo", "u" + bits);
  AppendInteger<U, Relation::kLe>(list, "ls", "u" + bits);
  AppendInteger<U, Relation::kGt>(list, "hi", "u" + bits);
  AppendInteger<U, Relation::kGe>(list, "hs", "u" + bits);
  if constexpr (!std::is_same_v<S, void>) {
    AppendInteger<S, Relation::kEq>(list, "eq", "s" + bits);
    AppendInteger<S, Relation::kNe>(list, "ne", "s" + bits);
    AppendInteger<S, Relation::kLt>(list, "lt", "s" + bits);
    AppendInteger<S, Relation::kLe>(list, "le", "s" + bits);
    AppendInteger<S, Relation::kGt>(list, "gt", "s" + bits);
    AppendInteger<S, Relation::kGe>(list, "ge", "s" + bits);
  }
}
template <Relation kRelation>
void AppendSigned16(OpList& list, const std::string& name) {
  list.push_back(CompareEntry<TestSigned16<kRelation>>("@setp." + name + ".s16", ""));
}

template <Relation kRelation, bool kUnordered>
void AppendFloatRelation(OpList& list, const std::string& name) {
  const std::string key = "@setp." + name;
  list.push_back(CompareEntry<Test<float, kRelation, kUnordered, false>>(key + ".f32", ""));
  list.push_back(CompareEntry<Test<float, kRelation, kUnordered, true>>(key + ".ftz.f32", ""));
  list.push_back(CompareEntry<Test<double, kRelation, kUnordered, false>>(key + ".f64", ""));
  list.push_back(CompareEntry<TestHalf<kRelation, kUnordered, false>>(key + ".f16", ""));
  list.push_back(CompareEntry<TestHalf<kRelation, kUnordered, true>>(key + ".ftz.f16", ""));
  const Handler pair = TestHalfPair<kRelation, kUnordered, false>;
  const Handler pair_ftz = TestHalfPair<kRelation, kUnordered, true>;
  list.push_back({key + ".f16x2", "", pair, pair});
  list.push_back({key + ".ftz.f16x2", "", pair_ftz, pair_ftz});
}

OpList CompareOps() {
  OpList list;
  AppendIntegers<std::int32_t, std::uint32_t>(list, "32");
  AppendIntegers<std::int64_t, std::uint64_t>(list, "64");
  AppendIntegers<void, std::uint32_t>(list, "16");
  AppendSigned16<Relation::kEq>(list, "eq");
  AppendSigned16<Relation::kNe>(list, "ne");
  AppendSigned16<Relation::kLt>(list, "lt");
  AppendSigned16<Relation::kLe>(list, "le");
  AppendSigned16<Relation::kGt>(list, "gt");
  AppendSigned16<Relation::kGe>(list, "ge");
  AppendFloatRelation<Relation::kEq, false>(list, "eq");
  AppendFloatRelation<Relation::kNe, false>(list, "ne");
  AppendFloatRelation<Relation::kLt, false>(list, "lt");
  AppendFloatRelation<Relation::kLe, false>(list, "le");
  AppendFloatRelation<Relation::kGt, false>(list, "gt");
  AppendFloatRelation<Relation::kGe, false>(list, "ge");
  AppendFloatRelation<Relation::kEq, true>(list, "equ");
  AppendFloatRelation<Relation::kNe, true>(list, "neu");
  AppendFloatRelation<Relation::kLt, true>(list, "ltu");
  AppendFloatRelation<Relation::kLe, true>(list, "leu");
  AppendFloatRelation<Relation::kGt, true>(list, "gtu");
  AppendFloatRelation<Relation::kGe, true>(list, "geu");
  AppendFloatRelation<Relation::kNumber, false>(list, "num");
  AppendFloatRelation<Relation::kNan, false>(list, "nan");
  list.push_back({"@selp.32", "", Select<std::uint32_t, false>, Select<std::uint32_t, true>});
  list.push_back({"@selp.64", "", Select<std::uint64_t, false>, Select<std::uint64_t, true>});
  return list;
}

}  // namespace HWY_NAMESPACE
}  // namespace voltcheck::simulator
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace voltcheck::simulator {
HWY_EXPORT(CompareOps);
void AppendCompareOps(OpList& list) {
  for (OpEntry& entry : HWY_DYNAMIC_DISPATCH(CompareOps)()) {
    list.push_back(std::move(entry));
  }
}
}  // namespace voltcheck::simulator
#endif  // HWY_ONCE
