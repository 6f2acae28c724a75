#ifndef VOLTCHECK_KERNELS_SIMULATOR_PTX_LEXER_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PTX_LEXER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "kernels/simulator/ptx/module.h"

namespace voltcheck::simulator::ptx {

/// One token; `text` points into the PTX text.
struct Token {
  enum class Kind {
    kEnd,
    kName,         ///< identifier, with a leading %, $ or _ where written; also the sink `_`
    kWord,         ///< `.word`: directive, type or modifier, text without the dot ("L2::128B")
    kInteger,      ///< decimal, 0x, 0b or octal, with its suffix U
    kDecimal,      ///< 1.5, 2e-3
    kFloat32,      ///< 0f3F800000, text with its prefix
    kFloat64,      ///< 0d3FF0000000000000, text with its prefix
    kString,       ///< text without the quotes, escapes as written
    kPunctuation,  ///< operators of one or two characters
  };
  Kind kind = Kind::kEnd;
  std::string_view text;
  Location location;
};

/// Throws Error (status 2) with the line "FILE:LINE:COLUMN: what; fix".
[[noreturn]] void FailAt(const std::string& file, Location location, const std::string& what,
                         const std::string& fix);

/// A short, printable form of text from the file, quoted, for messages.
std::string Quote(std::string_view text);

/// Cuts PTX text into tokens, one at a time, so its memory does not grow with the file. Comments
/// and the
/// `@@DWARF` lines of old compilers are white space. The text must outlive the lexer and its
/// tokens.
class Lexer {
 public:
  Lexer(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {}
  /// The next token, kEnd for ever at the end. Throws Error at a character that starts no token.
  Token Next();
  const std::string& file() const { return file_; }

 private:
  char At(std::size_t ahead) const;
  void Advance(std::size_t count);
  void SkipBlank();
  void SkipLine();
  void SkipBlockComment();
  Token Cut(Token::Kind kind, std::size_t skip, std::size_t length);
  Token Number();
  Token Word();
  Token String();

  std::string file_;
  std::string_view text_;
  std::size_t position_ = 0;
  Location here_{1, 1};
};

}  // namespace voltcheck::simulator::ptx

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PTX_LEXER_H_
