#ifndef VOLTCHECK_KERNELS_SIMULATOR_PTX_OPERAND_PARSER_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PTX_OPERAND_PARSER_H_

#include <string>

#include "kernels/simulator/ptx/cursor.h"
#include "kernels/simulator/ptx/module.h"
#include "kernels/simulator/ptx/module_context.h"
#include "kernels/simulator/ptx/name_scopes.h"

namespace voltcheck::simulator::ptx {

/// Parses the operands of instructions and gives every name the unique one that it stands for.
class OperandParser {
 public:
  OperandParser(Cursor& cursor, const ModuleContext& context, NameScopes& scopes)
      : cursor_(cursor), context_(context), scopes_(scopes) {}

  /// Parses the operands behind an opcode up to the semicolon. `index` is the place of the
  /// instruction in the function's body, for names that are declared further down.
  void ParseAll(Instruction& instruction, std::size_t index);

  /// The unique name of a declared variable or the name of a special register; throws Error for
  /// others.
  std::string ResolveName(const Token& name) const;

 private:
  Operand ParseOperand(const Instruction& instruction, int depth);
  Operand ParseSymbol(const Instruction& instruction, int depth);
  Operand ParseIndexed(const Instruction& instruction, Operand symbol, const Token& name);
  Operand ParseImmediate();
  Operand ParseBracketed(const Instruction& instruction, int depth);
  void ParseElements(Operand& operand, const Instruction& instruction, const char* close,
                     int depth);
  std::int64_t ParseOffset();
  /// Bytes of one element of a declared variable in memory; 0 for anything else.
  std::uint64_t ElementBytes(const std::string& name) const;

  Cursor& cursor_;
  const ModuleContext& context_;
  NameScopes& scopes_;
};

}  // namespace voltcheck::simulator::ptx

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PTX_OPERAND_PARSER_H_
