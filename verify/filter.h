#ifndef VOLTCHECK_VERIFY_FILTER_H_
#define VOLTCHECK_VERIFY_FILTER_H_

#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case/case.h"

namespace voltcheck::verify {

/// Whether `filter`, `key=value,key=value` in the descriptor's keys, fits the case: each key has
/// that value. A value may end in `*`, which fits any rest (`routing=hole*`), and may name several
/// alternatives with `|` (`t=1|2`). Throws Error (status 2) for a filter that is empty, has an
/// unknown key or an item without '='.
bool FitsFilter(const Case& c, std::string_view filter);

/// How the reason of a skipped case begins that somebody else's kernels say they do not compute,
/// and what stands for all of these in the place of a filter of skips.
inline constexpr const char* kDeclinedPrefix = "declined: ";
inline constexpr const char* kDeclinedFilter = "declined";

/// Whether one of the filters allows that the case was skipped for this reason. Throws what
/// FitsFilter throws.
bool AllowsSkip(const Case& c, std::string_view reason, const std::vector<std::string>& filters);

/// Throws what FitsFilter would throw.
void CheckFilter(std::string_view filter);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_FILTER_H_
