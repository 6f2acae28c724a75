// What nvcc's start-up code calls before main, and what its launch stubs call.
#include <vector>

#include "kernels/runtime_shim/runtime/abi.h"

using namespace voltcheck::shim;

namespace {

struct Configuration {
  Dim grid, block;
  std::size_t shared;
  void* stream;
};
thread_local std::vector<Configuration> configurations;

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  World& world = World::Get();
  const std::lock_guard lock(world.machine.mutex);
  return world.registry.RegisterFatBinary(wrapper);
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  CallAlways(__func__, [&](World& world) { world.registry.Unregister(handle); });
}

char __cudaInitModule(void** handle) {
  return Call(__func__, [&](World& world) { world.registry.Initialise(handle); }) == 0 ? 1 : 0;
}

void __cudaRegisterFunction(void** handle, const char* symbol, char*, const char* name, int, void*,
                            void*, void*, void*, int*) {
  CallAlways(__func__,
             [&](World& world) { world.registry.RegisterFunction(handle, symbol, name); });
}

void __cudaRegisterVar(void** handle, char* symbol, char*, const char* name, int, std::size_t, int,
                       int) {
  CallAlways(__func__,
             [&](World& world) { world.registry.RegisterVariable(handle, symbol, name); });
}

void __cudaRegisterHostVar(void** handle, const char* name, char* symbol, std::size_t) {
  CallAlways(__func__,
             [&](World& world) { world.registry.RegisterVariable(handle, symbol, name); });
}

void __cudaRegisterManagedVar(void** handle, void** pointer, char*, const char* name, int,
                              std::size_t, int, int) {
  CallAlways(__func__,
             [&](World& world) { world.registry.RegisterManaged(handle, pointer, name); });
}

unsigned __cudaPushCallConfiguration(Dim grid, Dim block, std::size_t shared, void* stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}

int __cudaPopCallConfiguration(Dim* grid, Dim* block, std::size_t* shared, void** stream) {
  return CallAlways(__func__, [&](World&) {
    Require(!configurations.empty(), kMissingConfiguration);
    const Configuration c = configurations.back();
    configurations.pop_back();
    *grid = c.grid;
    *block = c.block;
    *shared = c.shared;
    *stream = c.stream;
  });
}

/// Of CUDA 12's stubs: the symbol stands for itself as a kernel handle.
int __cudaGetKernel(void** kernel, const void* symbol) {
  *kernel = const_cast<void*>(symbol);
  return 0;
}

int __cudaLaunchKernel(const void* kernel, Dim grid, Dim block, void** arguments,
                       std::size_t shared, void* stream) {
  return Call(__func__, [&](World& world) {
    world.streams.Submit(world.streams.Resolve(stream, false),
                         MakeKernelWork(world.registry.FindFunction(kernel), kernel, grid, block,
                                        shared, arguments, nullptr, false));
  });
}

int __cudaLaunchKernel_ptsz(const void* kernel, Dim grid, Dim block, void** arguments,
                            std::size_t shared, void* stream) {
  return Call(__func__, [&](World& world) {
    world.streams.Submit(world.streams.Resolve(stream, true),
                         MakeKernelWork(world.registry.FindFunction(kernel), kernel, grid, block,
                                        shared, arguments, nullptr, false));
  });
}

}  // extern "C"
