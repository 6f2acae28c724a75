// Memory of every kind, and what is known about a pointer.
#include "kernels/runtime_shim/runtime/abi.h"

using namespace voltcheck::shim;

namespace {

constexpr std::size_t kPitch = 512;  // what a V100 rounds rows to
constexpr int kCpu = -1;             // cudaCpuDeviceId

struct PointerAttributes {  // cudaPointerAttributes
  int type, device;
  void* device_pointer;
  void* host_pointer;
};

void* Pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

int Allocate(const char* name, void** pointer, std::size_t bytes, MemoryKind kind,
             unsigned flags = 0) {
  return Call(name, [&](World& world) {
    Require(pointer != nullptr);
    world.streams.RequireNoCapture();
    *pointer = Pointer(world.memory.Allocate(bytes, kind, flags));
  });
}

int Free(const char* name, void* pointer, MemoryKind kind) {
  return Call(name, [&](World& world) {
    world.streams.SynchronizeAll();  // freeing waits, as in CUDA
    world.memory.Free(Address(pointer), kind);
  });
}

Pitched MallocPitched(World& world, std::size_t width, std::size_t height, std::size_t depth) {
  world.streams.RequireNoCapture();
  const std::size_t pitch = (width + kPitch - 1) / kPitch * kPitch;
  return {Pointer(world.memory.Allocate(pitch * height * depth, MemoryKind::kDevice)), pitch, width,
          height};
}

}  // namespace

extern "C" {

int cudaMalloc(void** pointer, std::size_t bytes) {
  return Allocate(__func__, pointer, bytes, MemoryKind::kDevice);
}

int cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  return Call(__func__, [&](World& world) {
    Require(pointer != nullptr && bytes != 0 && (flags == 1 || flags == 2));
    world.streams.RequireNoCapture();
    *pointer = Pointer(world.memory.Allocate(bytes, MemoryKind::kManaged, flags));
  });
}

int cudaMallocHost(void** pointer, std::size_t bytes) {
  return Allocate(__func__, pointer, bytes, MemoryKind::kHost);
}

int cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return Allocate(__func__, pointer, bytes, MemoryKind::kHost, flags);
}

int cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  return Call(__func__, [&](World& world) {
    Require(pointer != nullptr && pitch != nullptr);
    const Pitched p = MallocPitched(world, width, height, 1);
    *pointer = p.pointer;
    *pitch = p.pitch;
  });
}

int cudaMalloc3D(Pitched* pitched, Extent extent) {
  return Call(__func__, [&](World& world) {
    Require(pitched != nullptr);
    *pitched = MallocPitched(world, extent.width, extent.height, extent.depth);
  });
}

int cudaFree(void* pointer) { return Free(__func__, pointer, MemoryKind::kDevice); }
int cudaFreeHost(void* pointer) { return Free(__func__, pointer, MemoryKind::kHost); }

int cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return Call(__func__, [&](World& world) { world.memory.Register(pointer, bytes, flags); });
}

int cudaHostUnregister(void* pointer) {
  return Call(__func__, [&](World& world) { world.memory.Unregister(pointer); });
}

int cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return Call(__func__, [&](World& world) {
    Require(world.memory.Find(Address(host)) != nullptr);
    *device = host;
  });
}

int cudaHostGetFlags(unsigned* flags, void* host) {
  return Call(__func__, [&](World& world) {
    const MemoryBlock* block = world.memory.Find(Address(host));
    Require(block != nullptr && block->kind == MemoryKind::kHost);
    *flags = block->flags | 2;  // unified addresses: always mapped
  });
}

int cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  return Call(__func__, [&](World& world) {
    Require(attributes != nullptr);
    const MemoryBlock* block = world.memory.Find(Address(pointer));
    const bool variable = block == nullptr && pointer != nullptr &&
                          world.machine.device().Extent(Address(pointer)).bytes != 0;
    *attributes = {};
    attributes->device = block == nullptr && !variable ? -2 : 0;
    if (block != nullptr || variable) {
      const MemoryKind kind = variable ? MemoryKind::kDevice : block->kind;
      attributes->type = static_cast<int>(kind);
      attributes->device_pointer = const_cast<void*>(pointer);
      attributes->host_pointer = kind == MemoryKind::kDevice ? nullptr : const_cast<void*>(pointer);
    } else {
      attributes->host_pointer = const_cast<void*>(pointer);
    }
  });
}

int cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return Call(__func__, [&](World& world) {
    *free = world.memory.free_bytes();
    *total = world.machine.settings().memory;
  });
}

int cudaMemAdvise(const void* pointer, std::size_t, int, int) {
  return Call(__func__,
              [&](World& world) { Require(world.memory.Find(Address(pointer)) != nullptr); });
}

int cudaMemRangeGetAttribute(void* data, std::size_t bytes, int, const void* pointer, std::size_t) {
  return Call(__func__, [&](World& world) {
    const MemoryBlock* block = world.memory.Find(Address(pointer));
    Require(block != nullptr && block->kind == MemoryKind::kManaged && bytes == sizeof(int));
    *static_cast<int*>(data) = 0;  // no advice is kept: it changes nothing here
  });
}

}  // extern "C"

VOLTCHECK_BOTH(cudaMemPrefetchAsync, _ptsz,
               (const void* pointer, std::size_t bytes, int device, void* stream),
               (pointer, bytes, device, stream)) {
  return Call("cudaMemPrefetchAsync", [&](World& world) {
    const MemoryBlock* block = world.memory.Find(Address(pointer));
    Require(block != nullptr && block->kind == MemoryKind::kManaged && bytes <= block->bytes);
    Require(device == 0 || device == kCpu, kInvalidDevice);
    world.streams.Resolve(stream, own);
  });
}

VOLTCHECK_BOTH(cudaStreamAttachMemAsync, _ptsz,
               (void* stream, void* pointer, std::size_t bytes, unsigned flags),
               (stream, pointer, bytes, flags)) {
  return Call("cudaStreamAttachMemAsync", [&](World& world) {
    Require(flags == 1 || flags == 2 || flags == 4);
    Require(world.memory.Find(Address(pointer)) != nullptr && bytes <= std::size_t{1} << 40);
    world.streams.Resolve(stream, own);
  });
}
