#ifndef VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_MATRIX_PAIRS_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_MATRIX_PAIRS_H_

#include "kernels/simulator/program/control_flow.h"
#include "kernels/simulator/program/program.h"

namespace voltcheck::simulator {

/// Matrix instructions that follow each other in straight-line code and add to the same fp32
/// accumulators, in place, get handlers that run two at once for the whole warp (exec/tensor.cpp).
/// Rows have been assigned.
void PairMatrixInstructions(Program& program, const FlowGraph& graph);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_MATRIX_PAIRS_H_
