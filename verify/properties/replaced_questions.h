#ifndef VOLTCHECK_VERIFY_PROPERTIES_REPLACED_QUESTIONS_H_
#define VOLTCHECK_VERIFY_PROPERTIES_REPLACED_QUESTIONS_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "verify/properties/regressions.h"

namespace voltcheck::properties {

/// What one run of a case cannot show about the entries that a `--kernels` file replaces: indices
/// of 2^31 and more, what they leave in locks and workspaces and behind the computed rows, in which
/// order splits add, what they read and multiply by zero. One small case an entry and property;
/// that of a GEMM runs it as both GEMMs, with split-K where its tile takes that. `seed` is added to
/// the cases' own.
std::vector<Regression> ReplacedQuestions(const std::set<std::string>& entries, std::uint64_t seed);

}  // namespace voltcheck::properties

#endif  // VOLTCHECK_VERIFY_PROPERTIES_REPLACED_QUESTIONS_H_
