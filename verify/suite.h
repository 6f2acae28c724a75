#ifndef VOLTCHECK_VERIFY_SUITE_H_
#define VOLTCHECK_VERIFY_SUITE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fixtures/case/case.h"
#include "verify/case_runner.h"
#include "verify/run_file.h"

namespace voltcheck::verify {

/// The cases of a suite ("smoke", "ci", "full"), from the data files in verify/suites/, in order, with
/// `seed` added to every case's own. Fixture cases are expanded over the files of `fixtures_folder`.
/// Throws Error (status 2) for an unknown suite, naming those that exist.
std::vector<Case> SuiteCases(const std::string& suite, std::uint64_t seed,
                             const std::string& fixtures_folder);

/// Counts by verdict; `passed()` is what the exit status says: at least one case, nothing but passed.
struct Summary {
  std::uint64_t cases = 0;
  std::uint64_t by_verdict[8] = {};
  bool passed() const;
};

struct SweepOptions {
  DeviceOptions device;
  std::string fixtures_folder;
  int jobs = 0;  ///< cases in flight; 0: all cores. Never changes a bit.
};

/// Runs cases, several at a time, and hands the records to `sink` in the order of `cases` on one thread.
/// `stop` is polled between cases; when it returns true the finished prefix has been handed over.
Summary RunCases(const std::vector<Case>& cases, const SweepOptions& options,
                 const std::function<void(const CaseRecord&)>& sink,
                 const std::function<bool()>& stop);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SUITE_H_
