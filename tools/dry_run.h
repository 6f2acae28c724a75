#ifndef VOLTCHECK_TOOLS_DRY_RUN_H_
#define VOLTCHECK_TOOLS_DRY_RUN_H_

#include <vector>

#include "tools/session.h"
#include "verify/stopwatch.h"

namespace voltcheck::tools {

/// Prints what the sweep would take in time and disk, and writes no run file. Under MPI all ranks
/// calibrate at once, and rank 0 prints. `since_start` began with the command.
ExitStatus DryRun(const std::vector<Case>& cases, verify::ProblemSource& source,
                  const SessionOptions& options, const verify::Stopwatch& since_start);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_DRY_RUN_H_
