#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_DEVICE_OUTPUT_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_DEVICE_OUTPUT_H_

#include <cstddef>
#include <span>
#include <string>

namespace voltcheck::shim {

/// What kernels printed, as text for the two streams.
struct DeviceOutput {
  std::string printed;  ///< printf: standard output
  std::string failed;   ///< assert: standard error
};

/// Formats the records of device/support.cu. A record or conversion that makes no sense ends or
/// leaves out what it would have printed.
DeviceOutput FormatRecords(std::span<const std::byte> records);

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_DEVICE_OUTPUT_H_
