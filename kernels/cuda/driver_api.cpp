#include "kernels/cuda/driver_api.h"

#include <dlfcn.h>

#include "fixtures/case/error.h"

namespace voltcheck::cuda {
namespace {

template <typename Function>
void Find(void* library, const std::string& path, const char* name, Function*& slot) {
  slot = reinterpret_cast<Function*>(dlsym(library, name));
  if (slot == nullptr) {
    throw Error(ExitStatus::kUnavailable,
                path + ": the NVIDIA driver has no " + name +
                    "; install a driver for CUDA 11.8 or newer, or use --device simulator");
  }
}

}  // namespace

DriverApi LoadDriverApi(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(
        ExitStatus::kUnavailable,
        path +
            ": there is no NVIDIA driver on this machine; install one, or use --device simulator");
  }
  DriverApi api;
  const auto find = [&](const char* name, auto& slot) { Find(library, path, name, slot); };
  find("cuInit", api.Init);
  find("cuDriverGetVersion", api.DriverGetVersion);
  find("cuGetErrorName", api.GetErrorName);
  find("cuGetErrorString", api.GetErrorString);
  find("cuDeviceGetCount", api.DeviceGetCount);
  find("cuDeviceGet", api.DeviceGet);
  find("cuDeviceGetName", api.DeviceGetName);
  find("cuDeviceGetAttribute", api.DeviceGetAttribute);
  find("cuDevicePrimaryCtxRetain", api.PrimaryContextRetain);
  find("cuDevicePrimaryCtxRelease_v2", api.PrimaryContextRelease);
  find("cuCtxSetCurrent", api.ContextSetCurrent);
  find("cuMemAlloc_v2", api.MemoryAllocate);
  find("cuMemFree_v2", api.MemoryFree);
  find("cuMemcpyHtoD_v2", api.CopyToDevice);
  find("cuMemcpyDtoH_v2", api.CopyFromDevice);
  find("cuMemsetD8_v2", api.SetBytes);
  find("cuModuleLoadDataEx", api.ModuleLoadDataEx);
  find("cuModuleUnload", api.ModuleUnload);
  find("cuModuleGetFunction", api.ModuleGetFunction);
  find("cuFuncSetAttribute", api.FunctionSetAttribute);
  find("cuLaunchKernel", api.LaunchKernel);
  find("cuStreamCreate", api.StreamCreate);
  find("cuStreamDestroy_v2", api.StreamDestroy);
  find("cuStreamSynchronize", api.StreamSynchronize);
  find("cuStreamBeginCapture_v2", api.StreamBeginCapture);
  find("cuStreamEndCapture", api.StreamEndCapture);
  find("cuGraphDestroy", api.GraphDestroy);
  find("cuGraphInstantiateWithFlags", api.GraphInstantiate);
  find("cuGraphLaunch", api.GraphLaunch);
  find("cuGraphExecDestroy", api.GraphExecDestroy);
  return api;
}

}  // namespace voltcheck::cuda
