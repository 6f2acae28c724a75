#ifndef VOLTCHECK_VERIFY_PROPERTIES_DRAW_H_
#define VOLTCHECK_VERIFY_PROPERTIES_DRAW_H_

#include <rapidcheck/Gen.h>

#include <vector>

#include "fixtures/case/case.h"

namespace voltcheck::properties {

/// Small cases of the whole stage, generated data, over every key: token counts around 1, 8 and
/// 128, every path, layout, routing and feasible tactic. They shrink to SmallerCases.
rc::Gen<Case> SmallCases();

/// Valid cases that differ from `c` by one step towards the smallest and plainest one: fewer
/// tokens, experts, routes, channels; uniform routing, sorted slots, the default tactic and path,
/// normal data. The boldest steps come first. The seed stays. Every sequence of steps ends.
std::vector<Case> SmallerCases(const Case& c);

}  // namespace voltcheck::properties

#endif  // VOLTCHECK_VERIFY_PROPERTIES_DRAW_H_
