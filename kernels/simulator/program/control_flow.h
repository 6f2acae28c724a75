#ifndef VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_CONTROL_FLOW_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_CONTROL_FLOW_H_

#include <cstdint>
#include <vector>

#include "kernels/simulator/program/program.h"

namespace voltcheck::simulator {

/// A straight piece of one function: pcs [begin, end).
struct FlowBlock {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::vector<std::uint32_t> successors;  ///< block indices; empty: leaves the function
};

/// The control flow of one function.
struct FlowGraph {
  std::uint32_t first_pc = 0;
  std::vector<FlowBlock> blocks;        ///< ascending pcs
  std::vector<std::uint32_t> block_of;  ///< by pc - first_pc
};

/// Splits code[begin, end) at branch targets and after branches, returns and exits.
FlowGraph BuildFlowGraph(const Program& program, std::uint32_t begin, std::uint32_t end);

/// For each block the nearest block that every path to the exit goes through, or kNone when that is
/// the exit itself. Blocks that cannot reach the exit (endless loops) count as leaving.
std::vector<std::uint32_t> ImmediatePostDominators(const FlowGraph& graph);

/// Sets `reconvergence`, `backward` and `idle` of every branch in [begin, end), `whole_warp` of
/// every .sync instruction and `run` of every other: straight-line runs end at control
/// instructions, but for whole_warp ones, and at the first instruction of every block.
void FinishControlFlow(Program& program, const FlowGraph& graph);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_CONTROL_FLOW_H_
