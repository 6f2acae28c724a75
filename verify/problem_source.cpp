#include "verify/problem_source.h"

#include <filesystem>

#include "fixtures/case/error.h"
#include "fixtures/generate.h"

namespace voltcheck::verify {
namespace {

constexpr std::size_t kCachedBytes = std::size_t{128} << 20;
constexpr std::size_t kHashDigits = 12;  // as many as a descriptor holds

}  // namespace

ProblemSource::ProblemSource(std::string folder)
    : folder_(std::move(folder)), weights_(std::make_unique<WeightCache>(kCachedBytes)) {}

const fixtures::Fixture& ProblemSource::Load(const std::string& path) {
  fixtures::Fixture fixture = fixtures::ReadFixture(path);
  const auto it = by_name_.find(fixture.name);
  if (it != by_name_.end()) {
    if (it->second.hash != fixture.hash) {
      throw BadInput(path, "another fixture named " + fixture.name + " is in use already",
                     "rename one of them");
    }
    return it->second;
  }
  const std::string name = fixture.name;
  return by_name_.emplace(name, std::move(fixture)).first->second;
}

void ProblemSource::Preload(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    if (c.fixture.empty()) {
      continue;
    }
    if (!by_name_.contains(c.fixture)) {
      Load((std::filesystem::path(folder_) / (c.fixture + ".h5")).string());
    }
    const fixtures::Fixture& fixture = by_name_.at(c.fixture);
    if (!c.fixture_hash.empty() && !fixture.hash.starts_with(c.fixture_hash)) {
      throw BadInput("fixture " + c.fixture,
                     "its hash starts with " + fixture.hash.substr(0, kHashDigits) +
                         ", the case asks for " + c.fixture_hash,
                     "use the fixture that the case was made with");
    }
  }
}

Problem ProblemSource::Make(const Case& c) const {
  if (c.data != Data::kFixture) {
    return fixtures::Generate(c, [this](const Case& of, int id) { return weights_->Get(of, id); });
  }
  return fixtures::FromFixture(by_name_.at(c.fixture), c);
}

std::string ProblemSource::Hashes() const {
  std::string hashes;
  for (const auto& [name, fixture] : by_name_) {
    hashes.append(hashes.empty() ? "" : " ").append(name).append("@").append(fixture.hash);
  }
  return hashes;
}

std::string FixtureKeys(const fixtures::Fixture& fixture, char separator) {
  const Shape& s = fixture.problem.c.shape;
  std::string keys;
  const auto add = [&](std::string_view key, const std::string& value) {
    keys.append(key).append("=").append(value).push_back(separator);
  };
  add("h", std::to_string(s.hidden));
  add("i", std::to_string(s.intermediate));
  add("e", std::to_string(s.experts));
  add("k", std::to_string(s.top_k));
  add("g", std::to_string(s.group));
  add("fixture", fixture.name + "@" + fixture.hash.substr(0, kHashDigits));
  return keys;
}

}  // namespace voltcheck::verify
