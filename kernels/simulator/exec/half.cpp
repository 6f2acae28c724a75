// f16 and f16x2 arithmetic, as SIMD rows. Every result is the exact value rounded to nearest even
// once; a NaN result is 0x7FFF.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simulator/exec/half.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <cstring>
#include <type_traits>

#include "kernels/simulator/exec/half_lanes-inl.h"
#include "kernels/simulator/exec/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::simulator {
namespace HWY_NAMESPACE {

// float holds products of halves exactly, and 24 bits are at least 2 * 11 + 2, so rounding a float
// sum or product once more to half equals rounding once.
struct HalfAdd {
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Add(a, b);
  }
};
struct HalfSub {
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Sub(a, b);
  }
};
struct HalfMul {
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Mul(a, b);
  }
};
/// The product is exact; the sum is rounded to odd (Knuth's two-sum gives its error), so that the
/// conversion to half is the only rounding.
struct HalfFma {
  static constexpr int kArity = 3;
  template <class D, class V>
  static HWY_INLINE V Apply(D d, V a, V b, V c) {
    const hn::RebindToSigned<D> di;
    const auto product = hn::Mul(a, b);
    const auto sum = hn::Add(product, c);
    const auto cc = hn::Sub(sum, product);
    const auto error = hn::Add(hn::Sub(product, hn::Sub(sum, cc)), hn::Sub(c, cc));
    // Where the error is not zero: one step down if it makes the sum smaller, then the last bit
    // set; an odd sum comes back to itself. Inf and NaN sums have a NaN error, which counts as
    // zero.
    const auto bits = hn::BitCast(di, sum);
    const auto inexact = hn::RebindMask(di, hn::Gt(hn::Abs(error), hn::Zero(d)));
    const auto smaller = hn::ShiftRight<31>(hn::Xor(hn::BitCast(di, error), bits));
    const auto odd = hn::Or(hn::Add(bits, smaller), hn::Set(di, 1));
    return hn::BitCast(d, hn::IfThenElse(inexact, odd, bits));
  }
};
template <bool kMin>
struct HalfMinMax {
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    const auto first = kMin ? hn::Lt(a, b) : hn::Gt(a, b);
    const auto chosen = hn::IfThenElse(first, a, b);
    const auto equal = kMin ? hn::Or(a, b) : hn::And(a, b);
    const auto ordered = hn::IfThenElse(hn::Eq(a, b), equal, chosen);
    return hn::IfThenElse(hn::Eq(b, b), ordered, a);
  }
};

/// What .ftz and .sat do to a result before it is narrowed. Tiny is what lies below the smallest
/// normal half after rounding to 11 bits with no limit to its exponent.
template <bool kFtz, bool kSat, class D, class V>
HWY_INLINE V FinishHalf(D d, V r) {
  if constexpr (kFtz) {
    const auto is_tiny = hn::Lt(hn::Abs(r), hn::Set(d, 0x1.ffep-15f));
    r = hn::IfThenElse(is_tiny, hn::And(r, hn::SignBit(d)), r);
  }
  if constexpr (kSat) {
    const auto positive = hn::IfThenElseZero(hn::Gt(r, hn::Zero(d)), r);
    r = hn::Min(positive, hn::Set(d, 1.0f));
  }
  return r;
}

template <class Op, bool kFtz, bool kSat>
struct HalfOp {
  using T = std::uint32_t;
  static constexpr int kArity = Op::kArity;

  template <class D, class V>
  static HWY_INLINE V Decode(D d, V bits) {
    if constexpr (kFtz) {  // subnormal halves become zero of their sign
      const auto is_small = hn::Eq(hn::And(bits, hn::Set(d, 0x7c00u)), hn::Zero(d));
      bits = hn::IfThenElse(is_small, hn::And(bits, hn::Set(d, 0x8000u)), bits);
    }
    return bits;
  }
  /// One half per 32-bit cell, the upper bits zero.
  template <class D, class V, class... Rest>
  static HWY_INLINE V Half(D d, V a, Rest... rest) {
    const hn::RebindToFloat<D> df;
    auto r = Op::Apply(df, WidenHalf(d, Decode(d, a)), WidenHalf(d, Decode(d, rest))...);
    r = FinishHalf<kFtz, kSat>(df, r);
    return NarrowHalf(d, r);
  }
};
/// f16: one half in a cell.
template <class Op, bool kFtz, bool kSat>
struct Scalar16 : HalfOp<Op, kFtz, kSat> {
  template <class D, class V, class... Rest>
  static HWY_INLINE V Run(D d, V a, Rest... rest) {
    return HalfOp<Op, kFtz, kSat>::Half(d, a, rest...);
  }
};
#if VOLTCHECK_NATIVE_HALF
/// a * b + c of 64 halves where every float sum is exact, as in what dequantises: then nothing
/// needs to be rounded to odd. False, and `results` to be thrown away, where one is not (or is not
/// finite). The float sum s of p and c is exact if both s - c gives p and s - p gives c: of these
/// differences, the one with the larger of the two operands has no rounding error (Dekker).
template <bool kFtz, bool kSat, class Load>
HWY_INLINE bool AreExactFmas(const Load& load, hwy::float16_t* results) {
  const Tag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  auto exact = hn::Eq(hn::Zero(d), hn::Zero(d));
  for (std::size_t i = 0; i < 2 * kWarpSize; i += hn::Lanes(d)) {
    const auto product = hn::Mul(load(1, i), load(2, i));
    const auto addend = load(3, i);
    const auto sum = hn::Add(product, addend);
    exact = hn::And(exact, hn::And(hn::Eq(hn::Sub(sum, addend), product),
                                   hn::Eq(hn::Sub(sum, product), addend)));
    hn::Store(hn::DemoteTo(dh, FinishHalf<kFtz, kSat>(d, sum)), dh, results + i);
  }
  return hn::AllTrue(d, exact);
}

// Half arithmetic of the processor itself: one rounding, subnormals kept.
#if HWY_TARGET <= HWY_AVX3 && HWY_COMPILER_GCC_ACTUAL >= 1200
#undef VOLTCHECK_HALF_ARITHMETIC
#define VOLTCHECK_HALF_ARITHMETIC 1
#define VOLTCHECK_HALF_ATTR __attribute__((target("avx512fp16")))

struct NativeHalf {
  VOLTCHECK_HALF_ATTR static __m512h Apply(HalfAdd, __m512h a, __m512h b, __m512h) {
    return _mm512_add_ph(a, b);
  }
  VOLTCHECK_HALF_ATTR static __m512h Apply(HalfSub, __m512h a, __m512h b, __m512h) {
    return _mm512_sub_ph(a, b);
  }
  VOLTCHECK_HALF_ATTR static __m512h Apply(HalfMul, __m512h a, __m512h b, __m512h) {
    return _mm512_mul_ph(a, b);
  }
  VOLTCHECK_HALF_ATTR static __m512h Apply(HalfFma, __m512h a, __m512h b, __m512h c) {
    return _mm512_fmadd_ph(a, b, c);
  }
};

/// f16x2 rows of full warps.
template <class Op>
VOLTCHECK_HALF_ATTR void NativePairRows(ExecContext& context, const Instr& instr) {
  const auto load = [&](int op, std::size_t i) VOLTCHECK_HALF_ATTR {
    return _mm512_load_ph(context.Row<const std::uint32_t>(instr.op[op]) + i);
  };
  std::uint32_t* out = context.Row<std::uint32_t>(instr.op[0]);
  const __m512i nan = _mm512_set1_epi16(0x7fff);
  for (std::size_t i = 0; i < kWarpSize; i += 16) {
    const __m512h b = load(2, i);
    const __m512h r = NativeHalf::Apply(Op(), load(1, i), b, Op::kArity == 3 ? load(3, i) : b);
    const __mmask32 is_nan = _mm512_cmp_ph_mask(r, r, _CMP_UNORD_Q);
    _mm512_store_si512(out + i, _mm512_mask_mov_epi16(_mm512_castph_si512(r), is_nan, nan));
  }
}
template <class Op>
constexpr bool kHasNativePairs = std::is_same_v<Op, HalfAdd> || std::is_same_v<Op, HalfSub> ||
                                 std::is_same_v<Op, HalfMul> || std::is_same_v<Op, HalfFma>;
#else
#undef VOLTCHECK_HALF_ARITHMETIC
#define VOLTCHECK_HALF_ARITHMETIC 0
#endif

/// f16x2 rows as 64 halves, converted by the machine.
template <class Op, bool kFtz, bool kSat, bool kFull>
void PairRows(ExecContext& context, const Instr& instr) {
  const Tag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  constexpr std::size_t kHalves = 2 * kWarpSize;
  hwy::float16_t* out = context.Row<hwy::float16_t>(instr.op[0]);
  HWY_ALIGN hwy::float16_t results[kHalves];
  const auto load = [&](std::size_t op, std::size_t i) HWY_ATTR {
    const auto wide =
        hn::PromoteTo(d, hn::Load(dh, context.Row<const hwy::float16_t>(instr.op[op]) + i));
    if constexpr (kFtz) {
      return hn::IfThenElse(hn::Lt(hn::Abs(wide), hn::Set(d, 0x1p-14f)),
                            hn::And(wide, hn::SignBit(d)), wide);
    } else {
      return wide;
    }
  };
  if constexpr (kFull && std::is_same_v<Op, HalfFma>) {
    if (HWY_LIKELY((AreExactFmas<kFtz, kSat>(load, results)))) {
      std::memcpy(out, results, sizeof(results));
      return;
    }
  }
  for (std::size_t i = 0; i < kHalves; i += hn::Lanes(d)) {
    auto r = load(1, i);
    if constexpr (Op::kArity == 1) {
      r = Op::Apply(d, r);
    } else if constexpr (Op::kArity == 2) {
      r = Op::Apply(d, r, load(2, i));
    } else {
      r = Op::Apply(d, r, load(2, i), load(3, i));
    }
    r = FinishHalf<kFtz, kSat>(d, r);
    // The canonical float NaN becomes the canonical half NaN.
    const hn::RebindToUnsigned<decltype(d)> du;
    r = hn::IfThenElse(hn::Eq(r, r), r, hn::BitCast(d, hn::Set(du, 0x7fffffffu)));
    hn::Store(hn::DemoteTo(dh, r), dh, (kFull ? out : results) + i);
  }
  if constexpr (!kFull) {
    std::uint32_t* cells = context.Row<std::uint32_t>(instr.op[0]);
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      std::uint32_t cell;
      std::memcpy(&cell, &results[2 * lane], sizeof(cell));
      cells[lane] = (context.mask >> lane & 1) != 0 ? cell : cells[lane];
    }
  }
}
#endif  // VOLTCHECK_NATIVE_HALF

/// f16x2: two halves in a cell.
template <class Op, bool kFtz, bool kSat>
struct Pair16 : HalfOp<Op, kFtz, kSat> {
  template <class D, class V, class... Rest>
  static HWY_INLINE V Run(D d, V a, Rest... rest) {
    using Base = HalfOp<Op, kFtz, kSat>;
    const auto low_mask = hn::Set(d, 0xffffu);
    const auto low = Base::Half(d, hn::And(a, low_mask), hn::And(rest, low_mask)...);
    const auto high = Base::Half(d, hn::ShiftRight<16>(a), hn::ShiftRight<16>(rest)...);
    return hn::Or(low, hn::ShiftLeft<16>(high));
  }
};

/// neg and abs; NaN becomes the canonical one.
template <bool kNegate>
struct HalfSign {
  static constexpr int kArity = 1;
  template <class D, class V>
  static HWY_INLINE V Apply(D d, V a) {
    return kNegate ? hn::Xor(a, hn::SignBit(d)) : hn::Abs(a);
  }
};

template <class Op, bool kFtz, bool kSat>
void AppendBoth(OpList& list, const std::string& key, const std::string& shape) {
  std::string narrow = shape;
  std::string pair = shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 'r') {
      narrow[i] = 'h';
      pair[i] = 'w';
    }
  }
  list.push_back(MapEntry<Scalar16<Op, kFtz, kSat>>(key + ".f16", narrow));
#if VOLTCHECK_NATIVE_HALF
  Handler full = PairRows<Op, kFtz, kSat, true>;
#if VOLTCHECK_HALF_ARITHMETIC
  if constexpr (kHasNativePairs<Op> && !kFtz && !kSat) {
    if (__builtin_cpu_supports("avx512fp16")) {
      full = NativePairRows<Op>;
    }
  }
#endif
  list.push_back({key + ".f16x2", pair, PairRows<Op, kFtz, kSat, false>, full});
#else
  list.push_back(MapEntry<Pair16<Op, kFtz, kSat>>(key + ".f16x2", pair));
#endif
}
template <class Op>
void AppendHalf(OpList& list, const std::string& name, const std::string& shape) {
  AppendBoth<Op, false, false>(list, name, shape);
  AppendBoth<Op, true, false>(list, name + ".ftz", shape);
  AppendBoth<Op, false, true>(list, name + ".sat", shape);
  AppendBoth<Op, true, true>(list, name + ".ftz.sat", shape);
}

OpList HalfOps() {
  OpList list;
  AppendHalf<HalfAdd>(list, "add", "r=rr");
  AppendHalf<HalfAdd>(list, "add.rn", "r=rr");
  AppendHalf<HalfSub>(list, "sub", "r=rr");
  AppendHalf<HalfSub>(list, "sub.rn", "r=rr");
  AppendHalf<HalfMul>(list, "mul", "r=rr");
  AppendHalf<HalfMul>(list, "mul.rn", "r=rr");
  AppendHalf<HalfFma>(list, "fma.rn", "r=rrr");
  AppendBoth<HalfMinMax<true>, false, false>(list, "min", "r=rr");
  AppendBoth<HalfMinMax<false>, false, false>(list, "max", "r=rr");
  AppendBoth<HalfMinMax<true>, true, false>(list, "min.ftz", "r=rr");
  AppendBoth<HalfMinMax<false>, true, false>(list, "max.ftz", "r=rr");
  AppendBoth<HalfSign<true>, false, false>(list, "neg", "r=r");
  AppendBoth<HalfSign<true>, true, false>(list, "neg.ftz", "r=r");
  AppendBoth<HalfSign<false>, false, false>(list, "abs", "r=r");
  AppendBoth<HalfSign<false>, true, false>(list, "abs.ftz", "r=r");
  return list;
}

}  // namespace HWY_NAMESPACE
}  // namespace voltcheck::simulator
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace voltcheck::simulator {
HWY_EXPORT(HalfOps);
void AppendHalfOps(OpList& list) {
  for (OpEntry& entry : HWY_DYNAMIC_DISPATCH(HalfOps)()) {
    list.push_back(std::move(entry));
  }
}
}  // namespace voltcheck::simulator
#endif  // HWY_ONCE
