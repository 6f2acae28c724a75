// SIMD over rows of 32 lanes, compiled once per target. Include after hwy/foreach_target.h.
#if defined(VOLTCHECK_KERNELS_SIMULATOR_EXEC_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLTCHECK_KERNELS_SIMULATOR_EXEC_LANES_INL_H_
#undef VOLTCHECK_KERNELS_SIMULATOR_EXEC_LANES_INL_H_
#else
#define VOLTCHECK_KERNELS_SIMULATOR_EXEC_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/simulator/exec/context.h"
#include "kernels/simulator/exec/registry.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::simulator {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// As many lanes of T as the target has, at most a row.
template <typename T>
using Tag = hn::CappedTag<T, kWarpSize>;

/// Lanes i, i+1, ... of a lane mask as a vector mask.
template <class D>
HWY_INLINE hn::Mask<D> LaneMask(D d, std::uint32_t mask, std::size_t i) {
  const std::uint64_t bits = std::uint64_t{mask} >> i;
  std::uint8_t raw[8];
  __builtin_memcpy(raw, &bits, sizeof(raw));
  return hn::LoadMaskBits(d, raw);
}

/// The lanes of a vector mask as bits i, i+1, ...
template <class D>
HWY_INLINE std::uint32_t MaskBits(D d, hn::Mask<D> mask, std::size_t i) {
  std::uint8_t raw[8] = {};
  hn::StoreMaskBits(d, mask, raw);
  std::uint32_t bits;
  __builtin_memcpy(&bits, raw, sizeof(bits));
  return bits << i;
}

template <bool kFull, class D, class V, typename T>
HWY_INLINE void StoreLanes(D d, V v, std::uint32_t mask, std::size_t i, T* row) {
  if constexpr (!kFull) {
    v = hn::IfThenElse(LaneMask(d, mask, i), v, hn::Load(d, row + i));
  }
  hn::Store(v, d, row + i);
}

/// op[0] = Op(op[1], ...) on rows of one element type. Op has `T`, `kArity` and static Run(d, a,
/// ...).
template <class Op, bool kFull>
void MapRows(ExecContext& context, const Instr& instr) {
  using T = typename Op::T;
  const Tag<T> d;
  T* out = context.Row<T>(instr.op[0]);
  const T* a = context.Row<const T>(instr.op[1]);
  const T* b = Op::kArity > 1 ? context.Row<const T>(instr.op[2]) : nullptr;
  const T* c = Op::kArity > 2 ? context.Row<const T>(instr.op[3]) : nullptr;
  for (std::size_t i = 0; i < kWarpSize; i += hn::Lanes(d)) {
    const auto va = hn::Load(d, a + i);
    if constexpr (Op::kArity == 1) {
      StoreLanes<kFull>(d, Op::Run(d, va), context.mask, i, out);
    } else if constexpr (Op::kArity == 2) {
      StoreLanes<kFull>(d, Op::Run(d, va, hn::Load(d, b + i)), context.mask, i, out);
    } else {
      StoreLanes<kFull>(d, Op::Run(d, va, hn::Load(d, b + i), hn::Load(d, c + i)), context.mask, i,
                        out);
    }
  }
}

/// Predicate op[0] = Op(op[1], op[2]); Op::Run gives a vector mask.
template <class Op>
void CompareRows(ExecContext& context, const Instr& instr) {
  using T = typename Op::T;
  const Tag<T> d;
  const T* a = context.Row<const T>(instr.op[1]);
  const T* b = context.Row<const T>(instr.op[2]);
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < kWarpSize; i += hn::Lanes(d)) {
    bits |= MaskBits(d, Op::Run(d, hn::Load(d, a + i), hn::Load(d, b + i)), i);
  }
  std::uint32_t* out = context.Row<std::uint32_t>(instr.op[0]);
  *out = (*out & ~context.mask) | (bits & context.mask);
}

template <class Op>
OpEntry MapEntry(std::string key, std::string pattern) {
  return {std::move(key), std::move(pattern), MapRows<Op, false>, MapRows<Op, true>};
}
template <class Op>
OpEntry CompareEntry(std::string key, std::string pattern) {
  return {std::move(key), std::move(pattern), CompareRows<Op>, CompareRows<Op>};
}

}  // namespace HWY_NAMESPACE
}  // namespace voltcheck::simulator
HWY_AFTER_NAMESPACE();

#endif  // VOLTCHECK_KERNELS_SIMULATOR_EXEC_LANES_INL_H_
