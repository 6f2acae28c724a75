#ifndef VOLTCHECK_KERNELS_SIMULATOR_EXEC_OBSERVER_H_
#define VOLTCHECK_KERNELS_SIMULATOR_EXEC_OBSERVER_H_

#include <cstddef>
#include <cstdint>

#include "kernels/simulator/exec/context.h"

namespace voltcheck::simulator {

/// Where each lane's access lands on the host. Cells of inactive lanes are undefined.
struct LanePointers {
  alignas(64) std::byte* host[kWarpSize];
};

/// Sees every access to global, shared and local memory after it has passed the bounds check and
/// before it happens. Checkers and the conflict tracker of parallel blocks implement it.
class AccessObserver {
 public:
  virtual ~AccessObserver() = default;
  /// `space` is where the access goes (a generic one is resolved); all lanes of context.mask go to
  /// it. `addresses` are offsets in shared and local memory, addresses in global memory.
  virtual void OnAccess(ExecContext& context, const Instr& instr, const MemorySite& site,
                        Space space, const std::uint64_t* addresses,
                        const LanePointers& pointers) = 0;
  /// Instr::imm: 0 device-wide, 1 block-wide, 2 bar.warp.sync; 4 more for fence.acq_rel, which is
  /// not sequentially consistent.
  virtual void OnFence(ExecContext& context, const Instr& instr) = 0;
  /// A call copied parameters into the lanes' local memory.
  virtual void OnLocalWrite(ExecContext& context, std::uint32_t mask, std::uint64_t offset,
                            std::uint64_t bytes) = 0;
};

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_EXEC_OBSERVER_H_
