#include "verify/source_lines.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "fixtures/case/error.h"
#include "fixtures/mapped_file.h"
#include "kernels/kernel_set.h"

/// Made by CMake: the sources of the built-in kernels; the last one has no name.
struct VoltcheckKernelSource {
  const char* name;
  const char* begin;
  const char* end;
};
extern "C" const VoltcheckKernelSource voltcheck_kernel_sources[];

namespace voltcheck::verify {
namespace {

constexpr std::size_t kLongestLine = 200;
constexpr std::size_t kLargestFile = std::size_t{4} << 20U;
// What PTX is compiled from. PTX is input from outside: it may not have other files read.
constexpr std::array<std::string_view, 10> kEndings{".cu",  ".cuh", ".h",   ".hpp", ".hh",
                                                    ".cpp", ".cc",  ".cxx", ".inl", ".inc"};

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The paths of `.file N "path"` directives.
std::vector<std::string> FilesOf(std::string_view ptx) {
  constexpr std::string_view kDirective = ".file";
  std::vector<std::string> files;
  for (std::size_t at = ptx.find(kDirective); at != std::string_view::npos;
       at = ptx.find(kDirective, at + 1)) {
    const std::string_view line = ptx.substr(at, ptx.find('\n', at) - at);
    const std::size_t begin = line.find('"');
    const std::size_t end = line.find('"', begin + 1);
    if (begin != std::string_view::npos && end != std::string_view::npos) {
      files.emplace_back(line.substr(begin + 1, end - begin - 1));
    }
  }
  return files;
}

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    lines.emplace_back(line);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return lines;
}

std::string_view BuiltInSource(std::string_view path) {
  for (const VoltcheckKernelSource* s = voltcheck_kernel_sources; s->name != nullptr; ++s) {
    if (path == s->name) {
      return {s->begin, static_cast<std::size_t>(s->end - s->begin)};
    }
  }
  return {};
}

std::vector<std::string> LinesOfFile(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (std::find(kEndings.begin(), kEndings.end(), ending) == kEndings.end()) {
    return {};
  }
  try {
    const fixtures::MappedFile file(path.string());
    if (file.bytes().size() > kLargestFile) {
      return {};
    }
    return Split({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()});
  } catch (const Error&) {
    return {};  // it has gone since
  }
}

}  // namespace

SourceLines::SourceLines(const std::vector<kernels::ModuleImage>& overrides) {
  const auto add = [this](const kernels::ModuleImage& image) {
    Module& module = modules_[image.name];
    module = {image.name.substr(0, image.name.size() - FileName(image.name).size()), {}};
    for (const std::string& path : FilesOf(image.ptx)) {
      const auto [it, is_new] = module.paths.emplace(FileName(path), path);
      if (!is_new && it->second != path) {
        it->second.clear();
      }
    }
  };
  for (const kernels::ModuleImage& image : kernels::BuiltInModules()) {
    add(image);
  }
  for (const kernels::ModuleImage& image : overrides) {
    add(image);
  }
}

const std::vector<std::string>& SourceLines::Lines(const std::string& module,
                                                   const std::string& name) {
  const auto [it, is_new] = lines_.try_emplace({module, name});
  const auto known = modules_.find(module);
  if (!is_new || known == modules_.end()) {
    return it->second;
  }
  const auto path = known->second.paths.find(name);
  if (path == known->second.paths.end() || path->second.empty()) {
    return it->second;
  }
  it->second = Split(BuiltInSource(path->second));
  if (it->second.empty()) {
    // "folder / absolute" is the absolute path.
    it->second = LinesOfFile(std::filesystem::path(known->second.folder) / path->second);
  }
  return it->second;
}

std::string SourceLines::Text(const kernels::Finding& finding) {
  const std::size_t colon = finding.source.rfind(':');
  if (colon == std::string::npos) {
    return "";
  }
  std::size_t number = 0;
  std::from_chars(finding.source.data() + colon + 1, finding.source.data() + finding.source.size(),
                  number);
  const std::vector<std::string>& lines = Lines(finding.file, finding.source.substr(0, colon));
  if (number == 0 || number > lines.size()) {
    return "";
  }
  const std::string& line = lines[number - 1];
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos) {
    return "";
  }
  const std::size_t last = line.find_last_not_of(" \t\r");
  return line.substr(first, std::min(last - first + 1, kLongestLine));
}

}  // namespace voltcheck::verify
