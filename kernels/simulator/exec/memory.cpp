// ld and st. All lanes usually hit one allocation: one pass checks the 32 addresses against it and
// makes host pointers, then whole rows move at once where the lanes' data lie side by side.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simulator/exec/memory.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <cstring>

#include "kernels/simulator/exec/lanes-inl.h"
#include "kernels/simulator/exec/piece-inl.h"
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
  const std::uint32_t first = mask == 0 ? 0 : static_cast<std::uint32_t>(__builtin_ctz(mask));
  const auto substitute = hn::Set(d, row[first]);
  auto outside = hn::Zero(d);
  auto low_bits = hn::Zero(d);
  auto* out = reinterpret_cast<std::uint64_t*>(pointers.host);
  for (std::size_t i = 0; i < kWarpSize; i += hn::Lanes(d)) {
    auto address = hn::Load(d, row + i);
    if constexpr (!kFull) {
      address = hn::IfThenElse(LaneMask(d, mask, i), address, substitute);
    }
    const auto offset = hn::Add(address, hn::Set(d, bias));
    outside = hn::Or(outside, hn::Or(offset, hn::Sub(hn::Set(d, limit), offset)));
    low_bits = hn::Or(low_bits, offset);
    hn::Store(hn::Add(hn::Set(d, host), offset), d, out + i);
  }
  AddStride(stride, out);
  const auto bad = hn::Or(hn::ShiftRight<63>(outside), hn::And(low_bits, hn::Set(d, access - 1)));
  return hn::AllTrue(d, hn::Eq(bad, hn::Zero(d)));
}
/// Lanes inside one window below 2 GiB.
struct LaneOffsets32 {
  std::byte* host = nullptr;
  alignas(64) std::uint32_t offset[kWarpSize];
};
HWY_INLINE std::byte* At(const LanePointers& lanes, std::size_t lane) { return lanes.host[lane]; }
HWY_INLINE std::byte* At(const LaneOffsets32& lanes, std::size_t lane) {
  return lanes.host + lanes.offset[lane];
}

/// The same for 32-bit addresses, of shared memory mostly; windows are below 2 GiB.
template <bool kFull>
HWY_INLINE bool ResolveNarrow(std::uint32_t mask, const std::uint32_t* row, std::uint32_t bias,
                              std::uint32_t limit, std::uint32_t access, LaneOffsets32& lanes) {
  const Tag<std::uint32_t> d;
  const std::uint32_t first = mask == 0 ? 0 : static_cast<std::uint32_t>(__builtin_ctz(mask));
  const auto substitute = hn::Set(d, row[first]);
  auto outside = hn::Zero(d);
  auto low_bits = hn::Zero(d);
  for (std::size_t i = 0; i < kWarpSize; i += hn::Lanes(d)) {
    auto address = hn::Load(d, row + i);
    if constexpr (!kFull) {
      address = hn::IfThenElse(LaneMask(d, mask, i), address, substitute);
    }
    const auto offset = hn::Add(address, hn::Set(d, bias));
    outside = hn::Or(outside, hn::Or(offset, hn::Sub(hn::Set(d, limit), offset)));
    low_bits = hn::Or(low_bits, offset);
    hn::Store(offset, d, lanes.offset + i);
  }
  const auto bad = hn::Or(hn::ShiftRight<31>(outside), hn::And(low_bits, hn::Set(d, access - 1)));
  return hn::AllTrue(d, hn::Eq(bad, hn::Zero(d)));
}

/// Full warps that read or write whole 32-bit registers in shared memory, with nobody watching.
HWY_INLINE bool ResolveSharedWords(const ExecContext& context, const Instr& instr,
                                   const MemorySite& site, Ref address, LaneOffsets32& lanes) {
  const std::uint64_t access = std::uint64_t{site.bytes} * site.vector;
  const Window& window = context.shared;
  if (site.space != Space::kShared || site.wide_address || site.bytes != 4 ||
      site.register_bits != 32 || context.observer != nullptr || window.bytes < access) {
    return false;
  }
  lanes.host = window.host;
  return ResolveNarrow<true>(context.mask, context.Row<const std::uint32_t>(address),
                             static_cast<std::uint32_t>(instr.imm),
                             static_cast<std::uint32_t>(window.bytes - access),
                             static_cast<std::uint32_t>(access), lanes);
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

#if HWY_TARGET != HWY_SCALAR
/// Vectors of one block of four words, or of two: then the second is of the lane four lanes on.
using OneBlock = hn::FixedTag<std::uint32_t, 4>;
template <class Lanes>
HWY_INLINE hn::Vec<OneBlock> LoadBlock(const Lanes& lanes, std::size_t lane) {
  return hn::LoadU(OneBlock(), reinterpret_cast<const std::uint32_t*>(At(lanes, lane)));
}
template <class Lanes>
HWY_INLINE void StoreBlock(hn::Vec<OneBlock> v, const Lanes& lanes, std::size_t lane) {
  hn::StoreU(v, OneBlock(), reinterpret_cast<std::uint32_t*>(At(lanes, lane)));
}
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_NEON
using BlockTag = OneBlock;
template <class Lanes>
HWY_INLINE hn::Vec<BlockTag> LoadBlocks(const Lanes& lanes, std::size_t lane) {
  return LoadBlock(lanes, lane);
}
template <class Lanes>
HWY_INLINE void StoreBlocks(hn::Vec<BlockTag> v, const Lanes& lanes, std::size_t lane) {
  StoreBlock(v, lanes, lane);
}
#else
using BlockTag = hn::FixedTag<std::uint32_t, 8>;
template <class Lanes>
HWY_INLINE hn::Vec<BlockTag> LoadBlocks(const Lanes& lanes, std::size_t lane) {
  return hn::Combine(BlockTag(), LoadBlock(lanes, lane + 4), LoadBlock(lanes, lane));
}
template <class Lanes>
HWY_INLINE void StoreBlocks(hn::Vec<BlockTag> v, const Lanes& lanes, std::size_t lane) {
  StoreBlock(hn::LowerHalf(OneBlock(), v), lanes, lane);
  StoreBlock(hn::UpperHalf(OneBlock(), v), lanes, lane + 4);
}
#endif

/// Four 32-bit elements per lane, transposed block by block.
template <class Lanes>
HWY_INLINE void GatherQuads(const Lanes& lanes, std::uint32_t* const* rows) {
  const BlockTag d;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  for (std::size_t lane = 0; lane < kWarpSize; lane += hn::Lanes(d)) {
    const auto v0 = LoadBlocks(lanes, lane);
    const auto v1 = LoadBlocks(lanes, lane + 1);
    const auto v2 = LoadBlocks(lanes, lane + 2);
    const auto v3 = LoadBlocks(lanes, lane + 3);
    const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, v0, v1));
    const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, v2, v3));
    const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, v0, v1));
    const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, v2, v3));
    const auto store = [&](auto x, std::uint32_t* row)
                           HWY_ATTR { hn::Store(hn::BitCast(d, x), d, row + lane); };
    store(hn::InterleaveLower(d64, low01, low23), rows[0]);
    store(hn::InterleaveUpper(d64, low01, low23), rows[1]);
    store(hn::InterleaveLower(d64, high01, high23), rows[2]);
    store(hn::InterleaveUpper(d64, high01, high23), rows[3]);
  }
}

/// The reverse: four rows to 16 bytes per lane.
template <class Lanes>
HWY_INLINE void ScatterQuads(const Lanes& lanes, const std::uint32_t* const* rows) {
  const BlockTag d;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  for (std::size_t lane = 0; lane < kWarpSize; lane += hn::Lanes(d)) {
    const auto r0 = hn::Load(d, rows[0] + lane);
    const auto r1 = hn::Load(d, rows[1] + lane);
    const auto r2 = hn::Load(d, rows[2] + lane);
    const auto r3 = hn::Load(d, rows[3] + lane);
    const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, r0, r1));
    const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, r2, r3));
    const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, r0, r1));
    const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, r2, r3));
    const auto store = [&](auto x, std::size_t i)
                           HWY_ATTR { StoreBlocks(hn::BitCast(d, x), lanes, lane + i); };
    store(hn::InterleaveLower(d64, low01, low23), 0);
    store(hn::InterleaveUpper(d64, low01, low23), 1);
    store(hn::InterleaveLower(d64, high01, high23), 2);
    store(hn::InterleaveUpper(d64, high01, high23), 3);
  }
}
#endif  // HWY_TARGET != HWY_SCALAR

/// Two 32-bit elements per lane.
template <class Lanes>
HWY_INLINE void GatherPairs(const Lanes& lanes, std::uint32_t* low, std::uint32_t* high) {
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    const auto both = ReadRaw<std::uint64_t>(At(lanes, lane));
    low[lane] = static_cast<std::uint32_t>(both);
    high[lane] = static_cast<std::uint32_t>(both >> 32);
  }
}
template <class Lanes>
HWY_INLINE void ScatterPairs(const Lanes& lanes, const std::uint32_t* low,
                             const std::uint32_t* high) {
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    const std::uint64_t both = low[lane] | std::uint64_t{high[lane]} << 32;
    std::memcpy(At(lanes, lane), &both, sizeof(both));
  }
}

/// 32-bit elements of full warps to whole registers; false for three of them, which have no form
/// of their own.
template <class Lanes>
HWY_INLINE bool GatherWords(const ExecContext& context, const Instr& instr, const MemorySite& site,
                            const Lanes& lanes) {
  const auto row = [&](std::size_t v) HWY_ATTR { return context.Row<std::uint32_t>(instr.op[v]); };
  if (site.vector == 1) {
    Gather<std::uint32_t, std::uint32_t, true>(lanes, 0, kFullMask, row(0));
    return true;
  }
  if (site.vector == 2) {
    GatherPairs(lanes, row(0), row(1));
    return true;
  }
#if HWY_TARGET != HWY_SCALAR
  if (site.vector == 4) {
    std::uint32_t* const rows[4] = {row(0), row(1), row(2), row(3)};
    GatherQuads(lanes, rows);
    return true;
  }
#endif  // HWY_TARGET != HWY_SCALAR
  return false;
}
template <class Lanes>
HWY_INLINE bool ScatterWords(const ExecContext& context, const Instr& instr, const MemorySite& site,
                             const Lanes& lanes) {
  const auto row = [&](std::size_t v)
                       HWY_ATTR { return context.Row<const std::uint32_t>(instr.op[1 + v]); };
  if (site.vector == 2) {
    ScatterPairs(lanes, row(0), row(1));
    return true;
  }
#if HWY_TARGET != HWY_SCALAR
  if (site.vector == 4) {
    const std::uint32_t* const rows[4] = {row(0), row(1), row(2), row(3)};
    ScatterQuads(lanes, rows);
    return true;
  }
#endif  // HWY_TARGET != HWY_SCALAR
  return false;
}

template <bool kFull>
void Load(ExecContext& context, const Instr& instr) {
  const MemorySite& site = context.program->memory[instr.aux];
  if (kFull && LoadPiece(context, instr, site)) {
    context.messages += site.ordered ? 1 : 0;
    return;
  }
  LaneOffsets32 lanes;
  if (kFull && ResolveSharedWords(context, instr, site, instr.op[site.vector], lanes) &&
      GatherWords(context, instr, site, lanes)) {
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
  if (kFull && site.bytes == 4 && GatherWords(context, instr, site, pointers)) {
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
void Store(ExecContext& context, const Instr& instr) {
  const MemorySite& site = context.program->memory[instr.aux];
  if (kFull && StorePiece(context, instr, site)) {
    context.messages += site.ordered ? 1 : 0;
    context.changes += MayBeGlobal(site) ? 1 : 0;
    return;
  }
  LaneOffsets32 lanes;
  if (kFull && ResolveSharedWords(context, instr, site, instr.op[0], lanes) &&
      ScatterWords(context, instr, site, lanes)) {
    context.messages += site.ordered ? 1 : 0;
    return;
  }
  LanePointers pointers;
  Resolve<kFull>(context, instr, site, 0, pointers);
  context.messages += site.ordered ? 1 : 0;
  context.changes += MayBeGlobal(site) ? 1 : 0;
  if (kFull && site.bytes == 4 && site.register_bits == 32 &&
      ScatterWords(context, instr, site, pointers)) {
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

OpList MemoryOps() {
  OpList list;
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
