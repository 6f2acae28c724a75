#ifndef VOLTCHECK_KERNELS_CUDA_CUDA_DEVICE_H_
#define VOLTCHECK_KERNELS_CUDA_CUDA_DEVICE_H_

#include <memory>

#include "kernels/device.h"

namespace voltcheck::cuda {

/// GPU number `ordinal` through the driver API, which is opened at run time. Throws Error (status
/// 3, one sentence) when there is no driver or no such GPU. SM70 loads the cubin, newer chips
/// compile the PTX.
std::unique_ptr<kernels::Device> MakeCudaDevice(int ordinal);

}  // namespace voltcheck::cuda

#endif  // VOLTCHECK_KERNELS_CUDA_CUDA_DEVICE_H_
