#include "kernels/simulator/ptx/lexer.h"

#include <array>

#include "fixtures/case/error.h"
#include "kernels/simulator/ptx/limits.h"

namespace voltcheck::simulator::ptx {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsNameCharacter(char c) { return IsLetter(c) || IsDigit(c) || c == '_' || c == '$'; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f'; }

}  // namespace

void FailAt(const std::string& file, Location location, const std::string& what,
            const std::string& fix) {
  throw BadInput(file + ":" + std::to_string(location.line) + ":" + std::to_string(location.column),
                 what, fix);
}

std::string Quote(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string quoted = "'";
  for (const char c : text.substr(0, kLongest)) {
    quoted += c >= ' ' && c <= '~' ? c : '?';
  }
  return quoted + (text.size() > kLongest ? "...'" : "'");
}

char Lexer::At(std::size_t ahead) const {
  return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
}

void Lexer::Advance(std::size_t count) {
  for (; count > 0 && position_ < text_.size(); --count, ++position_) {
    if (text_[position_] == '\n') {
      ++here_.line;
      here_.column = 1;
    } else {
      ++here_.column;
    }
  }
}

void Lexer::SkipLine() {
  const std::size_t end = text_.find('\n', position_);
  Advance((end == std::string_view::npos ? text_.size() : end) - position_);
}

void Lexer::SkipBlockComment() {
  const std::size_t end = text_.find("*/", position_ + 2);
  if (end == std::string_view::npos) {
    FailAt(file_, here_, "this comment never ends", "close it with '*/'");
  }
  Advance(end + 2 - position_);
}

void Lexer::SkipBlank() {
  while (position_ < text_.size()) {
    if (IsBlank(At(0))) {
      Advance(1);
    } else if ((At(0) == '/' && At(1) == '/') || (At(0) == '@' && At(1) == '@')) {
      SkipLine();
    } else if (At(0) == '/' && At(1) == '*') {
      SkipBlockComment();
    } else {
      return;
    }
  }
}

Token Lexer::Cut(Token::Kind kind, std::size_t skip, std::size_t length) {
  const Token token{kind, text_.substr(position_ + skip, length), here_};
  if (length > kMaxNameLength && kind != Token::Kind::kString) {
    FailAt(file_, here_, "a token of " + std::to_string(length) + " characters",
           "the longest allowed is " + std::to_string(kMaxNameLength));
  }
  Advance(skip + length);
  return token;
}

Token Lexer::Number() {
  auto kind = Token::Kind::kInteger;
  std::size_t length = 0;
  const char prefix = At(0) == '0' ? At(1) : '\0';
  const bool float32 = prefix == 'f' || prefix == 'F';
  if (float32 || prefix == 'd' || prefix == 'D') {
    kind = float32 ? Token::Kind::kFloat32 : Token::Kind::kFloat64;
    length = 2;
    while (IsHexDigit(At(length))) {
      ++length;
    }
    const std::size_t digits = float32 ? 8 : 16;
    if (length != 2 + digits) {
      FailAt(file_, here_,
             "a floating-point pattern with " + std::to_string(length - 2) + " digits",
             "write " + std::to_string(digits) + " hexadecimal digits");
    }
  } else if (prefix == 'x' || prefix == 'X' || prefix == 'b' || prefix == 'B') {
    const bool hex = prefix == 'x' || prefix == 'X';
    length = 2;
    while (hex ? IsHexDigit(At(length)) : At(length) == '0' || At(length) == '1') {
      ++length;
    }
    if (length == 2) {
      FailAt(file_, here_, "a number without digits", "write digits after the prefix");
    }
  } else {
    while (IsDigit(At(length))) {
      ++length;
    }
    if (At(length) == '.') {
      kind = Token::Kind::kDecimal;
      do {
        ++length;
      } while (IsDigit(At(length)));
    }
    if (At(length) == 'e' || At(length) == 'E') {
      std::size_t exponent = length + 1;
      exponent += At(exponent) == '+' || At(exponent) == '-' ? 1 : 0;
      if (IsDigit(At(exponent))) {
        kind = Token::Kind::kDecimal;
        length = exponent;
        while (IsDigit(At(length))) {
          ++length;
        }
      }
    }
  }
  if (kind == Token::Kind::kInteger && (At(length) == 'U' || At(length) == 'u')) {
    ++length;
  }
  if (IsNameCharacter(At(length))) {
    FailAt(file_, here_, "malformed number " + Quote(text_.substr(position_, length + 1)),
           "a number ends before letters");
  }
  return Cut(kind, 0, length);
}

Token Lexer::Word() {
  std::size_t length = 1;
  while (true) {
    if (IsNameCharacter(At(length))) {
      ++length;
    } else if (At(length) == ':' && At(length + 1) == ':' && IsNameCharacter(At(length + 2))) {
      length += 2;
    } else {
      break;
    }
  }
  if (length == 1) {
    FailAt(file_, here_, "a '.' without a word behind it", "write a directive or a modifier");
  }
  return Cut(Token::Kind::kWord, 1, length - 1);
}

Token Lexer::String() {
  std::size_t length = 1;
  while (At(length) != '"') {
    if (position_ + length >= text_.size() || At(length) == '\n') {
      FailAt(file_, here_, "this string never ends", "close it with '\"' on the same line");
    }
    length += At(length) == '\\' && At(length + 1) != '\n' ? 2 : 1;
  }
  const Token token = Cut(Token::Kind::kString, 1, length - 1);
  Advance(1);
  return token;
}

Token Lexer::Next() {
  SkipBlank();
  if (position_ >= text_.size()) {
    return {Token::Kind::kEnd, {}, here_};
  }
  const char c = At(0);
  // `.5` is a number, but the `.2d` of `tex.2d` is a modifier: that one follows its opcode
  // directly.
  const bool fraction =
      c == '.' && IsDigit(At(1)) && (position_ == 0 || !IsNameCharacter(text_[position_ - 1]));
  if (IsDigit(c) || fraction) {
    return Number();
  }
  const bool name_with_sigil = (c == '%' || c == '$') && IsNameCharacter(At(1));
  if (IsLetter(c) || c == '_' || name_with_sigil) {
    std::size_t length = 1;
    while (IsNameCharacter(At(length))) {
      ++length;
    }
    return Cut(Token::Kind::kName, 0, length);
  }
  if (c == '.') {
    return Word();
  }
  if (c == '"') {
    return String();
  }
  static constexpr std::array<std::string_view, 8> kPairs = {
      "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  for (const std::string_view pair : kPairs) {
    if (c == pair[0] && At(1) == pair[1]) {
      return Cut(Token::Kind::kPunctuation, 0, 2);
    }
  }
  if (std::string_view("@!,;:{}()[]<>=+-*/%&|^~?").find(c) != std::string_view::npos) {
    return Cut(Token::Kind::kPunctuation, 0, 1);
  }
  if (c == '#') {
    FailAt(file_, here_, "a preprocessor line", "run the preprocessor first");
  }
  FailAt(file_, here_, "unexpected character " + Quote(std::string_view(&c, 1)),
         "PTX is plain ASCII text");
}

}  // namespace voltcheck::simulator::ptx
