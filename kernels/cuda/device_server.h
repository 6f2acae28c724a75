#ifndef VOLTCHECK_KERNELS_CUDA_DEVICE_SERVER_H_
#define VOLTCHECK_KERNELS_CUDA_DEVICE_SERVER_H_

#include <functional>
#include <memory>

#include "kernels/device.h"

namespace voltcheck::cuda {

using DeviceMaker = std::function<std::unique_ptr<kernels::Device>()>;

/// Makes a device and answers calls from `socket` on it until the other side closes. An Error,
/// also one of the making, travels back as the answer of a call; whether the device has faulted
/// travels with every answer.
void ServeDevice(int socket, const DeviceMaker& make);

}  // namespace voltcheck::cuda

#endif  // VOLTCHECK_KERNELS_CUDA_DEVICE_SERVER_H_
