#include "verify/properties/regressions.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "fixtures/atomic_file.h"
#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "fixtures/mapped_file.h"
#include "verify/properties/property.h"

namespace voltcheck::properties {
namespace {

constexpr std::string_view kHeader =
    "# Cases that once broke a property, one a line: PROPERTY DESCRIPTOR. They run first.\n";

/// The file's text, empty when there is none.
std::string ReadText(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    return "";
  }
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  const fixtures::MappedFile file(path, kMostBytes);
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::string Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  return begin == std::string_view::npos
             ? std::string()
             : std::string(text.substr(begin, text.find_last_not_of(kSpace) - begin + 1));
}

}  // namespace

std::vector<Regression> ParseRegressions(std::string_view where, std::string_view text) {
  std::vector<Regression> regressions;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line = Trimmed(text.substr(0, std::min(end, text.find('#'))));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) {
      continue;
    }
    const std::string place = std::string(where) + ":" + std::to_string(number);
    const std::size_t space = line.find_first_of(" \t");
    if (space == std::string::npos) {
      throw BadInput(place, "is no regression: " + Quote(line), "write PROPERTY DESCRIPTOR");
    }
    try {
      regressions.push_back({std::string(FindProperty(line.substr(0, space)).name),
                             ParseDescriptor(Trimmed(std::string_view(line).substr(space)))});
    } catch (const Error& error) {
      throw Error(error.status(), place + ": " + error.what());
    }
  }
  return regressions;
}

std::vector<Regression> ReadRegressions(const std::string& path) {
  return ParseRegressions(path, ReadText(path));
}

void AddRegressions(const std::string& path, const std::vector<Regression>& found) {
  std::string text = ReadText(path);
  std::vector<Regression> known = ParseRegressions(path, text);
  std::string added;
  for (const Regression& regression : found) {
    if (std::find(known.begin(), known.end(), regression) == known.end()) {
      known.push_back(regression);
      added += regression.property + " " + ToDescriptor(regression.c) + "\n";
    }
  }
  if (added.empty()) {
    return;
  }
  if (text.empty()) {
    text = kHeader;
  } else if (text.back() != '\n') {
    text += '\n';
  }
  fixtures::AtomicFile target(path);
  std::ofstream file(target.temporary(), std::ios::binary | std::ios::trunc);
  file << text << added;
  file.close();
  if (!file) {
    throw BadInput(path, "cannot be written", "make room or name another file");
  }
  target.Commit();
}

}  // namespace voltcheck::properties
