// 32-bit integer and bitwise instructions, as SIMD rows.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simulator/exec/integer.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include "kernels/simulator/exec/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::simulator {
namespace HWY_NAMESPACE {

struct Add {
  using T = std::uint32_t;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a, V b) {
    return hn::Add(a, b);
  }
};
struct Sub {
  using T = std::uint32_t;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a, V b) {
    return hn::Sub(a, b);
  }
};
struct MulLow {
  using T = std::uint32_t;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a, V b) {
    return hn::Mul(a, b);
  }
};
struct MadLow {
  using T = std::uint32_t;
  static constexpr int kArity = 3;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a, V b, V c) {
    return hn::Add(hn::Mul(a, b), c);
  }
};
struct And {
  using T = std::uint32_t;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a, V b) {
    return hn::And(a, b);
  }
};
struct Or {
  using T = std::uint32_t;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a, V b) {
    return hn::Or(a, b);
  }
};
struct Xor {
  using T = std::uint32_t;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a, V b) {
    return hn::Xor(a, b);
  }
};
struct Not {
  using T = std::uint32_t;
  static constexpr int kArity = 1;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a) {
    return hn::Not(a);
  }
};
struct Copy {
  using T = std::uint32_t;
  static constexpr int kArity = 1;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a) {
    return a;
  }
};
struct Not16 {
  using T = std::uint32_t;
  static constexpr int kArity = 1;
  template <class D, class V>
  static HWY_INLINE V Run(D d, V a) {
    return hn::AndNot(a, hn::Set(d, 0xffffu));
  }
};

// Shift counts are unsigned; 32 and more shift everything out (the sign, for signed right shifts).
// From AVX2 on that is what the processor does.
#if HWY_TARGET <= HWY_AVX2
inline constexpr bool kShiftsEverythingOut = true;
#else
inline constexpr bool kShiftsEverythingOut = false;
#endif
struct ShiftLeft {
  using T = std::uint32_t;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run([[maybe_unused]] D d, V a, V b) {
    if constexpr (kShiftsEverythingOut) {
      return hn::Shl(a, b);
    }
    const auto in_range = hn::Eq(hn::AndNot(hn::Set(d, 31u), b), hn::Zero(d));
    return hn::IfThenElseZero(in_range, hn::Shl(a, hn::And(b, hn::Set(d, 31u))));
  }
};
struct ShiftRight {
  using T = std::uint32_t;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run([[maybe_unused]] D d, V a, V b) {
    if constexpr (kShiftsEverythingOut) {
      return hn::Shr(a, b);
    }
    const auto in_range = hn::Eq(hn::AndNot(hn::Set(d, 31u), b), hn::Zero(d));
    return hn::IfThenElseZero(in_range, hn::Shr(a, hn::And(b, hn::Set(d, 31u))));
  }
};
struct ShiftRightSigned {
  using T = std::int32_t;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run([[maybe_unused]] D d, V a, V b) {
    if constexpr (kShiftsEverythingOut) {
      return hn::Shr(a, b);
    }
    const auto in_range = hn::Eq(hn::AndNot(hn::Set(d, 31), b), hn::Zero(d));
    return hn::Shr(a, hn::IfThenElse(in_range, b, hn::Set(d, 31)));
  }
};

template <typename Type>
struct Min {
  using T = Type;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a, V b) {
    return hn::Min(a, b);
  }
};
template <typename Type>
struct Max {
  using T = Type;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a, V b) {
    return hn::Max(a, b);
  }
};
struct Negate {
  using T = std::int32_t;
  static constexpr int kArity = 1;
  template <class D, class V>
  static HWY_INLINE V Run(D d, V a) {
    return hn::Sub(hn::Zero(d), a);
  }
};
struct Absolute {
  using T = std::int32_t;
  static constexpr int kArity = 1;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a) {
    return hn::Abs(a);
  }
};

/// a ? b : c, bit by bit; as a function of a constant table below.
template <class V>
HWY_INLINE V Choose(V a, V if_one, V if_zero) {
  return hn::Or(hn::And(a, if_one), hn::AndNot(a, if_zero));
}

/// lop3: bit (4a + 2b + c) of the table, for every bit position.
template <bool kFull>
void Lop3(ExecContext& context, const Instr& instr) {
  using T = std::uint32_t;
  const Tag<T> d;
  T* out = context.Row<T>(instr.op[0]);
  const T* a = context.Row<const T>(instr.op[1]);
  const T* b = context.Row<const T>(instr.op[2]);
  const T* c = context.Row<const T>(instr.op[3]);
  T table[8];
  for (int i = 0; i < 8; ++i) {
    table[i] = (instr.imm >> i & 1) != 0 ? kFullMask : 0;
  }
  for (std::size_t i = 0; i < kWarpSize; i += hn::Lanes(d)) {
    const auto va = hn::Load(d, a + i);
    const auto vb = hn::Load(d, b + i);
    const auto vc = hn::Load(d, c + i);
    const auto entry = [&](int index) HWY_ATTR { return hn::Set(d, table[index]); };
    const auto zero = Choose(vb, Choose(vc, entry(3), entry(2)), Choose(vc, entry(1), entry(0)));
    const auto one = Choose(vb, Choose(vc, entry(7), entry(6)), Choose(vc, entry(5), entry(4)));
    StoreLanes<kFull>(d, Choose(va, one, zero), context.mask, i, out);
  }
}

/// The same for a table that is known now. `kEntries` entries, b or c being the highest bit of
/// their number that is left.
template <int kTable, int kEntries, class D, class V>
HWY_INLINE V LookUp(D d, V b, V c) {
  constexpr int kAll = (1 << kEntries) - 1;
  if constexpr (kTable == 0) {
    return hn::Zero(d);
  } else if constexpr (kTable == kAll) {
    return hn::Not(hn::Zero(d));
  } else if constexpr (kEntries == 2) {
    return kTable == 2 ? c : hn::Not(c);
  } else {
    constexpr int kZero = kTable & 3;
    constexpr int kOne = kTable >> 2;
    if constexpr (kZero == kOne) {
      return LookUp<kZero, 2>(d, b, c);
    } else if constexpr (kZero == 0) {
      return hn::And(b, LookUp<kOne, 2>(d, b, c));
    } else if constexpr (kOne == 3) {
      return hn::Or(b, LookUp<kZero, 2>(d, b, c));
    } else if constexpr (kZero == (kOne ^ 3)) {
      return hn::Xor(b, LookUp<kZero, 2>(d, b, c));
    } else {
      return Choose(b, LookUp<kOne, 2>(d, b, c), LookUp<kZero, 2>(d, b, c));
    }
  }
}
template <int kTable>
struct Lop3Of {
  using T = std::uint32_t;
  static constexpr int kArity = 3;
  template <class D, class V>
  static HWY_INLINE V Run([[maybe_unused]] D d, V a, V b, V c) {
#if HWY_TARGET <= HWY_AVX3
    return V{_mm512_ternarylogic_epi32(a.raw, b.raw, c.raw, kTable)};
#else
    constexpr int kZero = kTable & 15;
    constexpr int kOne = kTable >> 4;
    const V zero = LookUp<kZero, 4>(d, b, c);
    if constexpr (kZero == kOne) {
      return zero;
    } else if constexpr (kZero == 0) {
      return hn::And(a, LookUp<kOne, 4>(d, b, c));
    } else if constexpr (kOne == 15) {
      return hn::Or(a, zero);
    } else if constexpr (kZero == (kOne ^ 15)) {
      return hn::Xor(a, zero);
    } else {
      return Choose(a, LookUp<kOne, 4>(d, b, c), zero);
    }
#endif
  }
};
/// The tables that compilers write most.
template <int... kTables>
void AppendLop3(OpList& list) {
  (list.push_back(MapEntry<Lop3Of<kTables>>("lop3.b32#" + std::to_string(kTables), "w=wwwi")), ...);
}

/// bfi: the low bits of op[1] go into op[2], from op[3] on, as many as op[4] says. Of both numbers
/// eight bits count.
template <bool kFull>
void InsertField(ExecContext& context, const Instr& instr) {
  using T = std::uint32_t;
  const Tag<T> d;
  T* out = context.Row<T>(instr.op[0]);
  const T* a = context.Row<const T>(instr.op[1]);
  const T* b = context.Row<const T>(instr.op[2]);
  const T* position = context.Row<const T>(instr.op[3]);
  const T* length = context.Row<const T>(instr.op[4]);
  const auto byte = hn::Set(d, 0xffu);
  const auto ones = hn::Not(hn::Zero(d));
  for (std::size_t i = 0; i < kWarpSize; i += hn::Lanes(d)) {
    const auto begin = hn::And(hn::Load(d, position + i), byte);
    const auto bits = hn::And(hn::Load(d, length + i), byte);
    const auto field = ShiftLeft::Run(d, hn::Not(ShiftLeft::Run(d, ones, bits)), begin);
    const auto moved = ShiftLeft::Run(d, hn::Load(d, a + i), begin);
    StoreLanes<kFull>(d, Choose(field, moved, hn::Load(d, b + i)), context.mask, i, out);
  }
}

#if HWY_TARGET != HWY_SCALAR
/// prmt with a constant selector and no sign replication. The low half of Instr::imm says for each
/// byte of a word which byte of a it takes (0x80: none), the high half the same for b.
template <bool kFull>
void PermuteConstant(ExecContext& context, const Instr& instr) {
  using T = std::uint32_t;
  const Tag<T> d;
  const hn::Repartition<std::uint8_t, decltype(d)> d8;
  HWY_ALIGN static constexpr T kWordOffsets[4] = {0, 0x04040404, 0x08080808, 0x0c0c0c0c};
  const auto offsets = hn::LoadDup128(d, kWordOffsets);
  const auto table = [&](std::uint64_t bytes) HWY_ATTR {
    return hn::BitCast(d8, hn::Add(hn::Set(d, static_cast<T>(bytes)), offsets));
  };
  const auto from_a = table(static_cast<std::uint64_t>(instr.imm));
  const auto from_b = table(static_cast<std::uint64_t>(instr.imm) >> 32);
  T* out = context.Row<T>(instr.op[0]);
  const T* a = context.Row<const T>(instr.op[1]);
  const T* b = context.Row<const T>(instr.op[2]);
  for (std::size_t i = 0; i < kWarpSize; i += hn::Lanes(d)) {
    const auto va = hn::BitCast(d8, hn::Load(d, a + i));
    const auto vb = hn::BitCast(d8, hn::Load(d, b + i));
    const auto bytes =
        hn::Or(hn::TableLookupBytesOr0(va, from_a), hn::TableLookupBytesOr0(vb, from_b));
    StoreLanes<kFull>(d, hn::BitCast(d, bytes), context.mask, i, out);
  }
}
#endif  // HWY_TARGET != HWY_SCALAR

OpList IntegerOps() {
  OpList list;
  for (const char* type : {"s32", "u32"}) {
    const std::string t = type;
    list.push_back(MapEntry<Add>("add." + t, "w=ww"));
    list.push_back(MapEntry<Sub>("sub." + t, "w=ww"));
    list.push_back(MapEntry<MulLow>("mul.lo." + t, "w=ww"));
    list.push_back(MapEntry<MadLow>("mad.lo." + t, "w=www"));
  }
  list.push_back(MapEntry<Copy>("@mov.32", ""));
  list.push_back(MapEntry<Copy>("cvt.f32.f32", "w=w"));  // NaN and all
  list.push_back(MapEntry<And>("and.b32", "w=ww"));
  list.push_back(MapEntry<Or>("or.b32", "w=ww"));
  list.push_back(MapEntry<Xor>("xor.b32", "w=ww"));
  list.push_back(MapEntry<Not>("not.b32", "w=w"));
  list.push_back(MapEntry<And>("and.b16", "h=hh"));
  list.push_back(MapEntry<Or>("or.b16", "h=hh"));
  list.push_back(MapEntry<Xor>("xor.b16", "h=hh"));
  list.push_back(MapEntry<Not16>("not.b16", "h=h"));
  list.push_back(MapEntry<ShiftLeft>("shl.b32", "w=ww"));
  list.push_back(MapEntry<ShiftRight>("shr.u32", "w=ww"));
  list.push_back(MapEntry<ShiftRight>("shr.b32", "w=ww"));
  list.push_back(MapEntry<ShiftRightSigned>("shr.s32", "w=ww"));
  list.push_back(MapEntry<Min<std::int32_t>>("min.s32", "w=ww"));
  list.push_back(MapEntry<Max<std::int32_t>>("max.s32", "w=ww"));
  list.push_back(MapEntry<Min<std::uint32_t>>("min.u32", "w=ww"));
  list.push_back(MapEntry<Max<std::uint32_t>>("max.u32", "w=ww"));
  list.push_back(MapEntry<Negate>("neg.s32", "w=w"));
  list.push_back(MapEntry<Absolute>("abs.s32", "w=w"));
  list.push_back({"lop3.b32", "w=wwwi", Lop3<false>, Lop3<true>});
  AppendLop3<0x08, 0x15, 0x2a, 0x32, 0x3c, 0x5a, 0x60, 0x6a, 0x6c, 0x78, 0x80, 0x90, 0x96, 0xa8,
             0xac, 0xb8, 0xca, 0xd8, 0xe0, 0xe2, 0xe8, 0xea, 0xec, 0xf4, 0xf8, 0xfe>(list);
  list.push_back({"bfi.b32", "w=wwww", InsertField<false>, InsertField<true>});
#if HWY_TARGET != HWY_SCALAR
  list.push_back({"@prmt.constant", "", PermuteConstant<false>, PermuteConstant<true>});
#endif
  return list;
}

}  // namespace HWY_NAMESPACE
}  // namespace voltcheck::simulator
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace voltcheck::simulator {
HWY_EXPORT(IntegerOps);
void AppendIntegerOps(OpList& list) {
  for (OpEntry& entry : HWY_DYNAMIC_DISPATCH(IntegerOps)()) {
    list.push_back(std::move(entry));
  }
}
}  // namespace voltcheck::simulator
#endif  // HWY_ONCE
