// Loads and stores of full warps whose lanes' data are one piece of memory, which is most of them.
// Include after lanes-inl.h.
#if defined(VOLTCHECK_KERNELS_SIMULATOR_EXEC_PIECE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLTCHECK_KERNELS_SIMULATOR_EXEC_PIECE_INL_H_
#undef VOLTCHECK_KERNELS_SIMULATOR_EXEC_PIECE_INL_H_
#else
#define VOLTCHECK_KERNELS_SIMULATOR_EXEC_PIECE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/simulator/exec/lane_words-inl.h"
#include "kernels/simulator/exec/lanes-inl.h"
#include "kernels/simulator/memory/address_space.h"
#include "kernels/simulator/memory/block_log.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::simulator {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Lane numbers times 0, 1, 2, 4, ... 64: what an affine address row adds to its first lane.
template <typename Address>
struct LaneOffsets {
  static constexpr std::uint32_t kRows = 8;
  alignas(64) Address rows[kRows][kWarpSize];
  constexpr LaneOffsets() : rows() {
    for (std::uint32_t i = 0; i < kRows; ++i) {
      for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
        rows[i][lane] = i == 0 ? 0 : lane << (i - 1);
      }
    }
  }
};
/// Whether lane i's address is row[0] + i * stride. The stride is 0 or a power of two up to 64.
template <typename Address>
HWY_INLINE bool IsAffine(const Address* row, Address stride) {
  static constexpr LaneOffsets<Address> kOffsets;
  if (row[5] - row[0] != 5 * stride || row[31] - row[0] != 31 * stride) {
    return false;  // tells nearly all other patterns
  }
  const Address* offsets = kOffsets.rows[stride == 0 ? 0 : 1 + __builtin_ctzll(stride)];
  const Tag<Address> d;
  const auto first = hn::Set(d, row[0]);
  auto different = hn::Zero(d);
  for (std::size_t i = 0; i < kWarpSize; i += hn::Lanes(d)) {
    const auto expected = hn::Add(first, hn::Load(d, offsets + i));
    different = hn::Or(different, hn::Xor(hn::Load(d, row + i), expected));
  }
  return hn::AllTrue(d, hn::Eq(different, hn::Zero(d)));
}

/// The data of all 32 lanes as one piece of memory.
struct Piece {
  std::byte* host = nullptr;  ///< null: they are not one
  bool uniform = false;       ///< every lane has the same address; else they lie side by side
  Allocation* allocation = nullptr;
};

/// For full warps. What is not one piece inside one window goes the longer way, which also finds
/// words for what is wrong.
HWY_INLINE Piece FindPiece(const ExecContext& context, const Instr& instr, const MemorySite& site,
                           Ref address, std::uint64_t access) {
  Piece piece;
  std::uint64_t base = 0;
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
      return piece;
    default:
      piece.allocation = context.site_cache[instr.aux];
      if (piece.allocation == nullptr || (site.write && piece.allocation->read_only)) {
        return piece;
      }
      base = piece.allocation->base;
      window = {piece.allocation->host, piece.allocation->bytes};
  }
  std::uint64_t stride = 0;
  std::uint64_t offset = 0;
  if (site.wide_address) {
    const auto* row = context.Row<const std::uint64_t>(address);
    stride = row[1] - row[0];
    if ((stride != access && stride != 0) || !IsAffine(row, stride)) {
      return piece;
    }
    offset = row[0] + static_cast<std::uint64_t>(instr.imm) - base;
  } else {
    const auto* row = context.Row<const std::uint32_t>(address);
    stride = row[1] - row[0];
    if (base != 0 || (stride != access && stride != 0) ||
        !IsAffine(row, static_cast<std::uint32_t>(stride))) {
      return piece;
    }
    offset = static_cast<std::uint32_t>(row[0] + static_cast<std::uint64_t>(instr.imm));
  }
  const std::uint64_t bytes = stride * (kWarpSize - 1) + access;
  if ((offset & (access - 1)) != 0 || window.bytes < bytes || offset > window.bytes - bytes) {
    return piece;
  }
  piece.host = window.host + offset;
  piece.uniform = stride == 0;
  return piece;
}

HWY_INLINE bool MayBeGlobal(const MemorySite& site) {
  return site.space == Space::kGlobal || site.space == Space::kGeneric;
}
/// Whole elements of whole registers.
HWY_INLINE bool FillsRegisters(const MemorySite& site) {
  return site.bytes * 8 == site.register_bits && site.bytes >= 4;
}

template <typename Cell>
HWY_INLINE void FillRow(const std::byte* from, Cell* row) {
  const Tag<Cell> d;
  const auto value = hn::Set(d, ReadRaw<Cell>(from));
  for (std::size_t i = 0; i < kWarpSize; i += hn::Lanes(d)) {
    hn::Store(value, d, row + i);
  }
}

/// kWords words of each lane, side by side in memory, to or from as many rows.
template <std::uint32_t kWords>
HWY_INLINE void SideBySideToRows(const std::byte* host, std::uint32_t* const* rows) {
  const Tag<std::uint32_t> d;
  const auto* from = reinterpret_cast<const std::uint32_t*>(host);
  if constexpr (kWords == 1) {
    std::memcpy(rows[0], from, kWarpSize * 4);
  } else if constexpr (kWords == 2) {
    auto a = hn::Zero(d);
    auto b = hn::Zero(d);
    for (std::size_t i = 0; i < kWarpSize; i += hn::Lanes(d)) {
      hn::LoadInterleaved2(d, from + 2 * i, a, b);
      hn::Store(a, d, rows[0] + i);
      hn::Store(b, d, rows[1] + i);
    }
  } else {
    auto a = hn::Zero(d);
    auto b = hn::Zero(d);
    auto e = hn::Zero(d);
    auto f = hn::Zero(d);
    for (std::size_t i = 0; i < kWarpSize; i += hn::Lanes(d)) {
      hn::LoadInterleaved4(d, from + 4 * i, a, b, e, f);
      hn::Store(a, d, rows[0] + i);
      hn::Store(b, d, rows[1] + i);
      hn::Store(e, d, rows[2] + i);
      hn::Store(f, d, rows[3] + i);
    }
  }
}
template <std::uint32_t kWords>
HWY_INLINE void RowsToSideBySide(const std::uint32_t* const* rows, std::byte* host) {
  const Tag<std::uint32_t> d;
  auto* to = reinterpret_cast<std::uint32_t*>(host);
  if constexpr (kWords == 1) {
    std::memcpy(to, rows[0], kWarpSize * 4);
  } else {
    for (std::size_t i = 0; i < kWarpSize; i += hn::Lanes(d)) {
      const auto a = hn::Load(d, rows[0] + i);
      const auto b = hn::Load(d, rows[1] + i);
      if constexpr (kWords == 2) {
        hn::StoreInterleaved2(a, b, d, to + 2 * i);
      } else {
        hn::StoreInterleaved4(a, b, hn::Load(d, rows[2] + i), hn::Load(d, rows[3] + i), d,
                              to + 4 * i);
      }
    }
  }
}
/// The rows of a word access, from operand `first` on.
template <std::uint32_t kWords, typename Word>
struct WordRows {
  Word* row[kWords];
  HWY_INLINE WordRows(const ExecContext& context, const Instr& instr, std::uint32_t first) {
    for (std::uint32_t v = 0; v < kWords; ++v) {
      row[v] = context.Row<Word>(instr.op[first + v]);
    }
  }
};

/// A load that reads one piece of memory. False, with nothing done, for any other.
HWY_INLINE bool LoadPiece(ExecContext& context, const Instr& instr, const MemorySite& site) {
  if (context.observer != nullptr || !FillsRegisters(site) ||
      (context.log != nullptr && MayBeGlobal(site) && context.log->logs_reads())) {
    return false;
  }
  const std::uint64_t access = std::uint64_t{site.bytes} * site.vector;
  const Piece piece = FindPiece(context, instr, site, instr.op[site.vector], access);
  if (piece.host == nullptr) {
    return false;
  }
  if (piece.uniform) {
    for (std::uint32_t v = 0; v < site.vector; ++v) {
      if (site.bytes == 8) {
        FillRow(piece.host + v * 8, context.Row<std::uint64_t>(instr.op[v]));
      } else {
        FillRow(piece.host + v * 4, context.Row<std::uint32_t>(instr.op[v]));
      }
    }
    return true;
  }
  if (site.vector == 1) {
    if (site.bytes == 8) {
      std::memcpy(context.Row<std::byte>(instr.op[0]), piece.host, kWarpSize * 8);
    } else {
      std::memcpy(context.Row<std::byte>(instr.op[0]), piece.host, kWarpSize * 4);
    }
    return true;
  }
  if (site.bytes == 8) {
    return false;
  }
  if (site.vector == 2) {
    SideBySideToRows<2>(piece.host, WordRows<2, std::uint32_t>(context, instr, 0).row);
  } else {
    SideBySideToRows<4>(piece.host, WordRows<4, std::uint32_t>(context, instr, 0).row);
  }
  return true;
}

/// A store that writes one piece of memory, side by side. False, with nothing done, for any other.
HWY_INLINE bool StorePiece(ExecContext& context, const Instr& instr, const MemorySite& site) {
  if (context.observer != nullptr || !FillsRegisters(site) ||
      (site.vector != 1 && site.bytes == 8)) {
    return false;
  }
  const std::uint64_t access = std::uint64_t{site.bytes} * site.vector;
  const Piece piece = FindPiece(context, instr, site, instr.op[0], access);
  if (piece.host == nullptr || piece.uniform) {
    return false;
  }
  if (context.log != nullptr && piece.allocation != nullptr) {
    context.log->OnPiece(*piece.allocation, piece.host, access * kWarpSize, true);
  }
  if (site.vector == 1) {
    if (site.bytes == 8) {
      std::memcpy(piece.host, context.Row<std::byte>(instr.op[1]), kWarpSize * 8);
    } else {
      std::memcpy(piece.host, context.Row<std::byte>(instr.op[1]), kWarpSize * 4);
    }
    return true;
  }
  if (site.vector == 2) {
    RowsToSideBySide<2>(WordRows<2, const std::uint32_t>(context, instr, 1).row, piece.host);
  } else {
    RowsToSideBySide<4>(WordRows<4, const std::uint32_t>(context, instr, 1).row, piece.host);
  }
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace voltcheck::simulator
HWY_AFTER_NAMESPACE();

#endif  // VOLTCHECK_KERNELS_SIMULATOR_EXEC_PIECE_INL_H_
