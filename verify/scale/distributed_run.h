#ifndef VOLTCHECK_VERIFY_SCALE_DISTRIBUTED_RUN_H_
#define VOLTCHECK_VERIFY_SCALE_DISTRIBUTED_RUN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fixtures/case/error.h"
#include "verify/journal/run_journal.h"
#include "verify/scale/ranks.h"
#include "verify/scale/worker.h"
#include "verify/sweep.h"

namespace voltcheck::verify {

/// A run that several processes share.
struct DistributedRun {
  std::string out;                 ///< the run file; on a file system that all ranks see
  std::string identity;            ///< verify/journal/identity.h; must be the same on every rank
  std::vector<std::size_t> order;  ///< the cases of this run, the costliest first
  std::vector<std::uint64_t> costs;
  bool resume = false;
  int jobs = 1;  ///< threads of each rank
  /// A rank that is silent for so long is given up, and its cases are dealt again.
  double silence_seconds = 30;
  /// On rank 0, told of each case that finishes anywhere.
  std::function<void(const CaseNote&)> progress;
  /// On rank 0, a line for the user about a rank that was given up.
  std::function<void(const std::string& line)> note;
};

/// Rank 0: deals the cases out, runs its own share, and returns when all are finished or `stop`
/// says so; `journal` is rank 0's, and holds every finished case then. Throws Error (status 2) when
/// a rank runs another binary or other kernels, fixtures or cases, when every rank has failed, or
/// when a rank's journal is not where rank 0 looks.
void LeadRun(Ranks& ranks, const DistributedRun& run, const std::vector<Case>& cases,
             const ProblemSource& source, const SweepOptions& options, RunJournal& journal,
             const std::function<bool()>& stop);

/// Rank 0 does not answer any more: the run cannot go on, what is finished is in the journals.
class LeaderLost : public Error {
 public:
  LeaderLost()
      : Error(ExitStatus::kInterrupted,
              "rank 0 does not answer; the same command with --resume goes on with what is "
              "finished") {}
};

/// Tells rank 0 that this rank cannot take part, and why.
void LeaveRun(Ranks& ranks, const std::string& why);

/// Every other rank: works until rank 0 says that it is over. Throws LeaderLost when rank 0 is
/// silent for too long; Error Error with rank 0's reason
/// when the run is refused, and Error (status 2) when this rank could not keep its cases.
void FollowRun(Ranks& ranks, const DistributedRun& run, const std::vector<Case>& cases,
               const ProblemSource& source, const SweepOptions& options,
               const std::function<bool()>& stop);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SCALE_DISTRIBUTED_RUN_H_
