#ifndef VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_REGISTER_ROWS_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_REGISTER_ROWS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/simulator/program/control_flow.h"
#include "kernels/simulator/program/program.h"

namespace voltcheck::simulator {

enum class RowClass : std::uint8_t { k64, k32, kPredicate };
inline constexpr std::size_t kRowClasses = 3;

/// Which of an instruction's operands are registers that it writes and reads. Its guard is read
/// too.
struct OperandShape {
  std::uint8_t destinations = 0;  ///< leading op[] that are written
  std::uint8_t total = 0;         ///< op[] in use
  std::uint32_t pool_begin = 0;
  std::uint8_t pool_destinations = 0;
  std::uint8_t pool_total = 0;
};

/// Number of rows by class.
using RowCounts = std::array<std::uint32_t, kRowClasses>;

/// Rows for the registers of one function. PTX has a register per value, thousands of them;
/// registers that are never alive at the same time share a row, so that a warp's rows stay in the
/// cache. Sharing is as sound as on a scalar machine, because each lane owns its own cell of a row.
struct RowAssignment {
  std::vector<std::uint32_t> row;  ///< by register number: index within its class, kNone: unused
  RowCounts counts{};
};

/// The refs of frame registers in code[graph] are MakeRef(kFrame, number * 4); `classes` is by
/// number.
RowAssignment AssignRows(const Program& program, const FlowGraph& graph,
                         const std::vector<OperandShape>& shapes,
                         const std::vector<RowClass>& classes);

/// Byte offsets of the classes in a frame that has `counts` rows, and its size.
struct FrameLayout {
  std::array<std::uint32_t, kRowClasses> begin{};
  std::uint32_t bytes = 0;
};
FrameLayout LayOutFrame(const RowCounts& counts);

/// Turns register numbers into byte offsets, in the function's code and its part of the pool.
void RewriteRefs(Program& program, const FlowGraph& graph, const std::vector<OperandShape>& shapes,
                 const std::vector<RowClass>& classes, const RowAssignment& rows,
                 const FrameLayout& layout);
/// The same for one ref; kNone for a register that no instruction uses.
Ref RewriteRef(Ref ref, const std::vector<RowClass>& classes, const RowAssignment& rows,
               const FrameLayout& layout);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_REGISTER_ROWS_H_
