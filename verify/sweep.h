#ifndef VOLTCHECK_VERIFY_SWEEP_H_
#define VOLTCHECK_VERIFY_SWEEP_H_

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "verify/device_options.h"
#include "verify/problem_source.h"
#include "verify/record.h"

namespace voltcheck::verify {

/// Counts by verdict.
struct Summary {
  std::uint64_t cases = 0;
  std::array<std::uint64_t, kVerdicts> by_verdict{};

  void Add(Verdict verdict) {
    ++cases;
    ++by_verdict[static_cast<std::size_t>(verdict)];
  }
  std::uint64_t count(Verdict verdict) const {
    return by_verdict[static_cast<std::size_t>(verdict)];
  }
  /// What the exit status says: at least one case, nothing but passed.
  bool passed() const { return cases > 0 && count(Verdict::kPassed) == cases; }
};

/// Runs cases, `jobs` at a time (0: all cores), and hands the records to `sink` in the order of
/// `cases`, one at a time. The number of jobs changes no bit. `stop` is polled before each case;
/// once it returns true no further case starts, and those that run are finished and handed over. An
/// Error of a case, or an exception of the sink, ends the sweep and is thrown on, after the cases
/// before it were handed over.
Summary RunCases(const std::vector<Case>& cases, const ProblemSource& source,
                 const DeviceOptions& device, int jobs,
                 const std::function<void(const CaseRecord&)>& sink,
                 const std::function<bool()>& stop);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SWEEP_H_
