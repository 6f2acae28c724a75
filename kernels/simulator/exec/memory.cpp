// ld and st. All lanes usually hit one allocation: one pass checks the 32 addresses against it and
// makes host pointers, then whole rows move at once where the lanes' data lie side by side.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simulator/exec/memory.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <cstring>

#include "kernels/simulator/exec/lane_words-inl.h"
#include "kernels/simulator/exec/lanes-inl.h"
#include "kernels/simulator/exec/piece-inl.h"
#include "kernels/simulator/exec/word_access-inl.h"
#include "kernels/simulator/memory/address_space.h"
#include "kernels/simulator/memory/block_log.h"
#include "kernels/simulator/memory/resolve.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::simulator {
namespace HWY_NAMESPACE {

/// Local memory: each lane has its own.
HWY_INLINE void AddStride(std::uint64_t stride, std::uint64_t* pointers) {
  if (stride != 0) {
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      pointers[lane] += stride * lane;
    }
  }
}

/// Checks the lanes' addresses against one window whose host memory begins at `host`, `stride`
/// bytes apart from lane to lane (local memory). False when a lane misses or is misaligned.
/// Inactive lanes take the address of the first active one.
template <bool kFull>
HWY_INLINE bool ResolveWide(std::uint32_t mask, const std::uint64_t* row, std::uint64_t bias,
                            std::uint64_t limit, std::uint64_t access, std::uintptr_t host,
                            std::uint64_t stride, LanePointers& pointers) {
  const Tag<std::uint64_t> d;
  auto* out = reinterpret_cast<std::uint64_t*>(pointers.host);
  const bool fits =
      CheckOffsets<kFull>(mask, row, bias, limit, access, [&](std::size_t i, auto offset) HWY_ATTR {
        hn::Store(hn::Add(hn::Set(d, host), offset), d, out + i);
      });
  AddStride(stride, out);
  return fits;
}

template <bool kFull>
HWY_INLINE bool ResolveFast(const ExecContext& context, const Instr& instr, const MemorySite& site,
                            Ref address, LanePointers& pointers) {
  const std::uint64_t access = std::uint64_t{site.bytes} * site.vector;
  std::uint64_t base = 0;
  std::uint64_t stride = 0;
  Window window;
  switch (site.space) {
    case Space::kShared:
      window = context.shared;
      break;
    case Space::kConst:
      window = context.constants;
      break;
    case Space::kParam:
      window = context.params;
      break;
    case Space::kLocal:
      window = {context.local, context.local_bytes};
      stride = context.local_stride;
      break;
    default: {
      const Allocation* allocation = context.site_cache[instr.aux];
      if (allocation == nullptr || (site.write && allocation->read_only)) {
        return false;
      }
      base = allocation->base;
      window = {allocation->host, allocation->bytes};
    }
  }
  if (window.bytes < access) {
    return false;
  }
  const std::uint64_t bias = static_cast<std::uint64_t>(instr.imm) - base;
  const std::uint64_t limit = window.bytes - access;
  const auto host = reinterpret_cast<std::uintptr_t>(window.host);
  if (site.wide_address) {
    return ResolveWide<kFull>(context.mask, context.Row<const std::uint64_t>(address), bias, limit,
                              access, host, stride, pointers);
  }
  if (limit >> 31 != 0 || base != 0) {
    return false;
  }
  LaneOffsets32 lanes;
  const bool fits = ResolveNarrow<kFull>(
      context.mask, context.Row<const std::uint32_t>(address), static_cast<std::uint32_t>(bias),
      static_cast<std::uint32_t>(limit), static_cast<std::uint32_t>(access), lanes);
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    pointers.host[lane] = window.host + lanes.offset[lane] + stride * lane;
  }
  return fits;
}

template <bool kFull>
HWY_INLINE void Resolve(ExecContext& context, const Instr& instr, const MemorySite& site,
                        std::uint32_t address_operand, LanePointers& pointers) {
  const bool fast = ResolveFast<kFull>(context, instr, site, instr.op[address_operand], pointers);
  const bool watched = context.observer != nullptr ||
                       (context.log != nullptr && (site.write || context.log->logs_reads()));
  if (HWY_LIKELY(fast && !watched)) {
    return;
  }
  ResolveAndWatch(context, instr, site, address_operand, fast, pointers);
}

/// Every lane's `Raw` at pointers + offset to a row of Cells; Raw carries the sign.
template <typename Raw, typename Cell, bool kFull, class Lanes>
HWY_INLINE void Gather(const Lanes& lanes, std::uint64_t offset, std::uint32_t mask, Cell* row) {
#pragma GCC unroll 8
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    if (kFull || (mask >> lane & 1) != 0) {
      row[lane] = static_cast<Cell>(ReadRaw<Raw>(At(lanes, lane) + offset));
    }
  }
}
template <typename Cell, bool kFull>
void GatherElement(const MemorySite& site, const LanePointers& pointers, std::uint64_t offset,
                   std::uint32_t mask, Cell* row) {
  const bool sign = site.sign_extend;
  switch (site.bytes) {
    case 1:
      sign ? Gather<std::int8_t, Cell, kFull>(pointers, offset, mask, row)
           : Gather<std::uint8_t, Cell, kFull>(pointers, offset, mask, row);
      break;
    case 2:
      sign ? Gather<std::int16_t, Cell, kFull>(pointers, offset, mask, row)
           : Gather<std::uint16_t, Cell, kFull>(pointers, offset, mask, row);
      break;
    case 4:
      sign ? Gather<std::int32_t, Cell, kFull>(pointers, offset, mask, row)
           : Gather<std::uint32_t, Cell, kFull>(pointers, offset, mask, row);
      break;
    default:
      Gather<std::uint64_t, Cell, kFull>(pointers, offset, mask, row);
  }
}

/// 32-bit elements of full warps to whole registers; false for three of them, which have no form
/// of their own.
HWY_INLINE bool GatherVector(const ExecContext& context, const Instr& instr, const MemorySite& site,
                             const LanePointers& lanes) {
  if (site.vector == 1) {
    GatherWords<1>(lanes, WordRows<1, std::uint32_t>(context, instr, 0).row);
  } else if (site.vector == 2) {
    GatherWords<2>(lanes, WordRows<2, std::uint32_t>(context, instr, 0).row);
  } else if (site.vector == 4) {
    GatherWords<4>(lanes, WordRows<4, std::uint32_t>(context, instr, 0).row);
  } else {
    return false;
  }
  return true;
}
HWY_INLINE bool ScatterVector(const ExecContext& context, const Instr& instr,
                              const MemorySite& site, const LanePointers& lanes) {
  if (site.vector == 1) {
    ScatterWords<1>(lanes, WordRows<1, const std::uint32_t>(context, instr, 1).row);
  } else if (site.vector == 2) {
    ScatterWords<2>(lanes, WordRows<2, const std::uint32_t>(context, instr, 1).row);
  } else if (site.vector == 4) {
    ScatterWords<4>(lanes, WordRows<4, const std::uint32_t>(context, instr, 1).row);
  } else {
    return false;
  }
  return true;
}

template <bool kFull>
HWY_NOINLINE void Load(ExecContext& context, const Instr& instr) {
  const MemorySite& site = context.program->memory[instr.aux];
  if (kFull && LoadPiece(context, instr, site)) {
    context.messages += site.ordered ? 1 : 0;
    return;
  }
  LanePointers pointers;
  Resolve<kFull>(context, instr, site, site.vector, pointers);
  context.messages += site.ordered ? 1 : 0;
  if (site.register_bits == 64) {
    for (std::uint32_t v = 0; v < site.vector; ++v) {
      GatherElement<std::uint64_t, kFull>(site, pointers, std::uint64_t{v} * site.bytes,
                                          context.mask, context.Row<std::uint64_t>(instr.op[v]));
    }
    return;
  }
  if (kFull && site.bytes == 4 && GatherVector(context, instr, site, pointers)) {
    return;
  }
  for (std::uint32_t v = 0; v < site.vector; ++v) {
    std::uint32_t* row = context.Row<std::uint32_t>(instr.op[v]);
    GatherElement<std::uint32_t, kFull>(site, pointers, std::uint64_t{v} * site.bytes, context.mask,
                                        row);
    if (site.register_bits == 16 && site.sign_extend) {  // 16-bit cells are zero-extended
      for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
        row[lane] &= 0xffffu;
      }
    }
  }
}

template <typename Raw, typename Cell, bool kFull>
HWY_INLINE void Scatter(const LanePointers& pointers, std::uint64_t offset, std::uint32_t mask,
                        const Cell* row) {
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    if (kFull || (mask >> lane & 1) != 0) {
      const auto value = static_cast<Raw>(row[lane]);
      std::memcpy(pointers.host[lane] + offset, &value, sizeof(value));
    }
  }
}
template <typename Cell, bool kFull>
void ScatterElement(const MemorySite& site, const LanePointers& pointers, std::uint64_t offset,
                    std::uint32_t mask, const Cell* row) {
  switch (site.bytes) {
    case 1:
      Scatter<std::uint8_t, Cell, kFull>(pointers, offset, mask, row);
      break;
    case 2:
      Scatter<std::uint16_t, Cell, kFull>(pointers, offset, mask, row);
      break;
    case 4:
      Scatter<std::uint32_t, Cell, kFull>(pointers, offset, mask, row);
      break;
    default:
      Scatter<std::uint64_t, Cell, kFull>(pointers, offset, mask, row);
  }
}

template <bool kFull>
HWY_NOINLINE void Store(ExecContext& context, const Instr& instr) {
  const MemorySite& site = context.program->memory[instr.aux];
  if (kFull && StorePiece(context, instr, site)) {
    context.messages += site.ordered ? 1 : 0;
    context.changes += MayBeGlobal(site) ? 1 : 0;
    return;
  }
  LanePointers pointers;
  Resolve<kFull>(context, instr, site, 0, pointers);
  context.messages += site.ordered ? 1 : 0;
  context.changes += MayBeGlobal(site) ? 1 : 0;
  if (kFull && site.bytes == 4 && site.register_bits == 32 &&
      ScatterVector(context, instr, site, pointers)) {
    return;
  }
  for (std::uint32_t v = 0; v < site.vector; ++v) {
    const std::uint64_t offset = std::uint64_t{v} * site.bytes;
    if (site.register_bits == 64) {
      ScatterElement<std::uint64_t, kFull>(site, pointers, offset, context.mask,
                                           context.Row<const std::uint64_t>(instr.op[1 + v]));
    } else {
      ScatterElement<std::uint32_t, kFull>(site, pointers, offset, context.mask,
                                           context.Row<const std::uint32_t>(instr.op[1 + v]));
    }
  }
}

template <bool kShared, std::uint32_t kWords>
void LoadWords(ExecContext& context, const Instr& instr) {
  if (HWY_UNLIKELY((!TryLoadWords<kShared, kWords>(context, instr)))) {
    Load<true>(context, instr);
  }
}
template <bool kShared, std::uint32_t kWords>
void StoreWords(ExecContext& context, const Instr& instr) {
  if (HWY_UNLIKELY((!TryStoreWords<kShared, kWords>(context, instr)))) {
    Store<true>(context, instr);
  }
}
template <bool kShared, std::uint32_t kWords>
void AppendWords(OpList& list) {
  const std::string suffix = WordAccessSuffix(kShared, kWords);
  list.push_back({"@load" + suffix, "", Load<false>, LoadWords<kShared, kWords>});
  list.push_back({"@store" + suffix, "", Store<false>, StoreWords<kShared, kWords>});
}

OpList MemoryOps() {
  OpList list;
  AppendWords<true, 1>(list);
  AppendWords<true, 2>(list);
  AppendWords<true, 4>(list);
  AppendWords<false, 1>(list);
  AppendWords<false, 2>(list);
  AppendWords<false, 4>(list);
  list.push_back({"@load", "", Load<false>, Load<true>});
  list.push_back({"@store", "", Store<false>, Store<true>});
  return list;
}

}  // namespace HWY_NAMESPACE
}  // namespace voltcheck::simulator
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace voltcheck::simulator {
HWY_EXPORT(MemoryOps);
void AppendMemoryOps(OpList& list) {
  for (OpEntry& entry : HWY_DYNAMIC_DISPATCH(MemoryOps)()) {
    list.push_back(std::move(entry));
  }
}
}  // namespace voltcheck::simulator
#endif  // HWY_ONCE
