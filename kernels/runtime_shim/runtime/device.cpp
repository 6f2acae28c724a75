// The device, its limits, versions, errors, the profiler.
#include <cstring>

#include "kernels/runtime_shim/core/device_info.h"
#include "kernels/runtime_shim/runtime/abi.h"

using namespace voltcheck::shim;

namespace {

constexpr int kVersion = VOLTCHECK_CUDART >= 12 ? 12000 : 11080;
constexpr const char* kUnknown = "unrecognized error code";
/// Stack, printf, heap, synchronisation depth, pending launches, L2 granularity, persisting L2.
std::size_t limits[] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
unsigned device_flags = 0;
int cache_config = 0;
int bank_config = 1;

void RequireDevice(int device) { Require(device == 0, kInvalidDevice); }

}  // namespace

extern "C" {

int cudaGetDeviceCount(int* count) {
  return CallAlways(__func__, [&](World&) { *count = 1; });
}

int cudaGetDevice(int* device) {
  return CallAlways(__func__, [&](World&) { *device = 0; });
}

int cudaSetDevice(int device) {
  return Call(__func__, [&](World&) { RequireDevice(device); });
}

int cudaInitDevice(int device, unsigned, unsigned) {
  return Call(__func__, [&](World&) { RequireDevice(device); });
}

int cudaSetValidDevices(int* devices, int count) {
  return Call(__func__, [&](World&) {
    for (int i = 0; i < count; ++i) {
      RequireDevice(devices[i]);
    }
  });
}

int cudaChooseDevice(int* device, const void*) {
  return Call(__func__, [&](World&) { *device = 0; });
}

int cudaGetDeviceProperties(DeviceProperties11* properties, int device) {
  return Call(__func__, [&](World& world) {
    RequireDevice(device);
    FillProperties(world.machine.settings(), *properties);
  });
}

int cudaGetDeviceProperties_v2(DeviceProperties12* properties, int device) {
  return Call("cudaGetDeviceProperties", [&](World& world) {
    RequireDevice(device);
    FillProperties(world.machine.settings(), *properties);
  });
}

int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return Call(__func__, [&](World& world) {
    RequireDevice(device);
    Require(DeviceAttribute(attribute, world.machine.settings(), *value));
  });
}

int cudaDeviceGetByPCIBusId(int* device, const char*) {
  return Call(__func__, [&](World&) { *device = 0; });
}

int cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  return Call(__func__, [&](World&) {
    RequireDevice(device);
    Require(bytes >= 13);
    std::strcpy(text, "0000:00:00.0");
  });
}

int cudaDeviceSynchronize() {
  return Call(__func__, [](World& world) { world.streams.SynchronizeAll(); });
}
int cudaThreadSynchronize() { return cudaDeviceSynchronize(); }

int cudaDeviceReset() {
  const int status = CallAlways(__func__, [](World& world) { world.Reset(); });
  TakeLastError();
  return status;
}
int cudaThreadExit() { return cudaDeviceReset(); }

int cudaDeviceGetLimit(std::size_t* value, int limit) {
  return Call(__func__, [&](World&) {
    Require(limit >= 0 && limit < 7, kUnsupportedLimit);
    *value = limits[limit];
  });
}

int cudaDeviceSetLimit(int limit, std::size_t value) {
  return Call(__func__, [&](World&) {
    Require(limit >= 0 && limit < 6, kUnsupportedLimit);
    limits[limit] = value;
  });
}
int cudaThreadGetLimit(std::size_t* value, int limit) { return cudaDeviceGetLimit(value, limit); }
int cudaThreadSetLimit(int limit, std::size_t value) { return cudaDeviceSetLimit(limit, value); }

int cudaDeviceGetCacheConfig(int* config) {
  return Call(__func__, [&](World&) { *config = cache_config; });
}
int cudaDeviceSetCacheConfig(int config) {
  return Call(__func__, [&](World&) { cache_config = config; });
}
int cudaThreadGetCacheConfig(int* config) { return cudaDeviceGetCacheConfig(config); }
int cudaThreadSetCacheConfig(int config) { return cudaDeviceSetCacheConfig(config); }

int cudaDeviceGetSharedMemConfig(int* config) {
  return Call(__func__, [&](World&) { *config = bank_config; });
}
int cudaDeviceSetSharedMemConfig(int config) {
  return Call(__func__, [&](World&) { bank_config = config == 0 ? 1 : config; });
}

int cudaGetDeviceFlags(unsigned* flags) {
  return Call(__func__, [&](World&) { *flags = device_flags | 8; });  // maps host memory
}
int cudaSetDeviceFlags(unsigned flags) {
  return Call(__func__, [&](World&) { device_flags = flags; });
}

int cudaCtxResetPersistingL2Cache() {
  return Call(__func__, [](World&) {});
}

// There is one device, so nobody has a peer.
int cudaDeviceCanAccessPeer(int* can, int, int) {
  return Call(__func__, [&](World&) { *can = 0; });
}
int cudaDeviceEnablePeerAccess(int, unsigned) {
  return Call(__func__, [](World&) { throw Refusal(kInvalidDevice, "there is one device"); });
}
int cudaDeviceDisablePeerAccess(int) {
  return Call(__func__, [](World&) { throw Refusal(kPeerNotEnabled); });
}
int cudaDeviceGetP2PAttribute(int*, int, int, int) {
  return Call(__func__, [](World&) { throw Refusal(kInvalidDevice, "there is one device"); });
}

int cudaDriverGetVersion(int* version) {
  return CallAlways(__func__, [&](World&) { *version = kDriverVersion; });
}
int cudaRuntimeGetVersion(int* version) {
  return CallAlways(__func__, [&](World&) { *version = kVersion; });
}

int cudaGetLastError() { return TakeLastError(); }
int cudaPeekAtLastError() { return PeekLastError(); }
const char* cudaGetErrorName(int status) {
  const char* name = RuntimeName(status);
  return name == nullptr ? kUnknown : name;
}
const char* cudaGetErrorString(int status) {
  const char* text = Text(status);
  return text == nullptr ? kUnknown : text;
}

int cudaProfilerStart() {
  return Call(__func__, [](World&) {});
}
int cudaProfilerStop() {
  return Call(__func__, [](World&) {});
}
int cudaProfilerInitialize(const char*, const char*, int) {
  return Call(__func__, [](World&) {});
}

int cudaSetDoubleForDevice(double*) { return kSuccess; }
int cudaSetDoubleForHost(double*) { return kSuccess; }

}  // extern "C"
