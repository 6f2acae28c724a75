#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_HOSTED_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_HOSTED_H_

#include "kernels/simulator/simulator.h"

namespace voltcheck::shim {

/// What a process that has a device of its own lends to the stand-ins loaded into it: CUDA calls of
/// the libraries that it loads land on that device. The functions take what would else go to the
/// findings file.
struct Host {
  simulator::SimulatorDevice* device = nullptr;
  void* context = nullptr;  ///< first argument of the functions
  void (*finding)(void* context, const kernels::Finding& finding) = nullptr;
  void (*refusal)(void* context, const char* line) = nullptr;
  void (*counters)(void* context, const kernels::Counters& counters) = nullptr;
};

/// Name of the function of libvoltcheck_device.so that takes a host, before any CUDA call but the
/// registration of fat binaries. `host` and its device live as long as the process.
inline constexpr const char* kHostFunction = "voltcheck_shim_host";
using HostFunction = void (*)(const Host* host);

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_HOSTED_H_
