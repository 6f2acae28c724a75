#ifndef VOLTCHECK_TOOLS_REPLAY_FROM_H_
#define VOLTCHECK_TOOLS_REPLAY_FROM_H_

#include "tools/command.h"

namespace voltcheck::tools {

/// `replay --from RUN.h5 [--index N]`: repeats the cases of a run file with the options and kernels
/// that it holds, and says whether the verdicts and the bits of every stage are the same. `words`
/// is the whole command line; of the options it may hold those that change no result.
ExitStatus ReplayFrom(const Words& words);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_REPLAY_FROM_H_
