#ifndef VOLTCHECK_VERIFY_SWEEP_H_
#define VOLTCHECK_VERIFY_SWEEP_H_

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "verify/device_options.h"
#include "verify/judge_options.h"
#include "verify/problem_source.h"
#include "verify/record.h"

namespace voltcheck::verify {

/// Counts by verdict.
struct Summary {
  std::uint64_t cases = 0;
  std::array<std::uint64_t, kVerdicts> by_verdict{};

  std::uint64_t allowed_skips = 0;  ///< skipped, and the configuration names them

  void Add(Verdict verdict, bool allowed_skip = false) {
    ++cases;
    ++by_verdict[static_cast<std::size_t>(verdict)];
    allowed_skips += verdict == Verdict::kSkipped && allowed_skip ? 1 : 0;
  }
  std::uint64_t count(Verdict verdict) const {
    return by_verdict[static_cast<std::size_t>(verdict)];
  }
  /// What the exit status says: at least one case passed, and nothing else happened but skips that
  /// the configuration names.
  bool passed() const {
    return count(Verdict::kPassed) > 0 && count(Verdict::kPassed) + allowed_skips == cases;
  }
};

/// How a list of cases is run.
struct SweepOptions {
  DeviceOptions device;
  JudgeOptions judge;
  int jobs = 0;  ///< cases in flight; 0: all cores
  /// Skips that pass: a skipped case counts as allowed when one of these filters fits it
  /// (verify/filter.h), or kDeclinedFilter is among them and the kernels say that they do not
  /// compute it.
  std::vector<std::string> allowed_skips;
  /// Told of each record and the wall time of its case as soon as it is finished, by the thread
  /// that ran it, several at a time.
  std::function<void(const CaseRecord& record, double seconds)> finished;
  /// Off: `sink` gets the records as they finish, so that no case waits for an earlier one.
  bool in_order = true;
};

/// Runs cases, `jobs` at a time (0: all cores), and hands the records to `sink` in the order of
/// `cases`, one at a time. The number of jobs changes no bit. `stop` is polled before each case;
/// once it returns true no further case starts, and those that run are finished and handed over. An
/// Error of a case, or an exception of the sink, ends the sweep and is thrown on, after the cases
/// before it were handed over.
///
/// A record's index is the case's place in `cases`, so any part of a list can be run by itself: a
/// caller that wants a shard or a resumed run hands over the indices in `selected`, in the order in
/// which they shall start, and gets the same records as a run of everything gives for them.
Summary RunCases(const std::vector<Case>& cases, const ProblemSource& source,
                 const SweepOptions& options, const std::function<void(const CaseRecord&)>& sink,
                 const std::function<bool()>& stop, std::span<const std::size_t> selected);
Summary RunCases(const std::vector<Case>& cases, const ProblemSource& source,
                 const SweepOptions& options, const std::function<void(const CaseRecord&)>& sink,
                 const std::function<bool()>& stop);
/// The same with default judgement.
Summary RunCases(const std::vector<Case>& cases, const ProblemSource& source,
                 const DeviceOptions& device, int jobs,
                 const std::function<void(const CaseRecord&)>& sink,
                 const std::function<bool()>& stop);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SWEEP_H_
