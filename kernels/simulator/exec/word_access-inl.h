// Loads and stores of full warps that move whole 32-bit registers and that nobody watches: the
// handlers of nearly all memory instructions of real kernels. Include after lanes-inl.h.
#if defined(VOLTCHECK_KERNELS_SIMULATOR_EXEC_WORD_ACCESS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLTCHECK_KERNELS_SIMULATOR_EXEC_WORD_ACCESS_INL_H_
#undef VOLTCHECK_KERNELS_SIMULATOR_EXEC_WORD_ACCESS_INL_H_
#else
#define VOLTCHECK_KERNELS_SIMULATOR_EXEC_WORD_ACCESS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/simulator/exec/lane_words-inl.h"
#include "kernels/simulator/exec/lanes-inl.h"
#include "kernels/simulator/exec/piece-inl.h"
#include "kernels/simulator/memory/address_space.h"
#include "kernels/simulator/memory/block_log.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::simulator {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Checks the lanes' addresses against a window of fewer bytes than half of what T counts, and
/// hands their offsets in it to `keep(lane, offsets)`, a vector at a time. False when a lane misses
/// or is misaligned. Inactive lanes take the address of the first active one.
template <bool kFull, typename T, class Keep>
HWY_INLINE bool CheckOffsets(std::uint32_t mask, const T* row, T bias, T limit, T access,
                             const Keep& keep) {
  const Tag<T> d;
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
    keep(i, offset);
  }
  constexpr int kTop = 8 * sizeof(T) - 1;
  const auto bad = hn::Or(hn::ShiftRight<kTop>(outside), hn::And(low_bits, hn::Set(d, access - 1)));
  return hn::AllTrue(d, hn::Eq(bad, hn::Zero(d)));
}

template <bool kFull>
HWY_INLINE bool ResolveNarrow(std::uint32_t mask, const std::uint32_t* row, std::uint32_t bias,
                              std::uint32_t limit, std::uint32_t access, LaneOffsets32& lanes) {
  const Tag<std::uint32_t> d;
  return CheckOffsets<kFull>(mask, row, bias, limit, access,
                             [&](std::size_t i, auto offset)
                                 HWY_ATTR { hn::Store(offset, d, lanes.offset + i); });
}

/// The same for full warps and 64-bit addresses.
HWY_INLINE bool NarrowOffsets(const std::uint64_t* row, std::uint64_t bias, std::uint64_t limit,
                              std::uint64_t access, LaneOffsets32& lanes) {
  const hn::Rebind<std::uint32_t, Tag<std::uint64_t>> narrow;
  return CheckOffsets<true>(kFullMask, row, bias, limit, access,
                            [&](std::size_t i, auto offset) HWY_ATTR {
                              hn::Store(hn::TruncateTo(narrow, offset), narrow, lanes.offset + i);
                            });
}

/// How the lanes of a word access lie in one window.
struct WordLanes {
  enum class Shape { kElsewhere, kUniform, kStrided, kAnywhere };
  Shape shape = Shape::kElsewhere;  ///< not all inside the window, or misaligned: the longer way
  std::byte* host = nullptr;        ///< of the first lane, but for kAnywhere
  std::uint64_t stride = 0;         ///< kStrided: a power of two from the access on
};

template <std::uint32_t kBytes, typename Address>
HWY_INLINE WordLanes FindWordLanes(const Window& window, const Address* row, Address bias,
                                   LaneOffsets32& lanes) {
  WordLanes found;
  if (window.bytes < kBytes) {
    return found;
  }
  const Address stride = row[1] - row[0];
  const bool regular = stride <= 64 && (stride & (stride - 1)) == 0 &&
                       (stride == 0 || stride >= kBytes) && IsAffine(row, stride);
  if (regular) {
    const Address offset = row[0] + bias;
    const std::uint64_t bytes = stride * (kWarpSize - 1) + kBytes;
    if ((offset & (kBytes - 1)) == 0 && window.bytes >= bytes && offset <= window.bytes - bytes) {
      found.shape = stride == 0 ? WordLanes::Shape::kUniform : WordLanes::Shape::kStrided;
      found.host = window.host + offset;
      found.stride = stride;
    }
    return found;
  }
  const std::uint64_t limit = window.bytes - kBytes;
  if (limit >> 31 != 0) {
    return found;
  }
  lanes.host = window.host;
  lanes.bytes = window.bytes;
  bool fits = false;
  if constexpr (sizeof(Address) == 8) {
    fits = NarrowOffsets(row, bias, limit, kBytes, lanes);
  } else {
    fits =
        ResolveNarrow<true>(kFullMask, row, bias, static_cast<std::uint32_t>(limit), kBytes, lanes);
  }
  found.shape = fits ? WordLanes::Shape::kAnywhere : WordLanes::Shape::kElsewhere;
  return found;
}

/// The window of a site in shared memory (32-bit addresses) or in global memory (64-bit ones), and
/// what turns an address into an offset there.
template <bool kShared>
struct WordWindow {
  Window window;
  std::uint64_t bias = 0;
  Allocation* allocation = nullptr;

  HWY_INLINE WordWindow(const ExecContext& context, const Instr& instr)
      : bias(static_cast<std::uint64_t>(instr.imm)) {
    if constexpr (kShared) {
      window = context.shared;
    } else {
      allocation = context.site_cache[instr.aux];
      if (allocation != nullptr) {
        window = {allocation->host, allocation->bytes};
        bias -= allocation->base;
      }
    }
  }
};
template <bool kShared>
using WordAddress = std::conditional_t<kShared, std::uint32_t, std::uint64_t>;

/// False, with nothing done, for what has to go the longer way.
template <bool kShared, std::uint32_t kWords>
HWY_INLINE bool TryLoadWords(ExecContext& context, const Instr& instr) {
  using Address = WordAddress<kShared>;
  if (context.observer != nullptr) {
    return false;
  }
  const WordWindow<kShared> site(context, instr);
  const Address* row = context.Row<const Address>(instr.op[kWords]);
  LaneOffsets32 lanes;
  const WordLanes found =
      FindWordLanes<4 * kWords>(site.window, row, static_cast<Address>(site.bias), lanes);
  const WordRows<kWords, std::uint32_t> rows(context, instr, 0);
  if (!kShared && context.log != nullptr && context.log->logs_reads()) {
    if (found.shape != WordLanes::Shape::kUniform && found.shape != WordLanes::Shape::kStrided) {
      return false;
    }
    context.log->OnStrided(*site.allocation, found.host, 4 * kWords, found.stride, false);
  }
  switch (found.shape) {
    case WordLanes::Shape::kElsewhere:
      return false;
    case WordLanes::Shape::kUniform:
      for (std::uint32_t v = 0; v < kWords; ++v) {
        FillRow(found.host + 4 * v, rows.row[v]);
      }
      return true;
    case WordLanes::Shape::kStrided:
      if (found.stride == 4 * kWords) {
        SideBySideToRows<kWords>(found.host, rows.row);
      } else if (found.stride == 16) {
        GatherWords<kWords>(LaneStep<16>{found.host}, rows.row);
      } else {
        GatherWords<kWords>(LaneStride{found.host, found.stride}, rows.row);
      }
      return true;
    case WordLanes::Shape::kAnywhere:
      GatherWords<kWords>(lanes, rows.row);
      return true;
  }
  return false;
}

template <bool kShared, std::uint32_t kWords>
HWY_INLINE bool TryStoreWords(ExecContext& context, const Instr& instr) {
  using Address = WordAddress<kShared>;
  if (context.observer != nullptr) {
    return false;
  }
  const WordWindow<kShared> site(context, instr);
  if (!kShared && (site.allocation == nullptr || site.allocation->read_only)) {
    return false;
  }
  const Address* row = context.Row<const Address>(instr.op[0]);
  LaneOffsets32 lanes;
  const WordLanes found =
      FindWordLanes<4 * kWords>(site.window, row, static_cast<Address>(site.bias), lanes);
  const WordRows<kWords, const std::uint32_t> rows(context, instr, 1);
  if (found.shape == WordLanes::Shape::kStrided) {
    if (!kShared && context.log != nullptr) {
      context.log->OnStrided(*site.allocation, found.host, 4 * kWords, found.stride, true);
    }
    if (found.stride == 4 * kWords) {
      RowsToSideBySide<kWords>(rows.row, found.host);
    } else if (found.stride == 16) {
      ScatterWords<kWords>(LaneStep<16>{found.host}, rows.row);
    } else {
      ScatterWords<kWords>(LaneStride{found.host, found.stride}, rows.row);
    }
  } else if (found.shape == WordLanes::Shape::kAnywhere && (kShared || context.log == nullptr)) {
    ScatterWords<kWords>(lanes, rows.row);
  } else {
    return false;  // lanes that write to one place, and what is logged lane by lane
  }
  context.changes += kShared ? 0 : 1;
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace voltcheck::simulator
HWY_AFTER_NAMESPACE();

#endif  // VOLTCHECK_KERNELS_SIMULATOR_EXEC_WORD_ACCESS_INL_H_
