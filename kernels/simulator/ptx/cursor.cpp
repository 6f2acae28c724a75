#include "kernels/simulator/ptx/cursor.h"

#include <charconv>
#include <utility>

#include "kernels/simulator/ptx/limits.h"

namespace voltcheck::simulator::ptx {

Cursor::Cursor(std::string file, std::string_view text) : lexer_(std::move(file), text) {
  next_ = lexer_.Next();
  second_ = lexer_.Next();
}

Token Cursor::Take() {
  const Token taken = next_;
  next_ = second_;
  second_ = lexer_.Next();
  return taken;
}

bool Cursor::At(std::string_view punctuation) const {
  return next_.kind == Token::Kind::kPunctuation && next_.text == punctuation;
}

bool Cursor::AtWord(std::string_view word) const {
  return next_.kind == Token::Kind::kWord && next_.text == word;
}

bool Cursor::Try(std::string_view punctuation) {
  const bool there = At(punctuation);
  if (there) {
    Take();
  }
  return there;
}

bool Cursor::TryWord(std::string_view word) {
  const bool there = AtWord(word);
  if (there) {
    Take();
  }
  return there;
}

void Cursor::Expect(std::string_view punctuation, std::string_view where) {
  if (!Try(punctuation)) {
    FailExpected("'" + std::string(punctuation) + "' " + std::string(where), "add it");
  }
}

Token Cursor::ExpectName(std::string_view what) {
  if (!AtName() || Peek().text == "_") {
    FailExpected(std::string(what), "write a name");
  }
  return Take();
}

std::uint64_t Cursor::ExpectInteger(std::string_view what) {
  if (next_.kind != Token::Kind::kInteger) {
    FailExpected(std::string(what), "write an unsigned integer");
  }
  const Token token = Take();
  return IntegerValue(*this, token);
}

void Cursor::Fail(Location location, const std::string& what, const std::string& fix) const {
  FailAt(file(), location, what, fix);
}

void Cursor::FailExpected(const std::string& what, const std::string& fix) const {
  std::string found = "the end of the file";
  if (!AtEnd()) {
    const bool dotted = next_.kind == Token::Kind::kWord;
    found = Quote((dotted ? "." : "") + std::string(next_.text.substr(0, 64)));
  }
  Fail(next_.location, "expected " + what + " but found " + found, fix);
}

void Cursor::Charge(std::size_t count) {
  nodes_ += count;
  if (nodes_ > kMaxNodes) {
    Fail(next_.location, "the module has more than " + std::to_string(kMaxNodes) + " parts",
         "split it into smaller files");
  }
}

std::uint64_t IntegerValue(const Cursor& cursor, const Token& token) {
  std::string_view digits = token.text;
  if (digits.back() == 'U' || digits.back() == 'u') {
    digits.remove_suffix(1);
  }
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const char prefix = digits[1];
    base = prefix == 'x' || prefix == 'X' ? 16 : prefix == 'b' || prefix == 'B' ? 2 : 8;
    digits.remove_prefix(base == 8 ? 1 : 2);
  }
  std::uint64_t value = 0;
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (code != std::errc() || end != digits.data() + digits.size()) {
    cursor.Fail(token.location, "the number " + Quote(token.text) + " is not a 64-bit integer",
                "write one that fits");
  }
  return value;
}

}  // namespace voltcheck::simulator::ptx
