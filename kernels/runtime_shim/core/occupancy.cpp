#include "kernels/runtime_shim/core/occupancy.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace voltcheck::shim {
namespace {

constexpr int kWarps = 64;  // of a multiprocessor
constexpr int kBlocks = 32;
constexpr int kQuarterRegisters = 16384;
constexpr std::uint64_t kSharedUnit = 256;

std::string Quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

/// The cubin that the toolkit makes of `ptx`; empty: no toolkit that can.
std::string Assemble(const std::string& ptx) {
  std::string folder = (std::filesystem::temp_directory_path() / "voltcheck-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    return "";
  }
  const char* named = std::getenv("VOLTCHECK_PTXAS");
  std::ofstream(folder + "/in.ptx") << ptx;
  // Not the program's environment: its LD_LIBRARY_PATH and ours are no business of the assembler.
  const std::string command = "env -u LD_LIBRARY_PATH -u LD_PRELOAD " +
                              Quoted(named == nullptr || *named == 0 ? "ptxas" : named) +
                              " -arch=sm_70 -o " + Quoted(folder + "/out.cubin") + " " +
                              Quoted(folder + "/in.ptx") + " >/dev/null 2>&1";
  std::string cubin;
  if (std::system(command.c_str()) == 0) {
    std::ifstream in(folder + "/out.cubin", std::ios::binary);
    cubin.assign(std::istreambuf_iterator<char>(in), {});
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return cubin;
}

template <typename T>
bool ReadAt(const std::string& data, std::uint64_t offset, T& value) {
  if (offset > data.size() || data.size() - offset < sizeof(T)) {
    return false;
  }
  std::memcpy(&value, data.data() + offset, sizeof(T));
  return true;
}

}  // namespace

int RegistersInCubin(const std::string& cubin, const std::string& kernel) {
  Elf64_Ehdr header;
  Elf64_Shdr names;
  if (!ReadAt(cubin, 0, header) ||
      !ReadAt(cubin, header.e_shoff + std::uint64_t{header.e_shstrndx} * sizeof(Elf64_Shdr),
              names)) {
    return 0;
  }
  const std::string wanted = ".text." + kernel;
  for (std::uint32_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!ReadAt(cubin, header.e_shoff + i * sizeof(section), section)) {
      return 0;
    }
    const std::uint64_t name = names.sh_offset + section.sh_name;
    if (name < cubin.size() &&
        cubin.compare(name, wanted.size() + 1, wanted.c_str(), wanted.size() + 1) == 0) {
      return static_cast<int>(section.sh_info >> 24);
    }
  }
  return 0;
}

int Registers(Function& function) {
  if (function.registers == 0) {
    LoadedImage& image = *function.image;
    if (image.sass.empty()) {
      image.sass = Assemble(image.ptx);
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
