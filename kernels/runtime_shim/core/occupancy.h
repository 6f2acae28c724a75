#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_OCCUPANCY_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_OCCUPANCY_H_

#include <cstdint>

#include "kernels/runtime_shim/core/machine.h"

namespace voltcheck::shim {

/// Registers of a thread as an SM70 assembler allots them: out of the cubin that came with the
/// module, else from the toolkit's ptxas (VOLTCHECK_PTXAS, or the one on PATH that can target
/// SM70). Without either it is 0: not known. Asked once and remembered in the function.
int Registers(Function& function);

/// Blocks of `threads` that fit on one multiprocessor of a V100 at once (CUDA's occupancy rules for
/// compute capability 7.0: 2048 threads, 32 blocks, 65536 registers allotted 256 to a warp in four
/// quarters, 96 KB of shared memory allotted 256 bytes at a time). `registers` 0: not a limit.
int BlocksPerMultiprocessor(std::uint32_t threads, int registers, std::uint64_t shared_bytes);

/// The dynamic shared memory that lets `blocks` blocks of `threads` fit; 0 when they do not.
std::uint64_t SharedForBlocks(int blocks, std::uint32_t threads, const Function& function);

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_OCCUPANCY_H_
