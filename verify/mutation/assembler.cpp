#include "verify/mutation/assembler.h"

#include <elf.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "fixtures/case/error.h"
#include "fixtures/case/temporary_folder.h"

namespace voltcheck::mutation {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Exit status of `sh -c SCRIPT sh WORDS...`.
int RunShell(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  if (posix_spawn(&child, "/bin/sh", nullptr, nullptr, argv.data(), environ) != 0 ||
      waitpid(child, &status, 0) != child) {
    throw Error(ExitStatus::kUnavailable, "/bin/sh: cannot be started; free some processes");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

void Append(std::vector<std::byte>& code, const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  code.insert(code.end(), begin, begin + bytes);
}

// The sections of the cubin that belong to the kernel, but for its debug information. The file
// comes from the assembler, so it is well-formed.
std::vector<std::byte> CodeOf(const std::string& cubin, const std::string& entry) {
  Elf64_Ehdr header;
  std::memcpy(&header, cubin.data(), sizeof(header));
  const auto section = [&](std::size_t i) {
    Elf64_Shdr s;
    std::memcpy(&s, cubin.data() + header.e_shoff + i * header.e_shentsize, sizeof(s));
    return s;
  };
  const Elf64_Shdr names = section(header.e_shstrndx);
  std::vector<std::byte> code;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr s = section(i);
    const std::string name = cubin.data() + names.sh_offset + s.sh_name;
    if (!name.ends_with("." + entry) || name.starts_with(".nv.info") ||
        name.find("debug") != std::string::npos || name.starts_with(".rel")) {
      continue;
    }
    Append(code, name.data(), name.size());
    Append(code, &s.sh_size, sizeof(s.sh_size));
    if (s.sh_type != SHT_NOBITS) {
      Append(code, cubin.data() + s.sh_offset, s.sh_size);
    }
  }
  return code;
}

}  // namespace

std::string FindAssembler(const std::string& named) {
  const char* const environment = std::getenv("VOLTCHECK_PTXAS");
  const std::string wanted = !named.empty() ? named : environment != nullptr ? environment : "";
  if (!wanted.empty()) {
    if (access(wanted.c_str(), X_OK) != 0) {
      throw BadInput(named.empty() ? "VOLTCHECK_PTXAS" : "--ptxas", wanted + " cannot be run",
                     "name the ptxas of a CUDA Toolkit for sm_70");
    }
    return wanted;
  }
  constexpr const char* kBuilt = VOLTCHECK_PTXAS;
  if (access(kBuilt, X_OK) != 0) {
    throw Error(ExitStatus::kUnavailable,
                std::string(kBuilt) +
                    ": the assembler that tells equivalent mutants is not here; name one with "
                    "--ptxas, or do without with --ptxas none");
  }
  return kBuilt;
}

Assembled Assemble(const std::string& ptxas, const std::string& ptx, const std::string& entry) {
  const TemporaryFolder folder;
  std::ofstream(folder / "kernel.ptx", std::ios::binary) << ptx;
  const int status = RunShell({"sh", "-c",
                               "ulimit -t 120; exec \"$1\" -arch=sm_70 -O3 -e \"$3\" -o "
                               "\"$2.cubin\" \"$2.ptx\" >\"$2.txt\" 2>&1",
                               "sh", ptxas, folder / "kernel", entry});
  Assembled assembled;
  if (status != 0) {
    const std::string said = ReadAll(folder / "kernel.txt");
    const std::size_t reason = said.find("error");
    assembled.message = said.substr(reason == std::string::npos ? 0 : reason);
    assembled.message = assembled.message.substr(0, assembled.message.find('\n'));
    return assembled;
  }
  const std::string cubin = ReadAll(folder / "kernel.cubin");
  if (cubin.size() < sizeof(Elf64_Ehdr)) {
    throw Error(ExitStatus::kUnavailable,
                ptxas + ": left no cubin; make room in the temporary folder");
  }
  assembled.accepted = true;
  assembled.code = CodeOf(cubin, entry);
  return assembled;
}

}  // namespace voltcheck::mutation
