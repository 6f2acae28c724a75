#ifndef VOLTCHECK_VERIFY_PROMISES_H_
#define VOLTCHECK_VERIFY_PROMISES_H_

#include <vector>

#include "fixtures/case/problem.h"
#include "kernels/stage_runner.h"
#include "reference/routing.h"
#include "verify/record.h"

namespace voltcheck::verify {

/// The checker name under which broken promises are recorded.
inline constexpr std::string_view kPromiseChecker = "promise";
/// ... and the one for repeats of the same launches that gave different bits.
inline constexpr std::string_view kRepeatChecker = "repeat";

/// Broken promises as findings: what the stage runner saw (canaries, inputs, locks, repeats), and
/// every index buffer that differs from the reference's permutation. These are compared exactly,
/// because a wrong offset may leave the outputs right by luck.
std::vector<kernels::Finding> CheckPromises(const Problem& problem,
                                            const reference::Permutation& permutation,
                                            const kernels::ObservedStage& observed);

/// kNondeterministic when repeats differ, else kFailed.
Verdict PromiseVerdict(const std::vector<kernels::Finding>& promises);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_PROMISES_H_
