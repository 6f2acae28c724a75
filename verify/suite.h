#ifndef VOLTCHECK_VERIFY_SUITE_H_
#define VOLTCHECK_VERIFY_SUITE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case/case.h"
#include "verify/problem_source.h"

namespace voltcheck::verify {

/// A suite: a data file in verify/suites/, embedded by the build. Each line is a grid (ParseGrid);
/// `#` starts a comment. `GRID if FILTER` keeps the cases of the grid that fit (verify/filter.h).
/// `include NAME` stands for the lines of another built-in suite. A line with
/// `fixture=*` is repeated for every fixture of the folder with the fixture's own shape; token
/// counts that a fixture does not hold are left out there.
struct SuiteText {
  std::string_view name;
  std::string_view summary;  ///< the file's first comment
  std::string_view text;
};

/// All suites, ordered by name.
const std::vector<SuiteText>& Suites();

/// The cases of a suite in order, each once, with `seed` added to each case's own seed. Fixtures
/// are loaded into `source` from `fixtures_folder`. Throws Error (status 2) for an unknown suite,
/// naming those that exist, and for a folder without the fixtures that the suite needs.
std::vector<Case> SuiteCases(std::string_view suite, std::uint64_t seed,
                             const std::string& fixtures_folder, ProblemSource& source);

/// The cases of a suite's text; `where` names it in errors.
std::vector<Case> ParseSuite(std::string_view where, std::string_view text, std::uint64_t seed,
                             const std::string& fixtures_folder, ProblemSource& source);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SUITE_H_
