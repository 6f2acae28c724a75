#ifndef VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_ROWS_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_ROWS_H_

#include <cstdint>

#include "kernels/simulator/program/program.h"

namespace voltcheck::simulator {

inline constexpr std::uint32_t kRow32Bytes = kWarpSize * 4;
inline constexpr std::uint32_t kRow64Bytes = kWarpSize * 8;

/// Rows with the same value in every lane of a block. 64-bit rows come first.
enum class BlockRow : std::uint32_t {
  kDynamicShared64,  ///< address of dynamic shared memory in the shared window
  kGridId,           ///< 64-bit
  kFirst32,
  kDynamicShared32 = kFirst32,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kNwarpid,
  kSmid,
  kNsmid,
  kTotalShared,
  kDynamicSharedSize,
  kCount,
};

/// Rows of one warp.
enum class WarpRow : std::uint32_t {
  kTidX,
  kTidY,
  kTidZ,
  kLaneid,
  kWarpid,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kCount,
};

constexpr std::uint32_t RowOffset(BlockRow row) {
  const auto index = static_cast<std::uint32_t>(row);
  constexpr auto kFirst = static_cast<std::uint32_t>(BlockRow::kFirst32);
  return index < kFirst ? index * kRow64Bytes
                        : kFirst * kRow64Bytes + (index - kFirst) * kRow32Bytes;
}
constexpr std::uint32_t RowOffset(WarpRow row) {
  return static_cast<std::uint32_t>(row) * kRow32Bytes;
}
inline constexpr std::uint32_t kBlockRowBytes = RowOffset(BlockRow::kCount);
inline constexpr std::uint32_t kWarpRowBytes = RowOffset(WarpRow::kCount);

constexpr Ref RowRef(BlockRow row) { return MakeRef(RowBase::kBlock, RowOffset(row)); }
constexpr Ref RowRef(WarpRow row) { return MakeRef(RowBase::kWarp, RowOffset(row)); }

/// Generic addresses of the windows that are not global memory. The low halves are not zero, so
/// code that forgets cvta shows, as it does on a GPU.
inline constexpr std::uint64_t kSharedWindow = 0x0000'7d00'0100'0000;
inline constexpr std::uint64_t kLocalWindow = 0x0000'7d01'0100'0000;
inline constexpr std::uint64_t kConstWindow = 0x0000'7d02'0100'0000;
inline constexpr std::uint64_t kParamWindow = 0x0000'7d03'0100'0000;
inline constexpr std::uint64_t kWindowBytes = 0x0000'0000'e000'0000;
/// Where global allocations begin.
inline constexpr std::uint64_t kGlobalBase = 0x0000'7000'0000'0000;

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_ROWS_H_
