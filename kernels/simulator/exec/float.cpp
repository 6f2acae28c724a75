// f32 and f64 arithmetic rounded to nearest, as SIMD rows.
//
// x86 and the GPU agree on IEEE results except for NaN: every f32 result that is NaN has the bits
// 0x7FFFFFFF on the GPU, whatever the operands were.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simulator/exec/float.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include "kernels/simulator/exec/lanes-inl.h"
#include "kernels/simulator/exec/rounding.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::simulator {
namespace HWY_NAMESPACE {

/// a * b + c rounded once, also on targets without such an instruction.
template <class D, class V>
HWY_INLINE V Fused(D d, V a, V b, V c) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  (void)d;
  return hn::MulAdd(a, b, c);
#else
  using T = hn::TFromD<D>;
  HWY_ALIGN T la[kWarpSize];
  HWY_ALIGN T lb[kWarpSize];
  HWY_ALIGN T lc[kWarpSize];
  hn::Store(a, d, la);
  hn::Store(b, d, lb);
  hn::Store(c, d, lc);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    la[i] = std::fma(la[i], lb[i], lc[i]);
  }
  return hn::Load(d, la);
#endif
}

/// Subnormals become zero of their sign (.ftz).
template <class D, class V>
HWY_INLINE V Flush(D d, V v) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, v);
  const auto is_small = hn::Eq(hn::And(bits, hn::Set(du, 0x7f800000u)), hn::Zero(du));
  return hn::BitCast(d, hn::IfThenElse(is_small, hn::And(bits, hn::Set(du, 0x80000000u)), bits));
}
/// Clamps to [+0, 1]; NaN gives +0 (.sat).
template <class D, class V>
HWY_INLINE V Saturate(D d, V v) {
  const auto positive = hn::IfThenElseZero(hn::Gt(v, hn::Zero(d)), v);
  return hn::IfThenElse(hn::Gt(positive, hn::Set(d, 1.0f)), hn::Set(d, 1.0f), positive);
}
template <class D, class V>
HWY_INLINE V CanonicalNan(D d, V v) {
  const hn::RebindToUnsigned<D> du;
  return hn::IfThenElse(hn::Eq(v, v), v, hn::BitCast(d, hn::Set(du, 0x7fffffffu)));
}

/// The only result that may be tiny without looking so; each operation's IsTiny looks at its exact
/// value.
constexpr float kSmallestNormal = 0x1p-126f;

struct AddOp {
  static constexpr int kArity = 2;
  static bool IsTiny(float, float) { return false; }  // sums that small are exact
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Add(a, b);
  }
};
struct SubOp {
  static constexpr int kArity = 2;
  static bool IsTiny(float, float) { return false; }
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Sub(a, b);
  }
};
struct MulOp {
  static constexpr int kArity = 2;
  static bool IsTiny(float a, float b) {
    return simulator::IsTiny<Rounding::kNearest>(static_cast<double>(a) * b);
  }
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Mul(a, b);
  }
};
struct DivOp {
  static constexpr int kArity = 2;
  static bool IsTiny(float a, float b) {
    return simulator::IsTiny<Rounding::kNearest>(static_cast<double>(a) / b);
  }
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Div(a, b);
  }
};
struct FmaOp {
  static constexpr int kArity = 3;
  static bool IsTiny(float a, float b, float c) {
    return simulator::IsTiny<Rounding::kNearest>(AddToOdd(static_cast<double>(a) * b, c));
  }
  template <class D, class V>
  static HWY_INLINE V Apply(D d, V a, V b, V c) {
    return Fused(d, a, b, c);
  }
};
struct SqrtOp {
  static constexpr int kArity = 1;
  static bool IsTiny(float) { return false; }
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a) {
    return hn::Sqrt(a);
  }
};
struct ReciprocalOp {
  static constexpr int kArity = 1;
  static bool IsTiny(float a) { return simulator::IsTiny<Rounding::kNearest>(1.0 / a); }
  template <class D, class V>
  static HWY_INLINE V Apply(D d, V a) {
    return hn::Div(hn::Set(d, 1), a);
  }
};
struct IdentityOp {
  static constexpr int kArity = 1;
  static bool IsTiny(float) { return false; }
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a) {
    return a;
  }
};
/// The other operand when one is NaN; -0 is less than +0.
template <bool kMin>
struct MinMaxOp {
  static constexpr int kArity = 2;
  static bool IsTiny(float, float) { return false; }
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    const auto first = kMin ? hn::Lt(a, b) : hn::Gt(a, b);
    const auto chosen = hn::IfThenElse(first, a, b);
    const auto equal = kMin ? hn::Or(a, b) : hn::And(a, b);
    const auto ordered = hn::IfThenElse(hn::Eq(a, b), equal, chosen);
    return hn::IfThenElse(hn::Eq(b, b), ordered, a);
  }
};

/// Lanes whose result is the smallest normal float, but tiny before it was rounded there, become
/// zero.
template <class Op, class D, class V, class... Rest>
HWY_NOINLINE V FlushTiny(D d, V r, V a, Rest... rest) {
  HWY_ALIGN float lanes[kWarpSize];
  HWY_ALIGN float operands[3][kWarpSize];
  hn::Store(r, d, lanes);
  std::size_t next = 0;
  for (const V v : {a, static_cast<V>(rest)...}) {
    hn::Store(v, d, operands[next++]);
  }
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    if (std::fabs(lanes[i]) != kSmallestNormal) {
      continue;
    }
    bool tiny = false;
    if constexpr (Op::kArity == 1) {
      tiny = Op::IsTiny(operands[0][i]);
    } else if constexpr (Op::kArity == 2) {
      tiny = Op::IsTiny(operands[0][i], operands[1][i]);
    } else {
      tiny = Op::IsTiny(operands[0][i], operands[1][i], operands[2][i]);
    }
    lanes[i] = tiny ? std::copysign(0.0f, lanes[i]) : lanes[i];
  }
  return hn::Load(d, lanes);
}

template <class Op, bool kFtz, bool kSat>
struct Float {
  using T = float;
  static constexpr int kArity = Op::kArity;
  template <class D, class V, class... Rest>
  static HWY_INLINE V Run(D d, V a, Rest... rest) {
    V r = kFtz ? Flushed(d, Flush(d, a), Flush(d, rest)...) : Op::Apply(d, a, rest...);
    if constexpr (kSat) {
      return Saturate(d, r);
    }
    return CanonicalNan(d, r);
  }
  template <class D, class V, class... Rest>
  static HWY_INLINE V Flushed(D d, V a, Rest... rest) {
    const V r = Flush(d, Op::Apply(d, a, rest...));
    const auto smallest = hn::Eq(hn::Abs(r), hn::Set(d, kSmallestNormal));
    if (HWY_LIKELY(hn::AllFalse(d, smallest))) {
      return r;
    }
    return FlushTiny<Op>(d, r, a, rest...);
  }
};
/// f64 keeps NaN payloads and makes them quiet. Of several NaN operands the second one wins, then
/// the third; of a division's the first.
template <class Op>
struct Double {
  using T = double;
  static constexpr int kArity = Op::kArity;
  template <class D, class V>
  static HWY_INLINE V Prefer(D d, V r, V operand) {
    const hn::RebindToUnsigned<D> du;
    const auto quiet =
        hn::Or(hn::BitCast(du, operand), hn::Set(du, std::uint64_t{0x0008000000000000}));
    return hn::IfThenElse(hn::Eq(operand, operand), r, hn::BitCast(d, quiet));
  }
  template <class D, class V>
  static HWY_INLINE V Run(D d, V a) {
    return Op::Apply(d, a);
  }
  template <class D, class V>
  static HWY_INLINE V Run(D d, V a, V b) {
    constexpr bool kFirst = std::is_same_v<Op, DivOp>;
    return Prefer(d, Prefer(d, Op::Apply(d, a, b), kFirst ? b : a), kFirst ? a : b);
  }
  template <class D, class V>
  static HWY_INLINE V Run(D d, V a, V b, V c) {
    return Prefer(d, Prefer(d, Prefer(d, Op::Apply(d, a, b, c), a), c), b);
  }
};
/// The number when one operand is NaN; the second operand, quiet, when both are.
template <bool kMin>
struct DoubleMinMax {
  using T = double;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run(D d, V a, V b) {
    const auto r = MinMaxOp<kMin>::Apply(d, a, b);
    return hn::IfThenElse(hn::Eq(a, a), r, Double<IdentityOp>::Prefer(d, b, b));
  }
};

/// neg and abs change the sign bit only, but not of a NaN: that is made canonical (f32) or quiet
/// (f64).
template <typename Type, bool kNegate, bool kFtz>
struct Sign {
  using T = Type;
  static constexpr int kArity = 1;
  template <class D, class V>
  static HWY_INLINE V Run(D d, V a) {
    if constexpr (kFtz) {
      a = Flush(d, a);
    }
    const auto r = kNegate ? hn::Xor(a, hn::SignBit(d)) : hn::AndNot(hn::SignBit(d), a);
    if constexpr (std::is_same_v<T, float>) {
      return CanonicalNan(d, r);
    } else {
      return Double<IdentityOp>::Prefer(d, r, a);
    }
  }
};

/// "add.f32" and "add.rn.f32", with .ftz and .sat.
template <class Op>
void AppendFloat(OpList& list, const std::string& name, const std::string& pattern, bool plain,
                 bool rounded) {
  for (const char* rounding : {"", ".rn"}) {
    if (rounding[0] == 0 ? !plain : !rounded) {
      continue;
    }
    const std::string key = name + rounding;
    list.push_back(MapEntry<Float<Op, false, false>>(key + ".f32", pattern));
    list.push_back(MapEntry<Float<Op, false, true>>(key + ".sat.f32", pattern));
    list.push_back(MapEntry<Float<Op, true, false>>(key + ".ftz.f32", pattern));
    list.push_back(MapEntry<Float<Op, true, true>>(key + ".ftz.sat.f32", pattern));
  }
}
template <class Op>
void AppendDouble(OpList& list, const std::string& name, const std::string& pattern, bool plain,
                  bool rounded) {
  if (plain) {
    list.push_back(MapEntry<Double<Op>>(name + ".f64", pattern));
  }
  if (rounded) {
    list.push_back(MapEntry<Double<Op>>(name + ".rn.f64", pattern));
  }
}

OpList FloatOps() {
  OpList list;
  AppendFloat<AddOp>(list, "add", "w=ww", true, true);
  AppendFloat<SubOp>(list, "sub", "w=ww", true, true);
  AppendFloat<MulOp>(list, "mul", "w=ww", true, true);
  AppendFloat<FmaOp>(list, "fma", "w=www", false, true);
  AppendFloat<FmaOp>(list, "mad", "w=www", false, true);
  list.push_back(MapEntry<Float<DivOp, false, false>>("div.rn.f32", "w=ww"));
  list.push_back(MapEntry<Float<DivOp, true, false>>("div.rn.ftz.f32", "w=ww"));
  list.push_back(MapEntry<Float<SqrtOp, false, false>>("sqrt.rn.f32", "w=w"));
  list.push_back(MapEntry<Float<SqrtOp, true, false>>("sqrt.rn.ftz.f32", "w=w"));
  list.push_back(MapEntry<Float<ReciprocalOp, false, false>>("rcp.rn.f32", "w=w"));
  list.push_back(MapEntry<Float<ReciprocalOp, true, false>>("rcp.rn.ftz.f32", "w=w"));
  list.push_back(MapEntry<Float<MinMaxOp<true>, false, false>>("min.f32", "w=ww"));
  list.push_back(MapEntry<Float<MinMaxOp<true>, true, false>>("min.ftz.f32", "w=ww"));
  list.push_back(MapEntry<Float<MinMaxOp<false>, false, false>>("max.f32", "w=ww"));
  list.push_back(MapEntry<Float<MinMaxOp<false>, true, false>>("max.ftz.f32", "w=ww"));
  list.push_back(MapEntry<Sign<float, true, false>>("neg.f32", "w=w"));
  list.push_back(MapEntry<Sign<float, true, true>>("neg.ftz.f32", "w=w"));
  list.push_back(MapEntry<Sign<float, false, false>>("abs.f32", "w=w"));
  list.push_back(MapEntry<Sign<float, false, true>>("abs.ftz.f32", "w=w"));
  list.push_back(MapEntry<Float<IdentityOp, true, false>>("cvt.ftz.f32.f32", "w=w"));
  list.push_back(MapEntry<Float<IdentityOp, false, true>>("cvt.sat.f32.f32", "w=w"));
  list.push_back(MapEntry<Float<IdentityOp, true, true>>("cvt.ftz.sat.f32.f32", "w=w"));

  AppendDouble<AddOp>(list, "add", "x=xx", true, true);
  AppendDouble<SubOp>(list, "sub", "x=xx", true, true);
  AppendDouble<MulOp>(list, "mul", "x=xx", true, true);
  AppendDouble<FmaOp>(list, "fma", "x=xxx", false, true);
  AppendDouble<FmaOp>(list, "mad", "x=xxx", false, true);
  AppendDouble<DivOp>(list, "div", "x=xx", false, true);
  AppendDouble<SqrtOp>(list, "sqrt", "x=x", false, true);
  AppendDouble<ReciprocalOp>(list, "rcp", "x=x", false, true);
  list.push_back(MapEntry<DoubleMinMax<true>>("min.f64", "x=xx"));
  list.push_back(MapEntry<DoubleMinMax<false>>("max.f64", "x=xx"));
  list.push_back(MapEntry<Sign<double, true, false>>("neg.f64", "x=x"));
  list.push_back(MapEntry<Sign<double, false, false>>("abs.f64", "x=x"));
  list.push_back(MapEntry<Double<IdentityOp>>("cvt.f64.f64", "x=x"));
  return list;
}

}  // namespace HWY_NAMESPACE
}  // namespace voltcheck::simulator
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace voltcheck::simulator {
HWY_EXPORT(FloatOps);
void AppendFloatOps(OpList& list) {
  for (OpEntry& entry : HWY_DYNAMIC_DISPATCH(FloatOps)()) {
    list.push_back(std::move(entry));
  }
}
}  // namespace voltcheck::simulator
#endif  // HWY_ONCE
