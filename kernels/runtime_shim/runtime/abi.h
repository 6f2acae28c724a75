#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_RUNTIME_ABI_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_RUNTIME_ABI_H_

// What a program compiled by nvcc passes to libcudart, and how the functions here are written. The
// sources of this folder are compiled once for each library: VOLTCHECK_CUDART is 11 or 12, the
// release whose layouts and signatures hold.

#include <cstddef>
#include <cstdint>

#include "kernels/runtime_shim/core/kernel_arguments.h"
#include "kernels/runtime_shim/core/world.h"

namespace voltcheck::shim {

struct Pitched {  // cudaPitchedPtr
  void* pointer;
  std::size_t pitch, width, height;
};
struct Position {
  std::size_t x, y, z;
};
struct Extent {
  std::size_t width, height, depth;
};
struct Copy3D {  // cudaMemcpy3DParms
  void* from_array;
  Position from_position;
  Pitched from;
  void* to_array;
  Position to_position;
  Pitched to;
  Extent extent;
  int kind;
};
struct KernelNode {  // cudaKernelNodeParams
  const void* function;
  Dim grid, block;
  unsigned shared;
  void** parameters;
  void** extra;
};
struct FillNode {  // cudaMemsetParams
  void* to;
  std::size_t pitch;
  unsigned value, element;
  std::size_t width, height;
};
struct HostNode {  // cudaHostNodeParams
  void (*function)(void*);
  void* data;
};
struct LaunchAttribute {  // cudaLaunchAttribute
  int id;
  char pad[4];
  union {
    char bytes[64];
    int number;
  } value;
};
struct LaunchConfig {  // cudaLaunchConfig_t
  Dim grid, block;
  std::size_t shared;
  void* stream;
  LaunchAttribute* attributes;
  unsigned count;
};

/// Throws Refusal for arrays.
CopyWork MakeCopy(const Copy3D& copy);
FillWork MakeFill(const FillNode& fill);
Direction ToDirection(int kind);

template <typename Body>
int Call(const char* function, const Body& body) {
  return CallWith(function, CallKind::kPlain, true, body);
}
template <typename Body>
int CallAlways(const char* function, const Body& body) {
  return CallWith(function, CallKind::kFaultless, true, body);
}

inline std::uint64_t Address(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

}  // namespace voltcheck::shim

#define VOLTCHECK_UNPACK(...) __VA_ARGS__
/// Defines NAME and NAME##SUFFIX, which nvcc calls instead under --default-stream per-thread; the
/// body sees `own`: whether null means the thread's own stream.
#define VOLTCHECK_BOTH(NAME, SUFFIX, PARAMETERS, ARGUMENTS)                                  \
  static int NAME##Either(bool own, VOLTCHECK_UNPACK PARAMETERS);                            \
  extern "C" int NAME PARAMETERS { return NAME##Either(false, VOLTCHECK_UNPACK ARGUMENTS); } \
  extern "C" int NAME##SUFFIX PARAMETERS {                                                   \
    return NAME##Either(true, VOLTCHECK_UNPACK ARGUMENTS);                                   \
  }                                                                                          \
  static int NAME##Either([[maybe_unused]] bool own, VOLTCHECK_UNPACK PARAMETERS)

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_RUNTIME_ABI_H_
