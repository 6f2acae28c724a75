#include "verify/journal/identity.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <map>
#include <span>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "fixtures/sha256.h"

namespace voltcheck::verify {
namespace {

constexpr std::size_t kShownCharacters = 60;

struct Key {
  std::string_view name;
  std::string_view meaning;
};
// In the order in which a difference is told: the cause before what follows from it.
constexpr std::array<Key, 16> kKeys{{
    {"format", "another version of voltcheck"},
    {"tool_version", "another version of voltcheck"},
    {"commit", "another commit of voltcheck"},
    {"binary", "another voltcheck binary"},
    {"kernels_hash", "other kernels"},
    {"fixtures", "other fixtures"},
    {"arguments", "other arguments"},
    {"options", "other options"},
    {"seed", "another seed"},
    {"cases", "another number of cases"},
    {"cases_hash", "other cases"},
    {"device", "another device"},
    {"driver", "another driver"},
    {"numerics", "other numerics"},
    {"toolkit", "another CUDA Toolkit"},
    {"compiler", "another compiler"},
}};

std::map<std::string, std::string, std::less<>> Parse(std::string_view text) {
  std::map<std::string, std::string, std::less<>> values;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) {
      values.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return values;
}

// A value from the word on at which it parts from `other`.
std::string Shown(const std::string& value, const std::string& other) {
  if (value.empty()) {
    return "none";
  }
  const auto parts = std::mismatch(value.begin(), value.end(), other.begin(), other.end());
  const auto common = static_cast<std::size_t>(parts.first - value.begin());
  // "3" of "--schedule 3" is told with its option.
  const std::size_t word = common == 0 ? 0 : value.rfind(" --", std::min(common, value.size() - 1));
  const std::size_t from = word == std::string::npos ? 0 : word == 0 ? 0 : word + 1;
  std::string shown = value.substr(from, kShownCharacters);
  // It may come from a damaged file.
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return (from > 0 ? "..." : "") + shown + (from + shown.size() < value.size() ? "..." : "");
}

}  // namespace

std::string HashOfCases(const std::vector<Case>& cases) {
  fixtures::Sha256 hash;
  for (const Case& c : cases) {
    hash.Update(ToDescriptor(c));
    hash.Update("\n");
  }
  return hash.Hex();
}

std::string HashOfBinary() {
  std::ifstream in("/proc/self/exe", std::ios::binary);
  fixtures::Sha256 hash;
  std::array<char, 1 << 16> part{};
  while (in.read(part.data(), part.size()) || in.gcount() > 0) {
    hash.Update(std::as_bytes(std::span(part.data(), static_cast<std::size_t>(in.gcount()))));
  }
  if (!in.eof()) {
    throw Error(ExitStatus::kUnavailable,
                "/proc/self/exe: cannot be read, so runs cannot be told apart; mount /proc");
  }
  return hash.Hex();
}

std::string IdentityText(const RunProvenance& p, const std::string& binary) {
  const std::map<std::string_view, std::string> values{
      {"format", "voltcheck.journal/1"},
      {"tool_version", p.tool_version},
      {"commit", p.commit},
      {"binary", binary},
      {"kernels_hash", p.kernels_hash},
      {"fixtures", p.fixtures},
      {"arguments", p.arguments},
      {"options", p.options},
      {"seed", std::to_string(p.seed)},
      {"cases", std::to_string(p.planned)},
      {"cases_hash", p.cases_hash},
      {"device", p.device.kind + " " + p.device.name + " " + p.device.code + " " + p.device.tables},
      {"driver", p.device.driver},
      {"numerics", p.device.numerics},
      {"toolkit", p.toolkit},
      {"compiler", p.compiler},
  };
  std::string text;
  for (const Key& key : kKeys) {
    text.append(key.name).append("=").append(values.at(key.name)).append("\n");
  }
  return text;
}

std::string IdentityDifference(std::string_view found, std::string_view wanted) {
  const auto a = Parse(found);
  const auto b = Parse(wanted);
  for (const Key& key : kKeys) {
    const auto left = a.find(key.name);
    const auto right = b.find(key.name);
    const std::string was = left == a.end() ? "" : left->second;
    const std::string is = right == b.end() ? "" : right->second;
    if (was != is) {
      return std::string("was made with ")
          .append(key.meaning)
          .append(" (" + Shown(was, is) + ", not " + Shown(is, was) + ")");
    }
  }
  return found == wanted ? "" : "was made by another version of voltcheck";
}

}  // namespace voltcheck::verify
