#ifndef VOLTCHECK_TOOLS_LIMIT_ARGUMENT_H_
#define VOLTCHECK_TOOLS_LIMIT_ARGUMENT_H_

#include <string>

namespace voltcheck::tools {

/// A finite number, 0 or more, that a figure is held against; throws Error (status 2) naming
/// `where` otherwise.
double ParseFigureLimit(const std::string& where, const std::string& text);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_LIMIT_ARGUMENT_H_
