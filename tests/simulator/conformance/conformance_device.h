#ifndef VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_CONFORMANCE_DEVICE_H_
#define VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_CONFORMANCE_DEVICE_H_

#include <memory>
#include <string>
#include <string_view>

#include "kernels/device.h"

namespace voltcheck::conformance {

/// Devices to run the suite on: one GPU for all instructions, or a simulator for each, in the
/// numerics mode in which the instruction can be compared with the GPU that the project measured
/// (wmma in `sm90`, everything else in `sm80-software`).
class DeviceSource {
 public:
  /// `kind` is "cuda" or "simulator"; throws Error (status 2) for others.
  explicit DeviceSource(std::string kind);
  kernels::Device& Get(std::string_view instruction);

 private:
  std::string kind_;
  std::unique_ptr<kernels::Device> device_;
};

}  // namespace voltcheck::conformance

#endif  // VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_CONFORMANCE_DEVICE_H_
