// Allocation in stream order. Work runs when it is submitted, so memory is there at once and goes
// at once; a pool is a set of figures.
#include <algorithm>
#include <map>
#include <memory>

#include "kernels/runtime_shim/runtime/abi.h"

using namespace voltcheck::shim;

namespace {

struct Pool {
  std::uint64_t threshold = 0;
  int reuse[3] = {1, 1, 1};
  std::uint64_t used = 0;
  std::uint64_t most = 0;
};

enum { kReuseFirst = 1, kReuseLast = 3, kThreshold, kReserved, kReservedHigh, kUsed, kUsedHigh };

Pool default_pool;
Pool* current_pool = &default_pool;
std::map<Pool*, std::unique_ptr<Pool>> pools;
std::map<std::uint64_t, Pool*> owners;

Pool& Resolve(void* handle) {
  auto* pool = static_cast<Pool*>(handle);
  Require(pool == &default_pool || pools.count(pool) != 0, kInvalidValue, "no such pool");
  return *pool;
}

void AllocateFrom(World& world, Pool& pool, void** pointer, std::size_t bytes, Stream& stream) {
  Require(pointer != nullptr);
  const std::uint64_t address = world.memory.Allocate(bytes, MemoryKind::kDevice);
  *pointer = reinterpret_cast<void*>(address);
  if (address != 0) {
    owners[address] = &pool;
    pool.used += bytes;
    pool.most = std::max(pool.most, pool.used);
  }
  if (stream.capture != nullptr) {
    world.streams.Submit(stream, AllocateWork{address, bytes});
  }
}

}  // namespace

VOLTCHECK_BOTH(cudaMallocAsync, _ptsz, (void** pointer, std::size_t bytes, void* stream),
               (pointer, bytes, stream)) {
  return Call("cudaMallocAsync", [&](World& world) {
    AllocateFrom(world, *current_pool, pointer, bytes, world.streams.Resolve(stream, own));
  });
}

VOLTCHECK_BOTH(cudaMallocFromPoolAsync, _ptsz,
               (void** pointer, std::size_t bytes, void* pool, void* stream),
               (pointer, bytes, pool, stream)) {
  return Call("cudaMallocFromPoolAsync", [&](World& world) {
    AllocateFrom(world, Resolve(pool), pointer, bytes, world.streams.Resolve(stream, own));
  });
}

VOLTCHECK_BOTH(cudaFreeAsync, _ptsz, (void* pointer, void* stream), (pointer, stream)) {
  return Call("cudaFreeAsync", [&](World& world) {
    Stream& s = world.streams.Resolve(stream, own);
    const std::uint64_t address = Address(pointer);
    Require(address != 0);
    if (s.capture != nullptr) {
      // A graph uses its memory each time it is launched, so it stays.
      world.streams.Submit(s, FreeWork{address});
      return;
    }
    const MemoryBlock* block = world.memory.Find(address);
    if (const auto owner = owners.find(address); owner != owners.end() && block != nullptr) {
      owner->second->used -= std::min(owner->second->used, block->bytes);
      owners.erase(owner);
    }
    world.memory.Free(address, MemoryKind::kDevice);
  });
}

extern "C" {

int cudaDeviceGetDefaultMemPool(void** pool, int device) {
  return Call(__func__, [&](World&) {
    Require(device == 0, kInvalidDevice);
    *pool = &default_pool;
  });
}

int cudaDeviceGetMemPool(void** pool, int device) {
  return Call(__func__, [&](World&) {
    Require(device == 0, kInvalidDevice);
    *pool = current_pool;
  });
}

int cudaDeviceSetMemPool(int device, void* pool) {
  return Call(__func__, [&](World&) {
    Require(device == 0, kInvalidDevice);
    current_pool = &Resolve(pool);
  });
}

int cudaMemPoolCreate(void** pool, const void* properties) {
  return Call(__func__, [&](World&) {
    Require(pool != nullptr && properties != nullptr);
    auto fresh = std::make_unique<Pool>();
    Pool* handle = fresh.get();
    pools[handle] = std::move(fresh);
    *pool = handle;
  });
}

int cudaMemPoolDestroy(void* pool) {
  return Call(__func__, [&](World&) {
    Pool& resolved = Resolve(pool);
    Require(&resolved != &default_pool);
    std::erase_if(owners, [&](const auto& item) { return item.second == &resolved; });
    current_pool = current_pool == &resolved ? &default_pool : current_pool;
    pools.erase(&resolved);
  });
}

int cudaMemPoolTrimTo(void* pool, std::size_t) {
  return Call(__func__, [&](World&) { Resolve(pool); });
}

int cudaMemPoolSetAttribute(void* pool, int attribute, void* value) {
  return Call(__func__, [&](World&) {
    Pool& p = Resolve(pool);
    if (attribute >= kReuseFirst && attribute <= kReuseLast) {
      p.reuse[attribute - kReuseFirst] = *static_cast<int*>(value);
    } else if (attribute == kThreshold) {
      p.threshold = *static_cast<std::uint64_t*>(value);
    } else {
      Require((attribute == kReservedHigh || attribute == kUsedHigh) &&
              *static_cast<std::uint64_t*>(value) == 0);
      p.most = p.used;
    }
  });
}

int cudaMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return Call(__func__, [&](World&) {
    const Pool& p = Resolve(pool);
    Require(attribute >= kReuseFirst && attribute <= kUsedHigh);
    if (attribute <= kReuseLast) {
      *static_cast<int*>(value) = p.reuse[attribute - kReuseFirst];
    } else {
      *static_cast<std::uint64_t*>(value) = attribute == kThreshold ? p.threshold
                                            : attribute == kReserved || attribute == kUsed ? p.used
                                                                                           : p.most;
    }
  });
}

int cudaMemPoolSetAccess(void* pool, const void*, std::size_t) {
  return Call(__func__, [&](World&) { Resolve(pool); });
}

int cudaMemPoolGetAccess(int* flags, void* pool, void*) {
  return Call(__func__, [&](World&) {
    Resolve(pool);
    *flags = 3;  // cudaMemAccessFlagsProtReadWrite
  });
}

}  // extern "C"
