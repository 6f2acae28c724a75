#ifndef VOLTCHECK_VERIFY_PROPERTIES_REGRESSIONS_H_
#define VOLTCHECK_VERIFY_PROPERTIES_REGRESSIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case/case.h"

namespace voltcheck::properties {

/// A case that once broke a property. Such cases run before anything is drawn.
struct Regression {
  std::string property;
  Case c;
  bool operator==(const Regression&) const = default;
};

/// One a line, `PROPERTY DESCRIPTOR`; `#` starts a comment. Throws Error (status 2) that names the
/// line for a property that does not exist or a descriptor that does not parse. `where` names the
/// text in errors.
std::vector<Regression> ParseRegressions(std::string_view where, std::string_view text);

/// Reads a file of them; one that is not there holds none.
std::vector<Regression> ReadRegressions(const std::string& path);

/// Writes the file anew with the lines that it lacks at its end; everything else stays. Does
/// nothing when it lacks none. Throws Error (status 2) when it cannot be written.
void AddRegressions(const std::string& path, const std::vector<Regression>& found);

}  // namespace voltcheck::properties

#endif  // VOLTCHECK_VERIFY_PROPERTIES_REGRESSIONS_H_
