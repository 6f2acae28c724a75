#ifndef VOLTCHECK_VERIFY_FILTER_H_
#define VOLTCHECK_VERIFY_FILTER_H_

#include <string_view>

#include "fixtures/case/case.h"

namespace voltcheck::verify {

/// Whether `filter`, `key=value,key=value` in the descriptor's keys, fits the case: each key has
/// that value. A value may end in `*`, which fits any rest (`routing=hole*`), and may name several
/// alternatives with `|` (`t=1|2`). Throws Error (status 2) for a filter that is empty, has an
/// unknown key or an item without '='.
bool FitsFilter(const Case& c, std::string_view filter);

/// In the place of a filter of skips: cases that a plugin or a recipe says it does not compute.
inline constexpr const char* kDeclinedFilter = "declined";

/// Throws what FitsFilter would throw.
void CheckFilter(std::string_view filter);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_FILTER_H_
