// Initialisation, the device, contexts, errors, entry points by name.
#include <dlfcn.h>

#include <cstring>
#include <vector>

#include "kernels/runtime_shim/core/device_info.h"
#include "kernels/runtime_shim/driver/abi.h"

using namespace voltcheck::shim;

namespace {

bool initialised = false;
int retained = 0;  ///< of the primary context, by everybody
thread_local std::vector<void*> current;

/// The one context's handle.
void* Context() {
  static int context;
  return &context;
}

void RequireDevice(int device) {
  RequireInitialised();
  Require(device == 0, kInvalidDevice);
}

}  // namespace

namespace voltcheck::shim {

void Initialise() { initialised = true; }
void RequireInitialised() { Require(initialised, kNotInitialized); }
void RequireContext() {
  RequireInitialised();
  Require(!current.empty() && current.back() != nullptr, kInvalidContext, "no current context");
}

}  // namespace voltcheck::shim

extern "C" {

int cuInit(unsigned flags) {
  return DriverAlways(__func__, [&](World&) {
    Require(flags == 0);
    Initialise();
  });
}

int cuDriverGetVersion(int* version) {
  return DriverAlways(__func__, [&](World&) { *version = kDriverVersion; });
}

int cuDeviceGet(int* device, int ordinal) {
  return DriverAlways(__func__, [&](World&) {
    RequireDevice(ordinal);
    *device = ordinal;
  });
}

int cuDeviceGetCount(int* count) {
  return DriverAlways(__func__, [&](World&) {
    RequireInitialised();
    *count = 1;
  });
}

int cuDeviceGetName(char* name, int bytes, int device) {
  return DriverAlways(__func__, [&](World&) {
    RequireDevice(device);
    Require(name != nullptr && bytes > 0);
    std::strncpy(name, kDeviceName, static_cast<std::size_t>(bytes));
    name[bytes - 1] = 0;
  });
}

int cuDeviceGetUuid(void* uuid, int device) {
  return DriverAlways(__func__, [&](World& world) {
    RequireDevice(device);
    DeviceProperties11 properties;
    FillProperties(world.machine.settings(), properties);
    std::memcpy(uuid, properties.uuid, sizeof(properties.uuid));
  });
}
int cuDeviceGetUuid_v2(void* uuid, int device) { return cuDeviceGetUuid(uuid, device); }

int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return DriverAlways(__func__, [&](World& world) {
    RequireDevice(device);
    *bytes = world.machine.settings().memory;
  });
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return DriverAlways(__func__, [&](World& world) {
    RequireDevice(device);
    Require(DeviceAttribute(attribute, world.machine.settings(), *value));
  });
}

int cuDeviceComputeCapability(int* major, int* minor, int device) {
  return DriverAlways(__func__, [&](World&) {
    RequireDevice(device);
    *major = 7;
    *minor = 0;
  });
}

int cuDeviceCanAccessPeer(int* can, int, int) {
  return DriverAlways(__func__, [&](World&) { *can = 0; });
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  return DriverAlways(__func__, [&](World&) {
    RequireDevice(device);
    ++retained;
    *context = Context();
  });
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  return DriverAlways(__func__, [&](World&) {
    RequireDevice(device);
    Require(retained > 0, kInvalidContext);
    --retained;
  });
}

int cuDevicePrimaryCtxReset_v2(int device) {
  return DriverAlways(__func__, [&](World& world) {
    RequireDevice(device);
    world.Reset();
  });
}

int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned) {
  return DriverAlways(__func__, [&](World&) { RequireDevice(device); });
}

int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return DriverAlways(__func__, [&](World&) {
    RequireDevice(device);
    *flags = 0;
    *active = retained > 0 ? 1 : 0;
  });
}

int cuCtxCreate_v2(void** context, unsigned, int device) {
  return DriverAlways(__func__, [&](World&) {
    RequireDevice(device);
    *context = Context();
    current.push_back(Context());
  });
}

int cuCtxDestroy_v2(void* context) {
  return DriverAlways(__func__, [&](World&) {
    Require(context == Context(), kInvalidContext);
    if (!current.empty()) {
      current.pop_back();
    }
  });
}

int cuCtxPushCurrent_v2(void* context) {
  return DriverAlways(__func__, [&](World&) { current.push_back(context); });
}

int cuCtxPopCurrent_v2(void** context) {
  return DriverAlways(__func__, [&](World&) {
    Require(!current.empty(), kInvalidContext);
    if (context != nullptr) {
      *context = current.back();
    }
    current.pop_back();
  });
}

int cuCtxSetCurrent(void* context) {
  return DriverAlways(__func__, [&](World&) {
    RequireInitialised();
    if (!current.empty()) {
      current.pop_back();
    }
    if (context != nullptr) {
      current.push_back(context);
    }
  });
}

int cuCtxGetCurrent(void** context) {
  return DriverAlways(__func__, [&](World&) {
    RequireInitialised();
    *context = current.empty() ? nullptr : current.back();
  });
}

int cuCtxGetDevice(int* device) {
  return Driver(__func__, [&](World&) { *device = 0; });
}

int cuCtxGetFlags(unsigned* flags) {
  return Driver(__func__, [&](World&) { *flags = 0; });
}

int cuCtxGetApiVersion(void*, unsigned* version) {
  return DriverAlways(__func__, [&](World&) { *version = 3020; });
}

int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return Driver(__func__, [&](World&) {
    *least = 0;
    *greatest = -5;
  });
}

int cuCtxSynchronize() {
  return Driver(__func__, [](World& world) {
    world.streams.SynchronizeAll();
    Require(world.machine.fault() == kSuccess, world.machine.fault());
  });
}

int cuGetErrorString(int status, const char** text) {
  *text = Text(status);
  return *text == nullptr ? kInvalidValue : kSuccess;
}

int cuGetErrorName(int status, const char** name) {
  *name = DriverName(status);
  return *name == nullptr ? kInvalidValue : kSuccess;
}

int cuProfilerStart() { return kSuccess; }
int cuProfilerStop() { return kSuccess; }

/// By its plain name a function is given in its newest form: NAME_v3, NAME_v2, or NAME.
int cuGetProcAddress(const char* symbol, void** function, int, std::uint64_t) {
  Dl_info info;
  if (symbol == nullptr || function == nullptr ||
      dladdr(reinterpret_cast<void*>(&cuInit), &info) == 0) {
    return kInvalidValue;
  }
  void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  *function = nullptr;
  for (const char* suffix : {"_v3", "_v2", ""}) {
    const std::string name = std::string(symbol) + suffix;
    if (library != nullptr && *function == nullptr) {
      *function = dlsym(library, name.c_str());
    }
  }
  return *function == nullptr ? kNotFound : kSuccess;
}

/// The form of CUDA 12, which says why there is none.
int cuGetProcAddress_v2(const char* symbol, void** function, int version, std::uint64_t flags,
                        int* found) {
  const bool own = symbol != nullptr && std::strcmp(symbol, "cuGetProcAddress") == 0;
  const int status = cuGetProcAddress(symbol, function, version, flags);
  if (own && function != nullptr) {
    *function = reinterpret_cast<void*>(&cuGetProcAddress_v2);
  }
  if (found != nullptr) {
    *found = status == kSuccess ? 0 : 1;
  }
  return status;
}

}  // extern "C"
