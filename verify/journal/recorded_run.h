#ifndef VOLTCHECK_VERIFY_JOURNAL_RECORDED_RUN_H_
#define VOLTCHECK_VERIFY_JOURNAL_RECORDED_RUN_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "verify/journal/run_journal.h"
#include "verify/sweep.h"

namespace voltcheck::verify {

/// A run whose finished cases are kept in a journal, and shown in the order of the cases whatever
/// the order in which they ran.
struct RecordedRun {
  RunJournal* journal = nullptr;   ///< null: nothing is kept, and `order` must ascend
  std::vector<std::size_t> order;  ///< the cases of this run, as they shall start
  /// Told of each case that finishes now, one at a time.
  std::function<void(const CaseRecord&)> progress;
  /// Gets the record of every finished case of `order`, ascending, those of an earlier process
  /// included: while the run goes on where `order` ascends, else when it is over.
  std::function<void(const CaseRecord&)> consume;
};

/// Runs the cases of `run.order` that the journal does not hold, as RunCases does (verify/sweep.h).
/// The summary is over everything that `consume` got.
Summary RunRecorded(const std::vector<Case>& cases, const ProblemSource& source,
                    SweepOptions options, const RecordedRun& run,
                    const std::function<bool()>& stop);

/// Removes what killed processes left of a run file that they were writing, `.NAME.tmp-*`. Call it
/// while the journal beside it is open: no other living process writes that file then.
void RemoveTornFiles(const std::string& out);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_JOURNAL_RECORDED_RUN_H_
