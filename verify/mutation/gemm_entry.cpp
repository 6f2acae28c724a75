#include "verify/mutation/gemm_entry.h"

namespace voltcheck::mutation {

std::optional<GemmEntryName> ParseGemmEntry(std::string_view entry) {
  constexpr std::string_view kPrefix = "grouped_gemm_";
  if (!entry.starts_with(kPrefix)) {
    return std::nullopt;
  }
  const std::string rest(entry.substr(kPrefix.size()));
  const std::size_t group = rest.find("_g");
  const std::size_t form = rest.rfind('_');
  if (group == std::string::npos || form <= group) {
    return std::nullopt;
  }
  return GemmEntryName{ParseTactic(rest.substr(0, group) + "/1").tile,
                       std::stoi(rest.substr(group + 2, form - group - 2)), rest.substr(form + 1)};
}

bool FitsPattern(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) {
    return pattern == text;
  }
  if (!text.starts_with(pattern.substr(0, star))) {
    return false;
  }
  for (std::size_t skip = star; skip <= text.size(); ++skip) {
    if (FitsPattern(pattern.substr(star + 1), text.substr(skip))) {
      return true;
    }
  }
  return false;
}

}  // namespace voltcheck::mutation
