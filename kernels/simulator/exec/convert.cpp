// The conversions that kernels use most, as SIMD rows. The others are in convert_scalar.cpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simulator/exec/convert.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include "kernels/simulator/exec/half_lanes-inl.h"
#include "kernels/simulator/exec/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::simulator {
namespace HWY_NAMESPACE {

/// Each lane's cell of one type to a cell of another: out = f(in), in a loop that the compiler
/// vectorises.
template <typename Out, typename In, typename F, bool kFull>
void MapCells(ExecContext& context, const Instr& instr) {
  Out* out = context.Row<Out>(instr.op[0]);
  const In* in = context.Row<const In>(instr.op[1]);
  if constexpr (kFull) {
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      out[lane] = F::Run(in[lane]);
    }
  } else {
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      if ((context.mask >> lane & 1) != 0) {
        out[lane] = F::Run(in[lane]);
      }
    }
  }
}
template <typename Out, typename In, typename Middle>
struct Through {
  static HWY_INLINE Out Run(In in) { return static_cast<Out>(static_cast<Middle>(in)); }
};
template <typename Out, typename In, typename Middle = In>
OpEntry CellEntry(std::string key, std::string pattern) {
  using F = Through<Out, In, Middle>;
  return {std::move(key), std::move(pattern), MapCells<Out, In, F, false>,
          MapCells<Out, In, F, true>};
}

/// f16 in a 32-bit cell to f32; NaN becomes the canonical one.
template <bool kFull>
void HalfToFloatRow(ExecContext& context, const Instr& instr) {
  const Tag<std::uint32_t> d;
  const hn::RebindToFloat<decltype(d)> df;
  std::uint32_t* out = context.Row<std::uint32_t>(instr.op[0]);
  const std::uint32_t* in = context.Row<const std::uint32_t>(instr.op[1]);
  for (std::size_t i = 0; i < kWarpSize; i += hn::Lanes(d)) {
    const auto wide = WidenHalf(d, hn::Load(d, in + i));
    const auto bits = hn::IfThenElse(hn::RebindMask(d, hn::Eq(wide, wide)), hn::BitCast(d, wide),
                                     hn::Set(d, 0x7fffffffu));
    (void)df;
    StoreLanes<kFull>(d, bits, context.mask, i, out);
  }
}
template <bool kFull>
void FloatToHalfRow(ExecContext& context, const Instr& instr) {
  const Tag<std::uint32_t> d;
  const hn::RebindToFloat<decltype(d)> df;
  std::uint32_t* out = context.Row<std::uint32_t>(instr.op[0]);
  const std::uint32_t* in = context.Row<const std::uint32_t>(instr.op[1]);
  for (std::size_t i = 0; i < kWarpSize; i += hn::Lanes(d)) {
    const auto value = hn::BitCast(df, hn::Load(d, in + i));
    StoreLanes<kFull>(d, NarrowHalf(d, value), context.mask, i, out);
  }
}

OpList ConvertOps() {
  using U16 = std::uint16_t;
  using S16 = std::int16_t;
  using U32 = std::uint32_t;
  using S32 = std::int32_t;
  using U64 = std::uint64_t;
  using S64 = std::int64_t;
  OpList list;
  list.push_back({"cvt.f32.f16", "w=h", HalfToFloatRow<false>, HalfToFloatRow<true>});
  list.push_back({"cvt.rn.f16.f32", "h=w", FloatToHalfRow<false>, FloatToHalfRow<true>});
  list.push_back(CellEntry<S64, S32>("cvt.s64.s32", "x=w"));
  list.push_back(CellEntry<U64, U32>("cvt.u64.u32", "x=w"));
  list.push_back(CellEntry<U32, U64>("cvt.u32.u64", "w=x"));
  list.push_back(CellEntry<U32, U64>("cvt.s32.s64", "w=x"));
  list.push_back(CellEntry<U32, U64>("cvt.u32.s64", "w=x"));
  list.push_back(CellEntry<U32, U32>("cvt.u32.u16", "w=h"));
  list.push_back(CellEntry<U32, U32>("cvt.s32.u16", "w=h"));
  list.push_back(CellEntry<S32, U32, S16>("cvt.s32.s16", "w=h"));
  list.push_back(CellEntry<U32, U32, U16>("cvt.u16.u32", "h=w"));
  list.push_back(CellEntry<float, S32>("cvt.rn.f32.s32", "w=w"));
  list.push_back(CellEntry<float, U32>("cvt.rn.f32.u32", "w=w"));
  list.push_back(CellEntry<U64, U32>("cvt.u64.u16", "x=h"));
  list.push_back(CellEntry<S64, U32, S16>("cvt.s64.s16", "x=h"));
  return list;
}

}  // namespace HWY_NAMESPACE
}  // namespace voltcheck::simulator
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace voltcheck::simulator {
HWY_EXPORT(ConvertOps);
void AppendConvertOps(OpList& list) {
  for (OpEntry& entry : HWY_DYNAMIC_DISPATCH(ConvertOps)()) {
    list.push_back(std::move(entry));
  }
}
}  // namespace voltcheck::simulator
#endif  // HWY_ONCE
