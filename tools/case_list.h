#ifndef VOLTCHECK_TOOLS_CASE_LIST_H_
#define VOLTCHECK_TOOLS_CASE_LIST_H_

#include <string>
#include <vector>

#include "fixtures/case/case.h"
#include "verify/problem_source.h"

namespace voltcheck::tools {

/// Whether --suite names a file of the user's own: a name with a '/' or ending in ".txt".
bool IsSuiteFile(const std::string& suite);

/// The cases of a built-in suite or a suite file; fixtures are loaded into `source`.
std::vector<Case> CasesOfSuite(const std::string& suite, std::uint64_t seed,
                               const std::string& fixtures, verify::ProblemSource& source);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_CASE_LIST_H_
