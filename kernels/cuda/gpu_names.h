#ifndef VOLTCHECK_KERNELS_CUDA_GPU_NAMES_H_
#define VOLTCHECK_KERNELS_CUDA_GPU_NAMES_H_

#include <string>
#include <vector>

namespace voltcheck::cuda {

/// The names of the machine's GPUs by their numbers, as far as CUDA_VISIBLE_DEVICES shows them.
/// Starts the driver in this process, so a process that still makes isolated devices asks in a
/// child. Throws Error (status 3) when there is no driver or it does not start.
std::vector<std::string> GpuNames(const std::string& library = "libcuda.so.1");

}  // namespace voltcheck::cuda

#endif  // VOLTCHECK_KERNELS_CUDA_GPU_NAMES_H_
