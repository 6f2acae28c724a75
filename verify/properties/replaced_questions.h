#ifndef VOLTCHECK_VERIFY_PROPERTIES_REPLACED_QUESTIONS_H_
#define VOLTCHECK_VERIFY_PROPERTIES_REPLACED_QUESTIONS_H_

#include <cstdint>
#include <vector>

#include "verify/properties/regressions.h"
#include "verify/replaced_cases.h"

namespace voltcheck::properties {

/// What one run of a case cannot show about an entry that a `--kernels` file replaces: indices of
/// 2^31 and more, what it leaves in locks and workspaces, in which order its splits add, what it
/// reads and multiplies by zero. One small case an entry, that runs it in both GEMMs, with split-K
/// where its tile takes that. `seed` is added to the case's own.
std::vector<Regression> ReplacedQuestions(const std::vector<verify::ReplacedGemm>& gemms,
                                          std::uint64_t seed);

}  // namespace voltcheck::properties

#endif  // VOLTCHECK_VERIFY_PROPERTIES_REPLACED_QUESTIONS_H_
