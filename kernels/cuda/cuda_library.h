#ifndef VOLTCHECK_KERNELS_CUDA_CUDA_LIBRARY_H_
#define VOLTCHECK_KERNELS_CUDA_CUDA_LIBRARY_H_

#include <memory>
#include <string>

#include "kernels/device.h"

namespace voltcheck::cuda {

/// As MakeCudaDevice, through another driver library than the system's: the tests bring a driver of
/// their own, which follows a script.
std::unique_ptr<kernels::Device> MakeCudaDeviceFrom(const std::string& library, int ordinal);

}  // namespace voltcheck::cuda

#endif  // VOLTCHECK_KERNELS_CUDA_CUDA_LIBRARY_H_
