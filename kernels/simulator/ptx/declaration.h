#ifndef VOLTCHECK_KERNELS_SIMULATOR_PTX_DECLARATION_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PTX_DECLARATION_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/simulator/ptx/cursor.h"
#include "kernels/simulator/ptx/module.h"
#include "kernels/simulator/ptx/module_context.h"

namespace voltcheck::simulator::ptx {

/// The state space that a directive declares (`.reg`, `.shared`, ...), if it is one.
std::optional<StateSpace> FindSpace(std::string_view word);
/// The type that a word names (`.b32`, `.pred`, ...), if it is one.
std::optional<Type> FindType(std::string_view word);

/// Skips `(.managed)` or `(.unified(1, 2))` behind `.attribute`. Returns whether it says .managed.
bool SkipAttribute(Cursor& cursor);

/// What stands before the names of a declaration: `.align 8 .v2 .f32`, `.u64 .ptr .global .align
/// 16`.
struct Specifiers {
  StateSpace space = StateSpace::kRegister;
  Type type = Type::kB32;
  std::uint32_t vector = 1;
  std::uint32_t alignment = 1;  ///< as written, else the natural one of the type
  bool managed = false;         ///< .attribute(.managed)
};

/// Parses the words behind the state space, up to the first name.
Specifiers ParseSpecifiers(Cursor& cursor, StateSpace space);

/// A variable and the dimensions of its array; an open first dimension (`a[]`) is 0.
struct Declarator {
  Variable variable;
  std::vector<std::uint64_t> dimensions;
};

/// Parses a name with its dimensions: `a`, `a[4][2]`, `a[]`. `_` is a name only where `unnamed`
/// allows.
Declarator ParseDeclarator(Cursor& cursor, const Specifiers& specifiers, bool unnamed);

/// Parses `%r<8>` or one plain name into register variables, charging the module's budget of
/// registers.
std::vector<Variable> ParseRegisters(Cursor& cursor, const Specifiers& specifiers,
                                     ModuleContext& context);

/// Parses `(.param .b64 a, .reg .b32 b)`, the parenthesis included.
std::vector<Variable> ParseParameters(Cursor& cursor, bool unnamed);

/// Parses what follows `=` and fills the variable: its bytes, its relocations, and its size when
/// its first dimension is open. Notes symbols in the context, to be checked at the end of the
/// module.
void ParseInitialiser(Cursor& cursor, Declarator& declarator, ModuleContext& context);

}  // namespace voltcheck::simulator::ptx

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PTX_DECLARATION_H_
