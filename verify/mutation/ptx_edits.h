#ifndef VOLTCHECK_VERIFY_MUTATION_PTX_EDITS_H_
#define VOLTCHECK_VERIFY_MUTATION_PTX_EDITS_H_

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "verify/mutation/ptx_operators.h"

/// What the operators share: questions about an instruction, and the usual ways to change it.
namespace voltcheck::mutation {

inline bool Is(const ptx::Instruction& i, std::initializer_list<std::string_view> opcodes) {
  return std::find(opcodes.begin(), opcodes.end(), i.opcode) != opcodes.end();
}

inline bool Has(const ptx::Instruction& i, std::string_view modifier) {
  return std::find(i.modifiers.begin(), i.modifiers.end(), modifier) != i.modifiers.end();
}

/// The type that the operation has: its last modifier.
inline std::string_view TypeOf(const ptx::Instruction& i) {
  return i.modifiers.empty() ? std::string_view() : std::string_view(i.modifiers.back());
}

inline bool IsInteger(const ptx::Operand& operand) {
  return operand.kind == ptx::Operand::Kind::kImmediate &&
         operand.immediate == ptx::Operand::Immediate::kInteger;
}

inline Edit With(Edit span, std::string text) {
  span.text = std::move(text);
  return span;
}

/// The fault that writes `text` over a part of an instruction, and says so.
inline PtxFault Replace(const KernelText& kernel, std::size_t instruction, const Edit& span,
                        std::string text) {
  std::string what(kernel.View(kernel.Mnemonic(instruction)));
  what.append(": ")
      .append(kernel.View(span))
      .append(" -> ")
      .append(text.empty() ? "nothing" : text);
  return {instruction, std::move(what), {With(span, std::move(text))}};
}

/// The fault that removes the whole statement.
inline PtxFault Remove(const KernelText& kernel, std::size_t instruction) {
  const Edit statement = kernel.Statement(instruction);
  return {instruction, "without " + std::string(kernel.View(statement)), {With(statement, "")}};
}

}  // namespace voltcheck::mutation

#endif  // VOLTCHECK_VERIFY_MUTATION_PTX_EDITS_H_
