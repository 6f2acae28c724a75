#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_DEVICE_OUTPUT_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_DEVICE_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/simulator/simulator.h"

namespace voltcheck::shim {

/// What kernels printed, as text for the two streams.
struct DeviceOutput {
  std::string printed;  ///< printf: standard output
  std::string failed;   ///< assert: standard error
};

/// Formats the records of device/support.cu. A record or conversion that makes no sense ends or
/// leaves out what it would have printed.
DeviceOutput FormatRecords(std::span<const std::byte> records);

/// What the kernels of a module with support (ptx_support.h) printed since the last call; nothing
/// when it prints nothing.
DeviceOutput TakeOutput(simulator::SimulatorDevice& device, std::uint32_t module);

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_DEVICE_OUTPUT_H_
