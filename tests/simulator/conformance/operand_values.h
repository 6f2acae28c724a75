#ifndef VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_OPERAND_VALUES_H_
#define VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_OPERAND_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "instruction.h"

namespace voltcheck::conformance {

/// The values of every input, lane by lane: first all combinations of edge cases (of fewer edge
/// cases the more inputs there are), then random ones. The same on every machine.
struct OperandValues {
  std::uint32_t lanes = 0;         ///< a multiple of kBlock
  std::vector<std::byte> columns;  ///< the inputs' columns, one behind the other
};

OperandValues MakeOperandValues(const Instruction& instruction);

/// The edge cases of one operand, the most telling ones first.
std::vector<std::uint64_t> EdgeCases(const Operand& operand);

}  // namespace voltcheck::conformance

#endif  // VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_OPERAND_VALUES_H_
