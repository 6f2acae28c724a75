#include "verify/suite.h"

#include <set>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "fixtures/fixture_file.h"
#include "verify/filter.h"

namespace voltcheck::verify {
namespace {

constexpr std::string_view kAnyFixture = "fixture=*";
constexpr std::string_view kInclude = "include ";
constexpr std::string_view kCondition = " if ";
constexpr int kMostIncludes = 8;

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

// `what` starts the error.
const SuiteText& FindSuite(std::string_view name, const std::string& what) {
  std::string names;
  for (const SuiteText& candidate : Suites()) {
    if (candidate.name == name) {
      return candidate;
    }
    names.append(names.empty() ? "" : ", ").append(candidate.name);
  }
  throw BadInput(what, "no such suite", "the suites are " + names);
}

// Reads suites into one list of cases, each once.
class Reader {
 public:
  Reader(std::uint64_t seed, const std::string& fixtures_folder, ProblemSource& source)
      : seed_(seed), fixtures_folder_(fixtures_folder), source_(source) {}

  void Read(std::string_view where, std::string_view text, int depth = 0) {
    for (int number = 1; !text.empty(); ++number) {
      const std::size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      line = line.substr(0, line.find('#'));
      const std::size_t last = line.find_last_not_of(" \t\r");
      if (last == std::string_view::npos) {
        continue;
      }
      const std::string place = std::string(where) + ":" + std::to_string(number) + ": ";
      ReadLine(line.substr(0, last + 1), place, depth);
    }
  }

  std::vector<Case> TakeCases() { return std::move(cases_); }

 private:
  void ReadLine(std::string_view line, const std::string& place, int depth) {
    try {
      if (line.starts_with(kInclude)) {
        const SuiteText& suite = FindSuite(line.substr(kInclude.size()), place + "include");
        if (depth == kMostIncludes) {
          throw BadInput("include", "suites include each other in a circle", "leave one out");
        }
        Read("suite " + std::string(suite.name), suite.text, depth + 1);
        return;
      }
      filter_.clear();
      if (const std::size_t at = line.find(kCondition); at != std::string_view::npos) {
        filter_ = line.substr(at + kCondition.size());
        CheckFilter(filter_);
        line = line.substr(0, at);
      }
      if (line.find(kAnyFixture) == std::string_view::npos) {
        Append(std::string(line));
        return;
      }
    } catch (const Error& error) {
      const std::string what = error.what();
      throw Error(error.status(), what.starts_with(place) ? what : place + what);
    }
    const std::vector<std::string> paths = fixtures::ListFixtures(fixtures_folder_);
    if (paths.empty()) {
      throw BadInput(fixtures_folder_, "holds no fixture (*.h5), but the suite needs one",
                     "name a folder that does with --fixtures");
    }
    for (const std::string& path : paths) {
      Append(GridOnFixture(line, source_.Load(path)));
    }
  }

  void Append(const std::string& grid) {
    for (Case& c : ParseGrid(grid)) {
      if (!filter_.empty() && !FitsFilter(c, filter_)) {
        continue;
      }
      c.seed += seed_;
      if (seen_.insert(ToDescriptor(c)).second) {
        cases_.push_back(std::move(c));
      }
    }
  }

  std::uint64_t seed_;
  const std::string& fixtures_folder_;
  ProblemSource& source_;
  std::string filter_;  ///< of the line that is read; empty: all of its cases
  std::set<std::string> seen_;
  std::vector<Case> cases_;
};

}  // namespace

std::vector<Case> ParseSuite(std::string_view where, std::string_view text, std::uint64_t seed,
                             const std::string& fixtures_folder, ProblemSource& source) {
  Reader reader(seed, fixtures_folder, source);
  reader.Read(where, text);
  return reader.TakeCases();
}

std::vector<Case> SuiteCases(std::string_view suite, std::uint64_t seed,
                             const std::string& fixtures_folder, ProblemSource& source) {
  const SuiteText& text = FindSuite(suite, "--suite " + std::string(suite));
  return ParseSuite("suite " + std::string(suite), text.text, seed, fixtures_folder, source);
}

}  // namespace voltcheck::verify
