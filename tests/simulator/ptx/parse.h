#ifndef VOLTCHECK_TESTS_SIMULATOR_PTX_PARSE_H_
#define VOLTCHECK_TESTS_SIMULATOR_PTX_PARSE_H_

#include <string>
#include <string_view>
#include <vector>

#include "kernels/simulator/ptx/module.h"

namespace voltcheck::simulator::ptx {

/// Parses a file header followed by `text`, which begins in line 2.
Module ParseItems(const std::string& text);

/// Parses `text` (from line 2 on) as the body of a kernel with the registers %r0..%r9, %f0..%f9,
/// %rd0..%rd9, %p0..%p9.
Function ParseBodyText(const std::string& text);

/// The operands of one instruction in such a body.
std::vector<Operand> ParseOperands(const std::string& instruction);

/// The line of the Error that parsing throws; empty when it throws none.
std::string ErrorOf(const std::string& whole_text);
/// The same for a body as in ParseBodyText, and for module items as in ParseItems.
std::string BodyError(const std::string& text);
std::string ItemError(const std::string& text);

/// The whole content of a file; fails the test when it cannot be read.
std::string ReadFile(const std::string& path);

const Variable& VariableNamed(const std::vector<Variable>& variables, std::string_view name);
const Function& FunctionNamed(const Module& module, std::string_view name);

}  // namespace voltcheck::simulator::ptx

#endif  // VOLTCHECK_TESTS_SIMULATOR_PTX_PARSE_H_
