#ifndef VOLTCHECK_VERIFY_RANDOM_CASES_H_
#define VOLTCHECK_VERIFY_RANDOM_CASES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fixtures/case/case.h"

namespace voltcheck::verify {

/// `count` generated cases from the whole descriptor space, as far as the kernels have a plan for
/// them and a simulator runs them in about a second: H up to 512, I up to 256, 1 to 32 experts,
/// token counts around the boundaries 1, 2, 8, 9, 127 and 128, every routing, layout, path,
/// metadata form, column layout, feasible tactic with 1 to 16 splits, kind of data and arithmetic,
/// now and then a head. Case i depends on `seed` and i alone, so any part of the list can be made
/// by itself.
std::vector<Case> RandomCases(std::size_t count, std::uint64_t seed);

/// `count` of `cases`, each at most once, in their own order; all of them when there are no more.
std::vector<Case> SampleCases(const std::vector<Case>& cases, std::size_t count,
                              std::uint64_t seed);

/// Cases with exact inputs (integer and one-hot) first, each kind in its own order: there any wrong
/// index, scale or zero point is unambiguous.
void ExactFirst(std::vector<Case>& cases);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_RANDOM_CASES_H_
