#include "golden.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "fixtures/case/error.h"
#include "fixtures/sha256.h"

namespace voltcheck::conformance {
namespace {

const char kFirstLine[] = "# voltcheck.conformance/1";

std::string Hash(std::span<const std::byte> bytes, std::size_t digits) {
  fixtures::Sha256 sha;
  sha.Update(bytes);
  return sha.Hex().substr(0, digits);
}

std::vector<std::string> Split(std::string_view line, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = line.find(separator);
    parts.emplace_back(line.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    line.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<std::byte> ChunkOf(const Instruction& instruction, std::uint32_t lanes,
                               const std::vector<std::byte>& results, std::uint32_t chunk) {
  std::vector<std::byte> bytes;
  const std::size_t first = std::size_t{chunk} * kChunkLanes;
  const std::size_t last = std::min<std::size_t>(first + kChunkLanes, lanes);
  std::size_t column = 0;
  for (const std::uint32_t size : instruction.results) {
    const auto begin = results.begin() + static_cast<std::ptrdiff_t>(column + first * size);
    bytes.insert(bytes.end(), begin, begin + static_cast<std::ptrdiff_t>((last - first) * size));
    column += std::size_t{lanes} * size;
  }
  return bytes;
}

GoldenEntry Summarise(const Instruction& instruction, const OperandValues& values,
                      const std::vector<std::byte>& results) {
  GoldenEntry entry;
  entry.lanes = values.lanes;
  fixtures::Sha256 module;
  module.Update(ModuleText(instruction, values.lanes));
  module.Update(values.columns);
  entry.module_hash = module.Hex().substr(0, 8);
  entry.hash = Hash(results, 16);
  for (std::uint32_t chunk = 0; chunk * kChunkLanes < values.lanes; ++chunk) {
    entry.chunks.push_back(Hash(ChunkOf(instruction, values.lanes, results, chunk), 4));
  }
  return entry;
}

std::string FormatGolden(const Golden& golden) {
  std::string text = std::string(kFirstLine) + "\n";
  for (const auto& [key, value] : golden.head) {
    text += "# " + key + ": " + value + "\n";
  }
  for (const auto& [name, entry] : golden.entries) {
    text += name + "\t" + std::to_string(entry.lanes) + "\t" + entry.module_hash + "\t" +
            entry.hash + "\t";
    for (const std::string& chunk : entry.chunks) {
      text += chunk;
    }
    text += "\n";
  }
  return text;
}

Golden ParseGolden(std::string_view file, std::string_view text) {
  Golden golden;
  std::size_t number = 0;
  for (const std::string& line : Split(text, '\n')) {
    ++number;
    const auto fail = [&](const char* what) {
      return BadInput(std::string(file) + ":" + std::to_string(number), what,
                      "record the file again with voltcheck_conformance");
    };
    if (number == 1) {
      if (line != kFirstLine) {
        throw fail("this is no conformance file");
      }
      continue;
    }
    if (line.empty()) {
      continue;
    }
    if (line[0] == '#') {
      const std::size_t colon = line.find(": ");
      if (colon == std::string::npos || colon < 3) {
        throw fail("a head line without 'key: value'");
      }
      golden.head[line.substr(2, colon - 2)] = line.substr(colon + 2);
      continue;
    }
    const std::vector<std::string> fields = Split(line, '\t');
    GoldenEntry entry;
    if (fields.size() != 5 || fields[4].size() % 4 != 0 ||
        std::from_chars(fields[1].data(), fields[1].data() + fields[1].size(), entry.lanes).ec !=
            std::errc()) {
      throw fail("not 'name, lanes, hash, hash, chunks'");
    }
    entry.module_hash = fields[2];
    entry.hash = fields[3];
    for (std::size_t at = 0; at < fields[4].size(); at += 4) {
      entry.chunks.push_back(fields[4].substr(at, 4));
    }
    golden.entries[fields[0]] = std::move(entry);
  }
  return golden;
}

}  // namespace voltcheck::conformance
