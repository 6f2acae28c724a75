#include "verify/suite.h"

#include <set>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "fixtures/fixture_file.h"

namespace voltcheck::verify {
namespace {

constexpr std::string_view kAnyFixture = "fixture=*";

std::vector<std::string> SplitAxes(std::string_view line) {
  std::vector<std::string> axes;
  while (true) {
    const std::size_t at = line.find(';');
    axes.emplace_back(line.substr(0, at));
    if (at == std::string_view::npos) {
      return axes;
    }
    line.remove_prefix(at + 1);
  }
}

// The token counts of `t=1,2,8` that a fixture of `tokens` tokens holds; all of its tokens when it
// holds none of them.
std::string FittingTokens(std::string_view values, int tokens) {
  std::string fitting;
  while (!values.empty()) {
    const std::size_t comma = values.find(',');
    const std::string value(values.substr(0, comma));
    values.remove_prefix(comma == std::string_view::npos ? values.size() : comma + 1);
    if (std::strtol(value.c_str(), nullptr, 10) <= tokens) {
      fitting.append(fitting.empty() ? "" : ",").append(value);
    }
  }
  return "t=" + (fitting.empty() ? std::to_string(tokens) : fitting);
}

// The line's grid on one fixture: the fixture's shape first, then the line's other axes.
std::string GridOnFixture(std::string_view line, const fixtures::Fixture& fixture) {
  std::string grid = FixtureKeys(fixture, ';');
  bool has_tokens = false;
  for (const std::string& axis : SplitAxes(line)) {
    if (axis == kAnyFixture) {
      continue;
    }
    if (axis.starts_with("t=")) {
      has_tokens = true;
      grid += FittingTokens(std::string_view(axis).substr(2), fixture.problem.c.shape.tokens) + ";";
    } else {
      grid += axis + ";";
    }
  }
  if (!has_tokens) {
    grid += "t=" + std::to_string(fixture.problem.c.shape.tokens) + ";";
  }
  grid.pop_back();
  return grid;
}

void AppendCases(const std::string& grid, std::uint64_t seed, std::set<std::string>& seen,
                 std::vector<Case>& cases) {
  for (Case& c : ParseGrid(grid)) {
    c.seed += seed;
    if (seen.insert(ToDescriptor(c)).second) {
      cases.push_back(std::move(c));
    }
  }
}

}  // namespace

std::vector<Case> ParseSuite(std::string_view where, std::string_view text, std::uint64_t seed,
                             const std::string& fixtures_folder, ProblemSource& source) {
  std::vector<Case> cases;
  std::set<std::string> seen;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    line = line.substr(0, line.find('#'));
    const std::size_t last = line.find_last_not_of(" \t\r");
    if (last == std::string_view::npos) {
      continue;
    }
    line = line.substr(0, last + 1);
    const std::string prefix = std::string(where) + ":" + std::to_string(number) + ": ";
    if (line.find(kAnyFixture) == std::string_view::npos) {
      try {
        AppendCases(std::string(line), seed, seen, cases);
      } catch (const Error& error) {
        throw Error(error.status(), prefix + error.what());
      }
      continue;
    }
    const std::vector<std::string> paths = fixtures::ListFixtures(fixtures_folder);
    if (paths.empty()) {
      throw BadInput(fixtures_folder, "holds no fixture (*.h5), but the suite needs one",
                     "name a folder that does with --fixtures");
    }
    for (const std::string& path : paths) {
      AppendCases(GridOnFixture(line, source.Load(path)), seed, seen, cases);
    }
  }
  return cases;
}

std::vector<Case> SuiteCases(std::string_view suite, std::uint64_t seed,
                             const std::string& fixtures_folder, ProblemSource& source) {
  std::string names;
  for (const SuiteText& candidate : Suites()) {
    if (candidate.name == suite) {
      return ParseSuite("suite " + std::string(suite), candidate.text, seed, fixtures_folder,
                        source);
    }
    names.append(names.empty() ? "" : ", ").append(candidate.name);
  }
  throw BadInput("--suite " + std::string(suite), "no such suite", "the suites are " + names);
}

}  // namespace voltcheck::verify
