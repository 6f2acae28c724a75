// Memory, copies and fills.
#include <cstring>

#include "kernels/runtime_shim/driver/abi.h"

using namespace voltcheck::shim;

namespace {

constexpr std::size_t kPitch = 512;

int Allocate(const char* name, std::uint64_t* address, std::size_t bytes, MemoryKind kind,
             unsigned flags = 0) {
  return Driver(name, [&](World& world) {
    Require(address != nullptr && bytes != 0);
    world.streams.RequireNoCapture();
    *address = world.memory.Allocate(bytes, kind, flags);
  });
}

CopyWork Plain(std::uint64_t to, std::uint64_t from, std::size_t bytes, Direction direction) {
  CopyWork work;
  work.to = to;
  work.from = from;
  work.width = bytes;
  work.direction = direction;
  return work;
}

/// Without a stream the call waits; with one it is queued.
int Copy(const char* name, const CopyWork& work, void* const* stream) {
  return Driver(name, [&](World& world) {
    Stream& s = world.streams.Resolve(stream == nullptr ? nullptr : *stream, false);
    world.streams.Submit(s, work);
    if (stream == nullptr) {
      world.streams.Synchronize(s);
    }
  });
}

int Fill(const char* name, std::uint64_t to, std::size_t pitch, std::uint32_t value,
         std::uint32_t element, std::size_t width, std::size_t height, void* stream) {
  return Driver(name, [&](World& world) {
    FillWork work;
    work.to = to;
    work.pitch = pitch;
    work.value = value;
    work.element = element;
    work.width = width;
    work.height = height;
    world.streams.Submit(world.streams.Resolve(stream, false), work);
  });
}

std::uint64_t Address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

}  // namespace

extern "C" {

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return Driver(__func__, [&](World& world) {
    *free = world.memory.free_bytes();
    *total = world.machine.settings().memory;
  });
}

int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  return Allocate(__func__, address, bytes, MemoryKind::kDevice);
}
int cuMemAllocManaged(std::uint64_t* address, std::size_t bytes, unsigned flags) {
  return Allocate(__func__, address, bytes, MemoryKind::kManaged, flags);
}
int cuMemAllocHost_v2(void** pointer, std::size_t bytes) {
  return Allocate(__func__, reinterpret_cast<std::uint64_t*>(pointer), bytes, MemoryKind::kHost);
}
int cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return Allocate(__func__, reinterpret_cast<std::uint64_t*>(pointer), bytes, MemoryKind::kHost,
                  flags);
}

int cuMemAllocPitch_v2(std::uint64_t* address, std::size_t* pitch, std::size_t width,
                       std::size_t height, unsigned) {
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return Allocate(__func__, address, *pitch * height, MemoryKind::kDevice);
}

int cuMemFree_v2(std::uint64_t address) {
  return Driver(__func__, [&](World& world) {
    world.streams.SynchronizeAll();
    world.memory.Free(address, MemoryKind::kDevice);
  });
}

int cuMemFreeHost(void* pointer) {
  return Driver(__func__,
                [&](World& world) { world.memory.Free(Address(pointer), MemoryKind::kHost); });
}

int cuMemAllocAsync(std::uint64_t* address, std::size_t bytes, void* stream) {
  return Driver(__func__, [&](World& world) {
    world.streams.Resolve(stream, false);
    *address = world.memory.Allocate(bytes, MemoryKind::kDevice);
  });
}

int cuMemFreeAsync(std::uint64_t address, void* stream) {
  return Driver(__func__, [&](World& world) {
    Require(world.streams.Resolve(stream, false).capture == nullptr, kCaptureUnsupported);
    world.memory.Free(address, MemoryKind::kDevice);
  });
}

int cuMemHostGetDevicePointer_v2(std::uint64_t* address, void* host, unsigned) {
  return Driver(__func__, [&](World& world) {
    Require(world.memory.Find(Address(host)) != nullptr);
    *address = Address(host);
  });
}

int cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned flags) {
  return Driver(__func__, [&](World& world) { world.memory.Register(pointer, bytes, flags); });
}

int cuMemHostUnregister(void* pointer) {
  return Driver(__func__, [&](World& world) { world.memory.Unregister(pointer); });
}

int cuMemGetAddressRange_v2(std::uint64_t* base, std::size_t* bytes, std::uint64_t address) {
  return Driver(__func__, [&](World& world) {
    const MemoryBlock* block = world.memory.Find(address);
    Require(block != nullptr, kNotFound);
    if (base != nullptr) {
      *base = block->base;
    }
    if (bytes != nullptr) {
      *bytes = block->bytes;
    }
  });
}

int cuPointerGetAttribute(void* value, int attribute, std::uint64_t address) {
  return Driver(__func__, [&](World& world) {
    const MemoryBlock* block = world.memory.Find(address);
    Require(block != nullptr && value != nullptr);
    switch (attribute) {
      case 2:  // memory type: host 1, device 2
        *static_cast<unsigned*>(value) = block->kind == MemoryKind::kHost ? 1 : 2;
        break;
      case 3:  // device pointer
      case 4:  // host pointer
        Require(attribute == 3 || block->kind != MemoryKind::kDevice);
        *static_cast<std::uint64_t*>(value) = address;
        break;
      case 8:  // managed
        *static_cast<unsigned*>(value) = block->kind == MemoryKind::kManaged ? 1 : 0;
        break;
      case 9:  // device
        *static_cast<int*>(value) = 0;
        break;
      default:
        throw Refusal(kNotSupported, "an attribute that is not kept");
    }
  });
}

int cuMemcpy(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  return Copy(__func__, Plain(to, from, bytes, Direction::kDefault), nullptr);
}
int cuMemcpyAsync(std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream) {
  return Copy(__func__, Plain(to, from, bytes, Direction::kDefault), &stream);
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  return Copy(__func__, Plain(to, Address(from), bytes, Direction::kHostToDevice), nullptr);
}
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void* stream) {
  return Copy(__func__, Plain(to, Address(from), bytes, Direction::kHostToDevice), &stream);
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  return Copy(__func__, Plain(Address(to), from, bytes, Direction::kDeviceToHost), nullptr);
}
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void* stream) {
  return Copy(__func__, Plain(Address(to), from, bytes, Direction::kDeviceToHost), &stream);
}
int cuMemcpyDtoD_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  return Copy(__func__, Plain(to, from, bytes, Direction::kDeviceToDevice), nullptr);
}
int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream) {
  return Copy(__func__, Plain(to, from, bytes, Direction::kDeviceToDevice), &stream);
}

int cuMemsetD8_v2(std::uint64_t to, unsigned char value, std::size_t count) {
  return Fill(__func__, to, 0, value, 1, count, 1, nullptr);
}
int cuMemsetD16_v2(std::uint64_t to, unsigned short value, std::size_t count) {
  return Fill(__func__, to, 0, value, 2, count, 1, nullptr);
}
int cuMemsetD32_v2(std::uint64_t to, unsigned value, std::size_t count) {
  return Fill(__func__, to, 0, value, 4, count, 1, nullptr);
}
int cuMemsetD8Async(std::uint64_t to, unsigned char value, std::size_t count, void* stream) {
  return Fill(__func__, to, 0, value, 1, count, 1, stream);
}
int cuMemsetD16Async(std::uint64_t to, unsigned short value, std::size_t count, void* stream) {
  return Fill(__func__, to, 0, value, 2, count, 1, stream);
}
int cuMemsetD32Async(std::uint64_t to, unsigned value, std::size_t count, void* stream) {
  return Fill(__func__, to, 0, value, 4, count, 1, stream);
}
int cuMemsetD2D8_v2(std::uint64_t to, std::size_t pitch, unsigned char value, std::size_t width,
                    std::size_t height) {
  return Fill(__func__, to, pitch, value, 1, width, height, nullptr);
}
int cuMemsetD2D32_v2(std::uint64_t to, std::size_t pitch, unsigned value, std::size_t width,
                     std::size_t height) {
  return Fill(__func__, to, pitch, value, 4, width, height, nullptr);
}

}  // extern "C"
