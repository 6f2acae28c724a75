#include "tools/case_list.h"

#include <string_view>

#include "fixtures/mapped_file.h"
#include "verify/suite.h"

namespace voltcheck::tools {

bool IsSuiteFile(const std::string& suite) {
  return suite.find('/') != std::string::npos || suite.ends_with(".txt");
}

std::vector<Case> CasesOfSuite(const std::string& suite, std::uint64_t seed,
                               const std::string& fixtures, verify::ProblemSource& source) {
  if (!IsSuiteFile(suite)) {
    return verify::SuiteCases(suite, seed, fixtures, source);
  }
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  const fixtures::MappedFile file(suite, kMostBytes);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  return verify::ParseSuite(suite, text, seed, fixtures, source);
}

}  // namespace voltcheck::tools
