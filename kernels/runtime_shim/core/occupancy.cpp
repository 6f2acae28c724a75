#include "kernels/runtime_shim/core/occupancy.h"

#include <algorithm>

#include "kernels/runtime_shim/core/cubin.h"

namespace voltcheck::shim {
namespace {

constexpr int kWarps = 64;  // of a multiprocessor
constexpr int kBlocks = 32;
constexpr int kQuarterRegisters = 16384;
constexpr std::uint64_t kSharedUnit = 256;

}  // namespace

int Registers(Function& function) {
  if (function.registers == 0) {
    LoadedImage& image = *function.image;
    if (image.sass.empty()) {
      image.sass = AssembleSass(image.ptx);
    }
    function.registers = RegistersInCubin(image.sass, function.name);
  }
  return function.registers;
}

int BlocksPerMultiprocessor(std::uint32_t threads, int registers, std::uint64_t shared_bytes) {
  if (threads == 0 || threads > 1024) {
    return 0;
  }
  const int warps = static_cast<int>((threads + 31) / 32);
  int blocks = std::min(kBlocks, kWarps / warps);
  if (registers > 0) {
    const int per_warp = (registers * 32 + 255) / 256 * 256;
    const int resident = kQuarterRegisters / per_warp * 4;
    blocks = std::min(blocks, resident / ((warps + 3) / 4 * 4));
  }
  if (shared_bytes > 0) {
    const std::uint64_t rounded = (shared_bytes + kSharedUnit - 1) / kSharedUnit * kSharedUnit;
    blocks = std::min(blocks, static_cast<int>(kSharedMost / rounded));
  }
  return blocks;
}

std::uint64_t SharedForBlocks(int blocks, std::uint32_t threads, const Function& function) {
  if (blocks <= 0 || blocks > BlocksPerMultiprocessor(threads, function.registers, 0)) {
    return 0;
  }
  const std::uint64_t each =
      kSharedMost / static_cast<std::uint64_t>(blocks) / kSharedUnit * kSharedUnit;
  return each - std::min<std::uint64_t>(each, function.needs.static_shared_bytes);
}

}  // namespace voltcheck::shim
