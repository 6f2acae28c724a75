// Modules from PTX and fat binaries, functions, variables, launches, occupancy.
#include <cstring>
#include <fstream>
#include <iterator>

#include "kernels/runtime_shim/core/kernel_arguments.h"
#include "kernels/runtime_shim/core/occupancy.h"
#include "kernels/runtime_shim/driver/abi.h"

using namespace voltcheck::shim;

namespace {

/// A module is PTX text, a fat binary, or nvcc's wrapper of one.
std::vector<FatImage> ImagesOf(const void* data) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, data, sizeof(magic));
  if (magic == kFatWrapperMagic) {
    const void* inner = nullptr;
    std::memcpy(&inner, static_cast<const char*>(data) + 8, sizeof(inner));
    return ReadImages("module", inner);
  }
  if (magic == kFatMagic) {
    return ReadImages("module", data);
  }
  FatImage image;
  const char* text = static_cast<const char*>(data);
  if (std::memcmp(text, "\177ELF", 4) == 0) {
    image.kind = FatImage::Kind::kElf;  // a cubin: refused with the others that hold no PTX
    return {image};
  }
  image.kind = FatImage::Kind::kPtx;
  image.architecture = 70;
  image.bytes = text;
  return {image};
}

int Load(const char* function, void** module, const void* data, const std::string& name) {
  return Driver(function, [&](World& world) {
    Require(module != nullptr && data != nullptr);
    *module = world.machine.Load(name, ImagesOf(data));
  });
}

std::string NextName() {
  static int count = 0;
  return "module." + std::to_string(count++) + ".ptx";
}

int Launch(const char* name, void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
           unsigned by, unsigned bz, unsigned shared, void* stream, void** arguments, void** extra,
           bool cooperative) {
  return Driver(name, [&](World& world) {
    Require(function != nullptr, kInvalidHandle);
    auto& f = *static_cast<Function*>(function);
    KernelWork work = MakeKernelWork(f, function, {gx, gy, gz}, {bx, by, bz}, shared, arguments,
                                     extra, cooperative);
    // The driver's own answer to a configuration that fits no kernel.
    try {
      world.machine.Check(work);
    } catch (const Refusal& refusal) {
      throw Refusal(kInvalidValue, refusal.why());
    }
    world.streams.Submit(world.streams.Resolve(stream, false), std::move(work));
  });
}

}  // namespace

extern "C" {

int cuModuleLoadData(void** module, const void* data) {
  return Load(__func__, module, data, NextName());
}

int cuModuleLoadDataEx(void** module, const void* data, unsigned, int*, void**) {
  return Load(__func__, module, data, NextName());
}

int cuModuleLoadFatBinary(void** module, const void* data) {
  return Load(__func__, module, data, NextName());
}

int cuModuleLoad(void** module, const char* path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return Finish(__func__, kFileNotFound, path, false);
  }
  const std::string data(std::istreambuf_iterator<char>(in), {});
  const std::string name(path);
  return Load(__func__, module, data.c_str(), name.substr(name.rfind('/') + 1));
}

int cuModuleUnload(void* module) {
  return Driver(__func__,
                [&](World& world) { world.machine.Unload(static_cast<LoadedImage*>(module)); });
}

int cuModuleGetFunction(void** function, void* module, const char* name) {
  return Driver(__func__, [&](World& world) {
    Require(module != nullptr, kInvalidHandle);
    *function = world.machine.FindFunction(*static_cast<LoadedImage*>(module), name);
    Require(*function != nullptr, kNotFound, name);
  });
}

int cuModuleGetGlobal_v2(std::uint64_t* address, std::size_t* bytes, void* module,
                         const char* name) {
  return Driver(__func__, [&](World& world) {
    Require(module != nullptr, kInvalidHandle);
    const auto variable = world.machine.FindVariable(*static_cast<LoadedImage*>(module), name);
    Require(variable.has_value(), kNotFound, name);
    if (address != nullptr) {
      *address = variable->address;
    }
    if (bytes != nullptr) {
      *bytes = variable->bytes;
    }
  });
}

int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void* stream, void** arguments, void** extra) {
  return Launch(__func__, function, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra,
                false);
}

int cuLaunchCooperativeKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                              unsigned by, unsigned bz, unsigned shared, void* stream,
                              void** arguments) {
  return Launch(__func__, function, gx, gy, gz, bx, by, bz, shared, stream, arguments, nullptr,
                true);
}

int cuFuncGetAttribute(int* value, int attribute, void* function) {
  return Driver(__func__, [&](World&) {
    Require(function != nullptr, kInvalidHandle);
    auto& f = *static_cast<Function*>(function);
    switch (attribute) {
      case 0:
        *value = f.needs.max_threads != 0 ? static_cast<int>(f.needs.max_threads) : 1024;
        break;
      case 1:
        *value = static_cast<int>(f.needs.static_shared_bytes);
        break;
      case 3:
        *value = static_cast<int>(f.needs.local_bytes);
        break;
      case 4:
        *value = Registers(f);
        break;
      case 5:
      case 6:
        *value = 70;
        break;
      case 8:
        *value = static_cast<int>(f.most_dynamic_shared);
        break;
      case 9:
        *value = f.carveout;
        break;
      default:
        Require(attribute == 2 || attribute == 7);
        *value = 0;
    }
  });
}

int cuFuncSetAttribute(void* function, int attribute, int value) {
  return Driver(__func__, [&](World&) {
    Require(function != nullptr, kInvalidHandle);
    auto& f = *static_cast<Function*>(function);
    if (attribute == 8) {
      Require(value >= 0 &&
              static_cast<std::uint64_t>(value) + f.needs.static_shared_bytes <= kSharedMost);
      f.most_dynamic_shared = static_cast<std::uint32_t>(value);
    } else {
      Require(attribute == 9);
      f.carveout = value;
    }
  });
}

int cuFuncSetCacheConfig(void* function, int) {
  return Driver(__func__, [&](World&) { Require(function != nullptr, kInvalidHandle); });
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads,
                                                std::size_t shared) {
  return Driver(__func__, [&](World&) {
    Require(function != nullptr && threads > 0);
    auto& f = *static_cast<Function*>(function);
    *blocks = BlocksPerMultiprocessor(static_cast<std::uint32_t>(threads), Registers(f),
                                      f.needs.static_shared_bytes + shared);
  });
}

int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* function, int threads,
                                                         std::size_t shared, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}

}  // extern "C"
