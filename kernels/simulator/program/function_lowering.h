#ifndef VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_FUNCTION_LOWERING_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_FUNCTION_LOWERING_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fixtures/case/error.h"
#include "kernels/simulator/exec/registry.h"
#include "kernels/simulator/program/lowering.h"
#include "kernels/simulator/program/program.h"
#include "kernels/simulator/program/register_rows.h"
#include "kernels/simulator/ptx/module.h"

namespace voltcheck::simulator {

/// What the functions of one module share while they are translated.
struct ModuleLowering {
  const ptx::Module* module = nullptr;
  const SymbolTable* symbols = nullptr;
  std::uint64_t module_shared_end = 0;
  Program* program = nullptr;
  std::map<std::string, std::uint32_t> function_index;
  std::map<std::pair<std::uint64_t, int>, Ref> constants;  ///< (bits, row width) -> row
  std::map<std::string, std::uint32_t> texts;
  std::map<std::string, std::uint32_t> signatures;

  /// The row that holds `bits` in every lane; width 1 (predicate), 32 or 64.
  Ref Constant(std::uint64_t bits, int width);
  std::uint32_t Text(const std::string& text);
};

/// An address operand: row (64-bit when `wide`), a byte offset, and what the base symbol was.
struct AddressOperand {
  Ref row = kTrue;
  bool wide = true;
  std::int64_t offset = 0;
  bool symbol = false;                               ///< based on a variable, not on a register
  ptx::StateSpace space = ptx::StateSpace::kGlobal;  ///< of that variable
  bool frame_parameter = false;  ///< a .param variable that lives in the lane's frame
};

/// Translates one function; the decoders (decode_*.cpp) drive it. Operand kinds are the letters of
/// OpEntry::pattern: h, w, x, p.
class FunctionLowering {
 public:
  FunctionLowering(ModuleLowering& module, const ptx::Function& function, std::uint32_t index);

  /// Emits the whole body with register numbers in place of rows, then assigns rows to entries.
  /// Device functions wait for FinishFrame, because their frames share one layout.
  void Translate();
  RowCounts counts() const { return rows_.counts; }
  void FinishFrame(const FrameLayout& layout);

  // --- for decoders ---
  const ptx::Instruction& instruction() const { return *instruction_; }
  const ptx::Function& function() const { return function_; }
  ModuleLowering& module() { return module_; }
  Program& program() { return *module_.program; }
  FunctionCode& code() { return module_.program->functions[index_]; }
  bool Has(std::string_view modifier) const;
  std::size_t operand_count() const { return instruction_->operands.size(); }
  const ptx::Operand& operand(std::size_t i) const { return instruction_->operands[i]; }
  /// Throws unless the instruction has between least and most operands.
  void ExpectOperands(std::size_t least, std::size_t most) const;

  Ref Source(const ptx::Operand& operand, char kind);
  Ref Destination(const ptx::Operand& operand, char kind);
  Ref Temporary(char kind);
  /// The carry flag (CC.CF).
  Ref Carry();
  Ref Constant(std::uint64_t bits, char kind);
  std::int64_t Integer(const ptx::Operand& operand) const;
  /// The immediate that an operand is, or that the only write to its register moves there; else
  /// null.
  const ptx::Operand* ImmediateOf(const ptx::Operand& operand) const;
  AddressOperand Address(const ptx::Operand& operand);
  /// 'h', 'w', 'x' or 'p' for a register, 0 for anything else.
  char RegisterKind(const ptx::Operand& operand) const;

  /// Emits an instruction by its registry key. Throws "is not known" when there is none.
  Instr& Emit(const std::string& key, std::initializer_list<Ref> destinations,
              std::initializer_list<Ref> sources);
  Instr& Emit(const OpEntry& entry, const std::vector<Ref>& destinations,
              const std::vector<Ref>& sources);
  /// More than six operands: they go to the pool, destinations first.
  Instr& EmitPooled(const std::string& key, const std::vector<Ref>& destinations,
                    const std::vector<Ref>& sources);
  /// A control instruction; its op[] holds destinations, then sources.
  Control& EmitControl(ControlKind kind, const std::vector<Ref>& destinations,
                       const std::vector<Ref>& sources);
  /// Turns the instruction emitted last into a control instruction that runs its handler.
  Control& MakeControl(ControlKind kind);
  /// A number that instructions with the same text share; kSync instructions meet by it.
  std::uint32_t Signature(const std::string& text);
  /// Emits by table: the registry entry whose key is the instruction as written.
  void EmitByTable(const std::string& key);

  /// Where a branch in Control::target or ::table must go; patched when all labels are known.
  void BranchTo(std::size_t control, const std::string& label);
  void BranchTableTo(std::size_t control, const std::string& label);

  /// Byte offset of a .param variable of this function's frame, kNone when there is none.
  std::uint64_t FrameParameter(const std::string& name) const;

  [[noreturn]] void Fail(const std::string& what, const std::string& fix = "") const;
  [[noreturn]] void FailUnknown() const;

 private:
  struct Register {
    std::uint32_t number;
    char kind;
  };
  struct Patch {
    std::size_t control;
    bool table;
    std::string label;
    const ptx::Instruction* instruction;
  };

  void DeclareVariables();
  void FindConstants();
  void Begin(const ptx::Instruction& instruction);
  Instr& Append(const OpEntry* entry, const std::vector<Ref>& destinations,
                const std::vector<Ref>& sources);
  Ref NewRegister(char kind);
  Ref SymbolSource(const ptx::Operand& operand, char kind);
  Ref LocalBase();
  void NoteShared(const Symbol& symbol);

  ModuleLowering& module_;
  const ptx::Function& function_;
  std::uint32_t index_;
  const ptx::Instruction* instruction_ = nullptr;
  Ref guard_ = kTrue;
  std::unordered_map<std::string, Register> registers_;
  std::vector<RowClass> classes_;
  std::unordered_map<std::string, const ptx::Operand*> constants_;  ///< registers that are one
  std::map<std::string, Symbol> variables_;  ///< local, shared and param variables of the function
  std::map<std::string, std::uint64_t> frame_parameters_;
  Ref local_base_ = kNone;
  Ref carry_ = kNone;
  std::vector<OperandShape> shapes_;
  std::vector<Patch> patches_;
  FlowGraph graph_;
  RowAssignment rows_;
};

/// Decodes one instruction whose modifiers or operands need more than a table.
using Decoder = void (*)(FunctionLowering& lowering);
/// The decoder for an opcode, or null: then the registry's table decides.
Decoder FindDecoder(const std::string& opcode);

/// Splits "%ctaid.x" and friends; 0 kind when the name is no special register with a constant row.
struct SpecialRow {
  char kind = 0;
  Ref row = kTrue;
};
SpecialRow FindSpecialRow(std::string_view name);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_FUNCTION_LOWERING_H_
