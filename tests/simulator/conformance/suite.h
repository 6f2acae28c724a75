#ifndef VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_SUITE_H_
#define VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_SUITE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "instruction.h"
#include "kernels/device.h"
#include "operand_values.h"

namespace voltcheck::conformance {

/// What one instruction gave on a device.
struct Outcome {
  std::string refusal;             ///< the device's Error line, or empty
  std::vector<std::byte> results;  ///< the result columns, one behind the other
};

/// Runs one instruction over its operand values. An Error of the device becomes a refusal; a fault
/// throws Error (status 3), for nothing after it could be trusted.
Outcome RunInstruction(kernels::Device& device, const Instruction& instruction,
                       const OperandValues& values);

/// One lane's operands and results as text, for messages: "a0=3f800000 a1=... -> x0=...".
std::string LaneText(const Instruction& instruction, const OperandValues& values,
                     const std::vector<std::byte>& results, std::uint32_t lane);

}  // namespace voltcheck::conformance

#endif  // VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_SUITE_H_
