#ifndef VOLTCHECK_VERIFY_EXPLAIN_WRITE_H_
#define VOLTCHECK_VERIFY_EXPLAIN_WRITE_H_

#include <string>

#include "verify/explain/explanation.h"

namespace voltcheck::explain {

/// At most 80 columns: the route, the result on each side, the steps around the departure and those
/// at which the device was asked, and what enters there.
std::string ToText(const Explanation& e);

/// Everything, all steps and factors; docs/commands/explain.md lists the keys.
std::string ToJson(const Explanation& e);

/// A page of its own that opens from disk without network: the running sums, their distance to
/// fp64, and the table of all steps.
std::string ToHtml(const Explanation& e);

}  // namespace voltcheck::explain

#endif  // VOLTCHECK_VERIFY_EXPLAIN_WRITE_H_
