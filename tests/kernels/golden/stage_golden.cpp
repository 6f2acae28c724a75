#include "stage_golden.h"

#include <algorithm>
#include <istream>
#include <ostream>
#include <sstream>

#include "fixtures/case/error.h"
#include "fixtures/sha256.h"

namespace voltcheck::kernels::testing {
namespace {

constexpr std::size_t kHashDigits = 16;
constexpr std::string_view kTitle = "# voltcheck stage golden/1";

std::string HashOf(const std::vector<std::uint16_t>& bits) {
  if (bits.empty()) {
    return "-";
  }
  fixtures::Sha256 hash;
  hash.Update(std::as_bytes(std::span(bits)));
  return hash.Hex().substr(0, kHashDigits);
}

bool IsHash(const std::string& text) {
  return text == "-" || (text.size() == kHashDigits &&
                         text.find_first_not_of("0123456789abcdef") == std::string::npos);
}

}  // namespace

StageHashes HashStages(const ObservedStage& observed) {
  return {HashOf(observed.w13), HashOf(observed.silu), HashOf(observed.w2),
          HashOf(observed.output)};
}

std::string CaseKey(std::string_view descriptor) {
  fixtures::Sha256 hash;
  hash.Update(descriptor);
  return hash.Hex().substr(0, kHashDigits);
}

void Write(const StageGolden& golden, std::ostream& out) {
  out << kTitle << "\n";
  for (const auto& [name, value] : golden.origin) {
    out << "# " << name << " " << value << "\n";
  }
  for (const auto& [key, hashes] : golden.cases) {
    out << key;
    for (const std::string& hash : hashes) {
      out << "\t" << hash;
    }
    out << "\n";
  }
}

StageGolden Read(std::string_view where, std::istream& in) {
  StageGolden golden;
  std::string line;
  if (!std::getline(in, line) || line != kTitle) {
    throw BadInput(std::string(where) + ":1", "is no stage golden file", "record one");
  }
  for (int number = 2; std::getline(in, line); ++number) {
    const std::string place = std::string(where) + ":" + std::to_string(number);
    if (line.starts_with("# ")) {
      const std::size_t space = line.find(' ', 2);
      golden.origin[line.substr(2, space - 2)] =
          space == std::string::npos ? "" : line.substr(space + 1);
      continue;
    }
    std::istringstream fields(line);
    std::string key;
    StageHashes hashes;
    fields >> key;
    for (std::string& hash : hashes) {
      fields >> hash;
    }
    if (!fields || key.size() != kHashDigits ||
        !std::all_of(hashes.begin(), hashes.end(), IsHash)) {
      throw BadInput(place, "is no line of a key and four hashes", "record the file again");
    }
    golden.cases[key] = hashes;
  }
  return golden;
}

}  // namespace voltcheck::kernels::testing
