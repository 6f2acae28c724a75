// 64-bit integer instructions, as SIMD rows.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simulator/exec/integer64.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include "kernels/simulator/exec/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::simulator {
namespace HWY_NAMESPACE {

struct Add64 {
  using T = std::uint64_t;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a, V b) {
    return hn::Add(a, b);
  }
};
struct Sub64 {
  using T = std::uint64_t;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a, V b) {
    return hn::Sub(a, b);
  }
};
struct And64 {
  using T = std::uint64_t;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a, V b) {
    return hn::And(a, b);
  }
};
struct Or64 {
  using T = std::uint64_t;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a, V b) {
    return hn::Or(a, b);
  }
};
struct Xor64 {
  using T = std::uint64_t;
  static constexpr int kArity = 2;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a, V b) {
    return hn::Xor(a, b);
  }
};
struct Not64 {
  using T = std::uint64_t;
  static constexpr int kArity = 1;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a) {
    return hn::Not(a);
  }
};
struct Copy64 {
  using T = std::uint64_t;
  static constexpr int kArity = 1;
  template <class D, class V>
  static HWY_INLINE V Run(D, V a) {
    return a;
  }
};
struct Negate64 {
  using T = std::int64_t;
  static constexpr int kArity = 1;
  template <class D, class V>
  static HWY_INLINE V Run(D d, V a) {
    return hn::Sub(hn::Zero(d), a);
  }
};

/// How the loops below see one lane: the compiler vectorises them for the target.
template <bool kFull, typename R, typename F>
HWY_INLINE void ForLanes(ExecContext& context, R* out, const F& f) {
  if constexpr (kFull) {
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      out[lane] = f(lane);
    }
  } else {
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      if ((context.mask >> lane & 1) != 0) {
        out[lane] = f(lane);
      }
    }
  }
}

template <typename Narrow, typename Wide, bool kFull>
void MulWide(ExecContext& context, const Instr& instr) {
  const Narrow* a = context.Row<const Narrow>(instr.op[1]);
  const Narrow* b = context.Row<const Narrow>(instr.op[2]);
  Wide* out = context.Row<Wide>(instr.op[0]);
  ForLanes<kFull>(context, out, [&](std::size_t lane) HWY_ATTR {
    return static_cast<Wide>(a[lane]) * static_cast<Wide>(b[lane]);
  });
}
template <typename Narrow, typename Wide, bool kFull>
void MadWide(ExecContext& context, const Instr& instr) {
  const Narrow* a = context.Row<const Narrow>(instr.op[1]);
  const Narrow* b = context.Row<const Narrow>(instr.op[2]);
  const std::uint64_t* c = context.Row<const std::uint64_t>(instr.op[3]);
  std::uint64_t* out = context.Row<std::uint64_t>(instr.op[0]);
  ForLanes<kFull>(context, out, [&](std::size_t lane) HWY_ATTR {
    return static_cast<std::uint64_t>(static_cast<Wide>(a[lane]) * static_cast<Wide>(b[lane])) +
           c[lane];
  });
}
template <bool kFull>
void MulLow64(ExecContext& context, const Instr& instr) {
  const std::uint64_t* a = context.Row<const std::uint64_t>(instr.op[1]);
  const std::uint64_t* b = context.Row<const std::uint64_t>(instr.op[2]);
  std::uint64_t* out = context.Row<std::uint64_t>(instr.op[0]);
  ForLanes<kFull>(context, out, [&](std::size_t lane) HWY_ATTR { return a[lane] * b[lane]; });
}
template <bool kFull>
void MadLow64(ExecContext& context, const Instr& instr) {
  const std::uint64_t* a = context.Row<const std::uint64_t>(instr.op[1]);
  const std::uint64_t* b = context.Row<const std::uint64_t>(instr.op[2]);
  const std::uint64_t* c = context.Row<const std::uint64_t>(instr.op[3]);
  std::uint64_t* out = context.Row<std::uint64_t>(instr.op[0]);
  ForLanes<kFull>(context, out,
                  [&](std::size_t lane) HWY_ATTR { return a[lane] * b[lane] + c[lane]; });
}
template <typename T, bool kMin, bool kFull>
void MinMax64(ExecContext& context, const Instr& instr) {
  const T* a = context.Row<const T>(instr.op[1]);
  const T* b = context.Row<const T>(instr.op[2]);
  T* out = context.Row<T>(instr.op[0]);
  ForLanes<kFull>(context, out, [&](std::size_t lane) HWY_ATTR {
    return (a[lane] < b[lane]) == kMin ? a[lane] : b[lane];
  });
}
template <bool kFull>
void Abs64(ExecContext& context, const Instr& instr) {
  const std::uint64_t* a = context.Row<const std::uint64_t>(instr.op[1]);
  std::uint64_t* out = context.Row<std::uint64_t>(instr.op[0]);
  ForLanes<kFull>(context, out, [&](std::size_t lane) HWY_ATTR {
    const std::uint64_t sign = 0 - (a[lane] >> 63);
    return (a[lane] ^ sign) - sign;
  });
}

/// Shifts by a 32-bit count; 64 and more shift everything out.
template <bool kFull>
void ShiftLeft64(ExecContext& context, const Instr& instr) {
  const std::uint64_t* a = context.Row<const std::uint64_t>(instr.op[1]);
  const std::uint32_t* n = context.Row<const std::uint32_t>(instr.op[2]);
  std::uint64_t* out = context.Row<std::uint64_t>(instr.op[0]);
  ForLanes<kFull>(context, out, [&](std::size_t lane) HWY_ATTR {
    return n[lane] > 63 ? 0 : a[lane] << (n[lane] & 63);
  });
}
template <bool kFull>
void ShiftRight64(ExecContext& context, const Instr& instr) {
  const std::uint64_t* a = context.Row<const std::uint64_t>(instr.op[1]);
  const std::uint32_t* n = context.Row<const std::uint32_t>(instr.op[2]);
  std::uint64_t* out = context.Row<std::uint64_t>(instr.op[0]);
  ForLanes<kFull>(context, out, [&](std::size_t lane) HWY_ATTR {
    return n[lane] > 63 ? 0 : a[lane] >> (n[lane] & 63);
  });
}
template <bool kFull>
void ShiftRightSigned64(ExecContext& context, const Instr& instr) {
  const std::int64_t* a = context.Row<const std::int64_t>(instr.op[1]);
  const std::uint32_t* n = context.Row<const std::uint32_t>(instr.op[2]);
  std::int64_t* out = context.Row<std::int64_t>(instr.op[0]);
  ForLanes<kFull>(context, out, [&](std::size_t lane) HWY_ATTR {
    return a[lane] >> (n[lane] > 63 ? 63 : n[lane]);
  });
}

OpList Integer64Ops() {
  using U32 = std::uint32_t;
  using S32 = std::int32_t;
  using U64 = std::uint64_t;
  using S64 = std::int64_t;
  OpList list;
  for (const char* type : {"s64", "u64"}) {
    const std::string t = type;
    list.push_back(MapEntry<Add64>("add." + t, "x=xx"));
    list.push_back(MapEntry<Sub64>("sub." + t, "x=xx"));
    list.push_back({"mul.lo." + t, "x=xx", MulLow64<false>, MulLow64<true>});
    list.push_back({"mad.lo." + t, "x=xxx", MadLow64<false>, MadLow64<true>});
  }
  list.push_back(MapEntry<Copy64>("@mov.64", ""));
  list.push_back(MapEntry<And64>("and.b64", "x=xx"));
  list.push_back(MapEntry<Or64>("or.b64", "x=xx"));
  list.push_back(MapEntry<Xor64>("xor.b64", "x=xx"));
  list.push_back(MapEntry<Not64>("not.b64", "x=x"));
  list.push_back(MapEntry<Negate64>("neg.s64", "x=x"));
  list.push_back({"abs.s64", "x=x", Abs64<false>, Abs64<true>});
  list.push_back({"min.s64", "x=xx", MinMax64<S64, true, false>, MinMax64<S64, true, true>});
  list.push_back({"max.s64", "x=xx", MinMax64<S64, false, false>, MinMax64<S64, false, true>});
  list.push_back({"min.u64", "x=xx", MinMax64<U64, true, false>, MinMax64<U64, true, true>});
  list.push_back({"max.u64", "x=xx", MinMax64<U64, false, false>, MinMax64<U64, false, true>});
  list.push_back({"mul.wide.s32", "x=ww", MulWide<S32, S64, false>, MulWide<S32, S64, true>});
  list.push_back({"mul.wide.u32", "x=ww", MulWide<U32, U64, false>, MulWide<U32, U64, true>});
  list.push_back({"mad.wide.s32", "x=wwx", MadWide<S32, S64, false>, MadWide<S32, S64, true>});
  list.push_back({"mad.wide.u32", "x=wwx", MadWide<U32, U64, false>, MadWide<U32, U64, true>});
  list.push_back({"shl.b64", "x=xw", ShiftLeft64<false>, ShiftLeft64<true>});
  list.push_back({"shr.u64", "x=xw", ShiftRight64<false>, ShiftRight64<true>});
  list.push_back({"shr.b64", "x=xw", ShiftRight64<false>, ShiftRight64<true>});
  list.push_back({"shr.s64", "x=xw", ShiftRightSigned64<false>, ShiftRightSigned64<true>});
  return list;
}

}  // namespace HWY_NAMESPACE
}  // namespace voltcheck::simulator
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace voltcheck::simulator {
HWY_EXPORT(Integer64Ops);
void AppendInteger64Ops(OpList& list) {
  for (OpEntry& entry : HWY_DYNAMIC_DISPATCH(Integer64Ops)()) {
    list.push_back(std::move(entry));
  }
}
}  // namespace voltcheck::simulator
#endif  // HWY_ONCE
