#ifndef VOLTCHECK_KERNELS_SIMULATOR_PTX_EXPRESSION_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PTX_EXPRESSION_H_

#include <cstdint>

#include "kernels/simulator/ptx/cursor.h"

namespace voltcheck::simulator::ptx {

/// The value of a constant expression. Integers are 64 bits wide, signed or unsigned as in C; a
/// lone 0f literal keeps its 32 bits, every other floating-point value is a double.
struct Constant {
  enum class Kind { kSigned, kUnsigned, kF32, kF64 };
  Kind kind = Kind::kSigned;
  std::uint64_t bits = 0;

  bool is_float() const { return kind == Kind::kF32 || kind == Kind::kF64; }
  /// The value of a floating-point constant.
  double AsDouble() const;
};

/// True when the next token can only begin a constant expression (a number, WARP_SZ, a parenthesis
/// or an operator that is not followed by a register).
bool AtConstant(const Cursor& cursor);

/// Parses a whole expression with C's operators and precedence. Overflow wraps; a shift by 64 or
/// more gives 0 (the sign for a signed right shift). Throws Error for a division by zero and for
/// operators that do not fit their operands.
Constant ParseConstant(Cursor& cursor);

/// Parses one operand of an expression (a literal, a parenthesised expression, unary operators), so
/// that
/// `+` and `-` behind it are left for the caller: `[%rd1+-16]`.
Constant ParseConstantUnary(Cursor& cursor);

/// As ParseConstant, but throws Error unless the value is an integer; `what` names it.
std::int64_t ParseIntegerConstant(Cursor& cursor, const char* what);

}  // namespace voltcheck::simulator::ptx

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PTX_EXPRESSION_H_
