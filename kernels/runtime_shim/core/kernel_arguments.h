#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_KERNEL_ARGUMENTS_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_KERNEL_ARGUMENTS_H_

#include <cstddef>

#include "kernels/runtime_shim/core/machine.h"

namespace voltcheck::shim {

/// dim3 as it is passed.
struct Dim {
  unsigned x, y, z;
};
inline kernels::Dim3 ToDim3(const Dim& d) { return {d.x, d.y, d.z}; }

/// A kernel launch from the arguments that the host's stub points at, or from the buffer of
/// `extra` (CU_LAUNCH_PARAM_BUFFER_POINTER).
KernelWork MakeKernelWork(Function& function, const void* symbol, Dim grid, Dim block,
                          std::size_t shared, void** arguments, void** extra, bool cooperative);
}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_KERNEL_ARGUMENTS_H_
