#ifndef VOLTCHECK_VERIFY_DEVICE_OPTIONS_H_
#define VOLTCHECK_VERIFY_DEVICE_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fixtures/case/case.h"
#include "kernels/device.h"
#include "kernels/implementation.h"
#include "verify/study_hooks.h"

namespace voltcheck::verify {

/// Which device runs the kernels and which modules replace the built-in ones.
struct DeviceOptions {
  std::string kind = "simulator";  ///< or "cuda"
  std::uint64_t schedule = 0;      ///< simulator: 0 natural order, others permute it
  bool all_checks = true;          ///< simulator: every checker runs, not only bounds and barriers
  std::vector<int> gpus{0};        ///< cuda: their numbers; cases are spread over them
  int jobs = 0;  ///< threads inside one device; 0: all cores. Never changes a bit.
  std::vector<kernels::ModuleImage> overrides;  ///< from --kernels
  /// Somebody else's kernels in the place of the built-in ones; null: none.
  std::shared_ptr<const kernels::Implementation> implementation;
  /// Simulator: lane instructions a launch; 0: MakeDeviceFor takes LaunchLimit of the case.
  std::uint64_t instruction_limit = 0;
  StudyHooks hooks;

  /// All modules beside the built-in ones: for kernels::KernelSet.
  std::vector<kernels::ModuleImage> modules() const;
  /// The plan of the implementation, or the built-in one. Throws what they throw.
  kernels::Plan MakePlan(const Problem& problem) const;
};

/// Makes the device that `options` and the case's numerics ask for. Throws Error: status 2 for an
/// unknown kind, status 3 when the device is not available.
std::unique_ptr<kernels::Device> MakeDevice(const DeviceOptions& options, Numerics numerics);

/// Lane instructions after which a launch for this case counts as a loop without an end: 2^31 and
/// 16 for each weight of the layer and each multiplication of the padded tiles, more than fifty
/// times what the built-in kernels take at the contract shape.
std::uint64_t LaunchLimit(const Case& c);

/// MakeDevice for one case: with its numerics and, unless `options` has one, its limit.
std::unique_ptr<kernels::Device> MakeDeviceFor(const DeviceOptions& options, const Case& c);

/// Reads `--kernels` files as they stand; the device parses them. Throws Error (status 2) for a
/// file that cannot be read.
std::vector<kernels::ModuleImage> ReadOverrides(const std::vector<std::string>& paths);

/// Loads the overrides on `device`, and throws Error (status 2) for one that does not load or has
/// no entry of the built-in kernels: a misspelt entry would otherwise let the built-in one pass in
/// its stead.
void CheckOverrides(kernels::Device& device, const std::vector<kernels::ModuleImage>& overrides);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_DEVICE_OPTIONS_H_
