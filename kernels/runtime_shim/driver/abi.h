#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_DRIVER_ABI_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_DRIVER_ABI_H_

// How the functions of the driver's stand-in are written: CUdevice is an int, CUdeviceptr 64 bits,
// every handle a pointer. There is one context, which is the primary one; creating another gives
// the same.

#include <cstddef>
#include <cstdint>

#include "kernels/runtime_shim/core/world.h"

namespace voltcheck::shim {

/// After cuInit. Throws Refusal (kNotInitialized) before.
void RequireInitialised();
void Initialise();
/// A context is current in the calling thread. Throws Refusal (kInvalidContext) otherwise.
void RequireContext();

template <typename Body>
int Driver(const char* function, const Body& body) {
  return CallWith(function, CallKind::kPlain, false, [&](World& world) {
    RequireContext();
    body(world);
  });
}
/// Without a context, and after a fault.
template <typename Body>
int DriverAlways(const char* function, const Body& body) {
  return CallWith(function, CallKind::kFaultless, false, body);
}

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_DRIVER_ABI_H_
