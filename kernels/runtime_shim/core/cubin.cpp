#include "kernels/runtime_shim/core/cubin.h"

#include <elf.h>
#include <openssl/evp.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "fixtures/case/error.h"
#include "fixtures/case/temporary_folder.h"

namespace voltcheck::shim {
namespace {

constexpr const char* kCodePrefix = ".text.";

std::string Quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

template <typename T>
bool ReadAt(const std::string& data, std::uint64_t offset, T& value) {
  if (offset > data.size() || data.size() - offset < sizeof(T)) {
    return false;
  }
  std::memcpy(&value, data.data() + offset, sizeof(T));
  return true;
}

/// Calls `visit` with the name and the header of every section, as far as they can be read.
template <typename Visit>
void ForEachSection(const std::string& cubin, const Visit& visit) {
  Elf64_Ehdr header;
  Elf64_Shdr names;
  if (!ReadAt(cubin, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      !ReadAt(cubin, header.e_shoff + std::uint64_t{header.e_shstrndx} * sizeof(Elf64_Shdr),
              names)) {
    return;
  }
  for (std::uint32_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!ReadAt(cubin, header.e_shoff + i * sizeof(section), section)) {
      return;
    }
    const std::uint64_t name = names.sh_offset + section.sh_name;
    if (name < cubin.size()) {
      visit(std::string(cubin.data() + name, strnlen(cubin.data() + name, cubin.size() - name)),
            section);
    }
  }
}

}  // namespace

std::string AssembleSass(const std::string& ptx) {
  std::optional<TemporaryFolder> made;
  try {
    made.emplace();
  } catch (const Error&) {
    return "";
  }
  const TemporaryFolder& folder = *made;
  const char* named = std::getenv("VOLTCHECK_PTXAS");
  std::ofstream(folder / "in.ptx") << ptx;
  // Not the program's environment: its LD_LIBRARY_PATH and ours are no business of the assembler.
  const std::string command = "env -u LD_LIBRARY_PATH -u LD_PRELOAD " +
                              Quoted(named == nullptr || *named == 0 ? "ptxas" : named) +
                              " -arch=sm_70 -o " + Quoted(folder / "out.cubin") + " " +
                              Quoted(folder / "in.ptx") + " >/dev/null 2>&1";
  std::string cubin;
  if (std::system(command.c_str()) == 0) {
    std::ifstream in(folder / "out.cubin", std::ios::binary);
    cubin.assign(std::istreambuf_iterator<char>(in), {});
  }
  return cubin;
}

std::string MachineCode(const std::string& cubin) {
  std::map<std::string, std::string> by_name;
  ForEachSection(cubin, [&](const std::string& name, const Elf64_Shdr& section) {
    if (name.starts_with(kCodePrefix) && section.sh_offset <= cubin.size() &&
        section.sh_size <= cubin.size() - section.sh_offset) {
      by_name[name] = cubin.substr(section.sh_offset, section.sh_size);
    }
  });
  std::string code;
  for (const auto& [name, bytes] : by_name) {
    for (const std::string& part : {name, std::to_string(bytes.size()), bytes}) {
      code.append(part).push_back('\0');
    }
  }
  return code;
}

int RegistersInCubin(const std::string& cubin, const std::string& kernel) {
  int registers = 0;
  ForEachSection(cubin, [&](const std::string& name, const Elf64_Shdr& section) {
    if (name == kCodePrefix + kernel) {
      registers = static_cast<int>(section.sh_info >> 24);
    }
  });
  return registers;
}

std::string Sha256(const std::string& bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    char pair[3];
    std::snprintf(pair, sizeof(pair), "%02x", digest[i]);
    hex += pair;
  }
  return hex;
}

}  // namespace voltcheck::shim
