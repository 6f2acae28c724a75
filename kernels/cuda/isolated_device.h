#ifndef VOLTCHECK_KERNELS_CUDA_ISOLATED_DEVICE_H_
#define VOLTCHECK_KERNELS_CUDA_ISOLATED_DEVICE_H_

#include <functional>
#include <memory>
#include <vector>

#include "kernels/cuda/device_server.h"
#include "kernels/device.h"

namespace voltcheck::cuda {

/// A device that lives in a child process, so that a fault, which poisons a GPU's context for the
/// whole process, ends with it: the next device is a new process. A child that did not fault is
/// kept and handed to the next caller with the modules that it has loaded. A child that dies makes
/// the device faulted, with a finding that says how. `make` runs in the child; this process itself
/// must not have started the driver.
std::unique_ptr<kernels::Device> MakeIsolatedDevice(const DeviceMaker& make);

/// One of these GPUs, the one that drives fewest devices of this process at the moment, in a child
/// process: as many cases at a time as there are GPUs find one each. Throws what MakeCudaDevice
/// throws.
std::unique_ptr<kernels::Device> MakeIsolatedCudaDevice(const std::vector<int>& ordinals);

/// The same with GPUs that `make` makes, for tests.
using GpuMaker = std::function<std::unique_ptr<kernels::Device>(int ordinal)>;
std::unique_ptr<kernels::Device> MakeIsolatedGpu(const std::vector<int>& ordinals,
                                                 const GpuMaker& make);

}  // namespace voltcheck::cuda

#endif  // VOLTCHECK_KERNELS_CUDA_ISOLATED_DEVICE_H_
