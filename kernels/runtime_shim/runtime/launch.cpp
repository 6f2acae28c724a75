// Launches, attributes of kernels, occupancy.
#include <algorithm>
#include <cstring>

#include "kernels/runtime_shim/core/occupancy.h"
#include "kernels/runtime_shim/runtime/abi.h"

using namespace voltcheck::shim;

namespace {

/// cudaFuncAttributes; the fields behind the carveout are of CUDA 12.
struct FunctionAttributes {
  std::size_t shared, constant, local;
  int threads, registers, ptx, binary, cache, most_dynamic, carveout;
#if VOLTCHECK_CUDART >= 12
  int cluster[6];
  int reserved[16];
#endif
};

enum { kMostDynamicShared = 8, kCarveout = 9 };
constexpr int kCooperative = 2;  // cudaLaunchAttributeCooperative

int MostThreads(Function& function) {
  int threads = 1024;
  if (const int registers = Registers(function)) {
    while (threads > 32 &&
           BlocksPerMultiprocessor(static_cast<std::uint32_t>(threads), registers, 0) == 0) {
      threads -= 32;
    }
  }
  const auto bound = static_cast<int>(function.needs.max_threads);
  return bound != 0 ? std::min(bound, threads) : threads;
}

int Blocks(Function& function, int threads, std::size_t dynamic_shared) {
  Require(threads > 0 && threads <= 1024);
  const std::uint64_t shared = function.needs.static_shared_bytes + dynamic_shared;
  if (threads > MostThreads(function) || dynamic_shared > function.most_dynamic_shared) {
    return 0;
  }
  return BlocksPerMultiprocessor(static_cast<std::uint32_t>(threads), Registers(function), shared);
}

void Launch(World& world, const void* symbol, Dim grid, Dim block, void** arguments,
            std::size_t shared, void* stream, bool own, bool cooperative) {
  Function& function = world.registry.FindFunction(symbol);
  KernelWork work =
      MakeKernelWork(function, symbol, grid, block, shared, arguments, nullptr, cooperative);
  world.machine.Check(work);
  if (cooperative) {
    const int fit = Blocks(function, static_cast<int>(work.block.count()), shared);
    Require(work.grid.count() <=
                static_cast<std::uint64_t>(fit) *
                    static_cast<std::uint64_t>(world.machine.settings().multiprocessors),
            kCooperativeTooLarge, "the blocks of a cooperative launch do not all fit at once");
  }
  world.streams.Submit(world.streams.Resolve(stream, own), std::move(work));
}

}  // namespace

VOLTCHECK_BOTH(cudaLaunchKernel, _ptsz,
               (const void* symbol, Dim grid, Dim block, void** arguments, std::size_t shared,
                void* stream),
               (symbol, grid, block, arguments, shared, stream)) {
  return Call("cudaLaunchKernel", [&](World& world) {
    Launch(world, symbol, grid, block, arguments, shared, stream, own, false);
  });
}

VOLTCHECK_BOTH(cudaLaunchCooperativeKernel, _ptsz,
               (const void* symbol, Dim grid, Dim block, void** arguments, std::size_t shared,
                void* stream),
               (symbol, grid, block, arguments, shared, stream)) {
  return Call("cudaLaunchCooperativeKernel", [&](World& world) {
    Launch(world, symbol, grid, block, arguments, shared, stream, own, true);
  });
}

VOLTCHECK_BOTH(cudaLaunchKernelExC, _ptsz,
               (const LaunchConfig* config, const void* symbol, void** arguments),
               (config, symbol, arguments)) {
  return Call("cudaLaunchKernelExC", [&](World& world) {
    Require(config != nullptr);
    bool cooperative = false;
    for (unsigned i = 0; i < config->count; ++i) {
      cooperative |=
          config->attributes[i].id == kCooperative && config->attributes[i].value.number != 0;
    }
    Launch(world, symbol, config->grid, config->block, arguments, config->shared, config->stream,
           own, cooperative);
  });
}

extern "C" {

int cudaFuncGetAttributes(FunctionAttributes* attributes, const void* symbol) {
  return Call(__func__, [&](World& world) {
    Require(attributes != nullptr);
    Function& function = world.registry.FindFunction(symbol);
    std::memset(attributes, 0, sizeof(*attributes));
    attributes->shared = function.needs.static_shared_bytes;
    attributes->local = function.needs.local_bytes;
    attributes->threads = MostThreads(function);
    attributes->registers = Registers(function);
    attributes->ptx = 70;
    attributes->binary = 70;
    attributes->most_dynamic = static_cast<int>(function.most_dynamic_shared);
    attributes->carveout = function.carveout;
  });
}

int cudaFuncSetAttribute(const void* symbol, int attribute, int value) {
  return Call(__func__, [&](World& world) {
    Function& function = world.registry.FindFunction(symbol);
    if (attribute == kMostDynamicShared) {
      Require(
          value >= 0 &&
              static_cast<std::uint64_t>(value) + function.needs.static_shared_bytes <= kSharedMost,
          kInvalidValue, "a block has at most 96 KB of shared memory");
      function.most_dynamic_shared = static_cast<std::uint32_t>(value);
    } else {
      Require(attribute == kCarveout && value >= -1 && value <= 100);
      function.carveout = value;
    }
  });
}

int cudaFuncSetCacheConfig(const void* symbol, int) {
  return Call(__func__, [&](World& world) { world.registry.FindFunction(symbol); });
}

int cudaFuncSetSharedMemConfig(const void* symbol, int) {
  return Call(__func__, [&](World& world) { world.registry.FindFunction(symbol); });
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* symbol, int threads,
                                                  std::size_t dynamic_shared) {
  return Call(__func__, [&](World& world) {
    Require(blocks != nullptr);
    *blocks = Blocks(world.registry.FindFunction(symbol), threads, dynamic_shared);
  });
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* symbol,
                                                           int threads, std::size_t dynamic_shared,
                                                           unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, symbol, threads, dynamic_shared);
}

int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* symbol, int blocks,
                                              int threads) {
  return Call(__func__, [&](World& world) {
    Require(bytes != nullptr && threads > 0);
    Function& function = world.registry.FindFunction(symbol);
    Registers(function);
    *bytes = SharedForBlocks(blocks, static_cast<std::uint32_t>(threads), function);
  });
}

/// A driver's handle for the kernel, for programs that go on with cuLaunchKernel.
int cudaGetFuncBySymbol(void** function, const void* symbol) {
  return Call(__func__, [&](World& world) { *function = &world.registry.FindFunction(symbol); });
}

}  // extern "C"
