#ifndef VOLTCHECK_VERIFY_JOURNAL_IDENTITY_H_
#define VOLTCHECK_VERIFY_JOURNAL_IDENTITY_H_

#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case/case.h"
#include "verify/run_file.h"

namespace voltcheck::verify {

/// SHA-256 over the descriptors of a run's cases, in order.
std::string HashOfCases(const std::vector<Case>& cases);

/// SHA-256 of this process's executable file. Throws Error (status 3) when it cannot be read.
std::string HashOfBinary();

/// All that must be equal before records of two processes may stand in one run file, one
/// "key=value" a line: the binary, the kernels, the fixtures, the cases and how they are judged.
std::string IdentityText(const RunProvenance& provenance, const std::string& binary);

/// What is not equal, as a phrase: "was made with other kernels (3f21... here 9ac0...)"; empty when
/// everything is.
std::string IdentityDifference(std::string_view found, std::string_view wanted);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_JOURNAL_IDENTITY_H_
