#ifndef VOLTCHECK_KERNELS_SIMULATOR_PTX_CURSOR_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PTX_CURSOR_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "kernels/simulator/ptx/lexer.h"

namespace voltcheck::simulator::ptx {

/// The parser's place in the token stream: one token of look-ahead beyond the next, expectations
/// that throw Error with a position, and the budget of nodes that keeps a hostile file from growing
/// memory.
class Cursor {
 public:
  Cursor(std::string file, std::string_view text);

  const Token& Peek() const { return next_; }
  const Token& PeekSecond() const { return second_; }
  Token Take();

  bool AtEnd() const { return next_.kind == Token::Kind::kEnd; }
  bool At(std::string_view punctuation) const;
  bool AtWord(std::string_view word) const;
  bool AtName() const { return next_.kind == Token::Kind::kName; }
  /// Takes the token when it is there.
  bool Try(std::string_view punctuation);
  bool TryWord(std::string_view word);
  /// Takes the token or throws; `where` completes "expected ';' ..." ("after the instruction").
  void Expect(std::string_view punctuation, std::string_view where);
  /// Takes a name, `what` says of what: "a kernel name".
  Token ExpectName(std::string_view what);
  /// Takes an unsigned integer literal.
  std::uint64_t ExpectInteger(std::string_view what);

  [[noreturn]] void Fail(Location location, const std::string& what, const std::string& fix) const;
  /// "expected WHAT but found TOKEN" at the next token.
  [[noreturn]] void FailExpected(const std::string& what, const std::string& fix) const;
  /// Charges `count` nodes to the budget.
  void Charge(std::size_t count);

  const std::string& file() const { return lexer_.file(); }

 private:
  Lexer lexer_;
  Token next_;
  Token second_;
  std::size_t nodes_ = 0;
};

/// Value of an integer token; throws Error when it does not fit in 64 bits.
std::uint64_t IntegerValue(const Cursor& cursor, const Token& token);

}  // namespace voltcheck::simulator::ptx

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PTX_CURSOR_H_
