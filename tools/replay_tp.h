#ifndef VOLTCHECK_TOOLS_REPLAY_TP_H_
#define VOLTCHECK_TOOLS_REPLAY_TP_H_

#include <string>

#include "tools/session.h"

namespace voltcheck::tools {

/// `mpirun -n N voltcheck replay --tp --case DESCRIPTOR`: every rank runs its slice of the layer on
/// its own device, judged as any case; the outputs are summed in fp16 and in fp32, by NCCL where
/// every rank has a GPU of its own and by MPI otherwise, and held against the fp64 oracle of the
/// layer that is not split, and against the modelled orders of summation. Rank 0 prints. Status 0:
/// all slices passed, and both sums are as near the exact sum of the ranks' outputs as any order
/// must come.
ExitStatus ReplayTensorParallel(const std::string& descriptor, verify::ProblemSource& source,
                                SessionOptions options);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_REPLAY_TP_H_
