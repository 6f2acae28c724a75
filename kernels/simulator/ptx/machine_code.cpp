#include "kernels/simulator/ptx/machine_code.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>

#include "fixtures/case/error.h"
#include "fixtures/case/temporary_folder.h"

namespace voltcheck::simulator::ptx {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostListing = std::size_t{1} << 28;

/// Runs a program without a shell, its output in `output`. Returns whether it ended with status 0.
bool RunProgram(const std::vector<std::string>& words, const fs::path& output) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return failed == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

std::string ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  return text.size() > kMostListing ? "" : text;
}

std::vector<fs::path> Folders() {
  std::vector<fs::path> folders;
  if (const char* chosen = std::getenv("VOLTCHECK_CUDA_BIN"); chosen != nullptr) {
    return {chosen};
  }
  const char* path = std::getenv("PATH");
  std::istringstream words(path == nullptr ? "" : path);
  for (std::string folder; std::getline(words, folder, ':');) {
    folders.emplace_back(folder);
  }
  folders.emplace_back("/usr/bin");
  folders.emplace_back("/usr/local/cuda/bin");
  return folders;
}

/// "ptxas 11.8.89" out of what `ptxas --version` prints.
std::string VersionOf(const fs::path& ptxas, const fs::path& folder) {
  RunProgram({ptxas.string(), "--version"}, folder / "version");
  const std::string text = ReadText(folder / "version");
  const std::size_t v = text.find(", V");
  return v == std::string::npos ? "ptxas"
                                : "ptxas " + text.substr(v + 3, text.find('\n', v) - v - 3);
}

/// The operation of a listed instruction, without predicate and modifiers; empty for other lines.
std::string OperationIn(const std::string& line) {
  const std::size_t comment = line.find("*/");
  if (line.find("/*") == std::string::npos || comment == std::string::npos) {
    return "";
  }
  std::istringstream words(line.substr(comment + 2));
  std::string word;
  words >> word;
  if (!word.empty() && word[0] == '@') {
    words >> word;
  }
  return word.substr(0, word.find('.'));
}

struct Counts {
  int products = 0;
  int sums = 0;
  int fused = 0;
};

/// A fused instruction stands on the line of the addition. The assembler also adds by fused
/// instructions (a * 1 + b), so a product on its own line counts as separate whatever adds it.
Fusion FusionOf(const Counts& multiply, const Counts& add, bool one_line) {
  const bool separate = multiply.products != 0;
  const bool fused = add.fused + multiply.fused != 0 && (one_line || !separate || add.sums != 0);
  return separate && fused ? Fusion::kBoth
         : separate        ? Fusion::kSeparate
         : fused           ? Fusion::kFused
                           : Fusion::kUnknown;
}

}  // namespace

std::string NameOf(Fusion fusion) {
  switch (fusion) {
    case Fusion::kFused:
      return "fused";
    case Fusion::kSeparate:
      return "separate";
    case Fusion::kBoth:
      return "fused in one place, separate in another";
    default:
      return "unknown";
  }
}

std::string NumberLines(const std::string& text, const Module& module) {
  std::map<std::uint32_t, std::uint32_t> first_column;  // by line: where its first instruction is
  for (const Function& function : module.functions) {
    for (const Instruction& instruction : function.body) {
      const auto [found, added] =
          first_column.emplace(instruction.location.line, instruction.location.column);
      found->second = std::min(found->second, instruction.location.column);
    }
  }
  std::istringstream in(text);
  std::string out;
  std::uint32_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::size_t first = line.find_first_not_of(" \t\r");
    const bool foreign = first != std::string::npos && (line.compare(first, 4, ".loc") == 0 ||
                                                        line.compare(first, 5, ".file") == 0);
    if (const auto found = first_column.find(number); found != first_column.end()) {
      std::size_t at = found->second - 1;
      const std::size_t before = line.find_last_of("@;{}:", at);
      if (before != std::string::npos && line[before] == '@') {
        at = before;  // the guard stays with its instruction
      }
      line.insert(at, "\n.loc 1 " + std::to_string(number) + " 1\n");
    }
    out += foreign ? "\n" : line + "\n";
  }
  return out + ".file 1 \"numbered.ptx\"\n";
}

std::vector<Fusion> ReadListing(const std::string& listing,
                                const std::vector<ContractionPair>& pairs) {
  std::map<std::uint32_t, Counts> by_line;
  std::uint32_t current = 0;
  std::istringstream in(listing);
  for (std::string line; std::getline(in, line);) {
    const std::size_t marker = line.find("//## File");
    if (marker != std::string::npos) {
      const std::size_t at = line.find("line ", marker);
      current = at == std::string::npos
                    ? 0
                    : static_cast<std::uint32_t>(std::strtoul(line.c_str() + at + 5, nullptr, 10));
      continue;
    }
    const std::string operation = OperationIn(line);
    Counts& counts = by_line[current];
    counts.products += operation == "FMUL" || operation == "DMUL" || operation == "HMUL2";
    counts.sums += operation == "FADD" || operation == "DADD" || operation == "HADD2";
    counts.fused += operation == "FFMA" || operation == "DFMA" || operation == "HFMA2";
  }
  std::vector<Fusion> fusions;
  fusions.reserve(pairs.size());
  for (const ContractionPair& pair : pairs) {
    fusions.push_back(FusionOf(by_line[pair.multiply.line], by_line[pair.add.line],
                               pair.multiply.line == pair.add.line));
  }
  return fusions;
}

MachineCode LookUpFusions(const std::string& text, const Module& module,
                          const std::vector<ContractionPair>& pairs) {
  MachineCode result;
  result.fusions.assign(pairs.size(), Fusion::kUnknown);
  std::optional<TemporaryFolder> made;
  try {
    made.emplace();
  } catch (const Error& error) {
    result.reason = error.what();
    return result;
  }
  const TemporaryFolder& folder = *made;
  const fs::path ptx = folder.path() / "numbered.ptx";
  const fs::path cubin = folder.path() / "numbered.cubin";
  const fs::path output = folder.path() / "output";
  std::ofstream(ptx, std::ios::binary) << NumberLines(text, module);
  result.reason = "no ptxas and nvdisasm that know sm_70 were found";
  for (const fs::path& bin : Folders()) {
    std::error_code error;
    if (!fs::exists(bin / "ptxas", error) || !fs::exists(bin / "nvdisasm", error)) {
      continue;
    }
    if (!RunProgram({(bin / "ptxas").string(), "-arch=sm_70", "--generate-line-info", ptx.string(),
                     "-o", cubin.string()},
                    output)) {
      std::string first = ReadText(output);
      first = first.substr(0, first.find('\n'));
      result.reason = (bin / "ptxas").string() + " refused it: " + first;
      continue;
    }
    if (!RunProgram({(bin / "nvdisasm").string(), "--print-line-info", "-c", cubin.string()},
                    output)) {
      result.reason = (bin / "nvdisasm").string() + " failed";
      continue;
    }
    result.fusions = ReadListing(ReadText(output), pairs);
    result.assembler = VersionOf(bin / "ptxas", folder.path());
    result.reason.clear();
    return result;
  }
  return result;
}

}  // namespace voltcheck::simulator::ptx
