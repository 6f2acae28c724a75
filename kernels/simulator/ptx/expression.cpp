#include "kernels/simulator/ptx/expression.h"

#include <array>
#include <bit>
#include <charconv>
#include <string_view>

#include "kernels/simulator/ptx/limits.h"

namespace voltcheck::simulator::ptx {
namespace {

using Kind = Constant::Kind;

struct Operator {
  std::string_view text;
  int precedence;
};
// C's precedences; a higher number binds tighter.
constexpr std::array<Operator, 18> kOperators = {{{"||", 1},
                                                  {"&&", 2},
                                                  {"|", 3},
                                                  {"^", 4},
                                                  {"&", 5},
                                                  {"==", 6},
                                                  {"!=", 6},
                                                  {"<", 7},
                                                  {">", 7},
                                                  {"<=", 7},
                                                  {">=", 7},
                                                  {"<<", 8},
                                                  {">>", 8},
                                                  {"+", 9},
                                                  {"-", 9},
                                                  {"*", 10},
                                                  {"/", 10},
                                                  {"%", 10}}};

int Precedence(const Cursor& cursor) {
  if (cursor.Peek().kind != Token::Kind::kPunctuation) {
    return 0;
  }
  for (const Operator& candidate : kOperators) {
    if (candidate.text == cursor.Peek().text) {
      return candidate.precedence;
    }
  }
  return 0;
}

Constant Signed(std::uint64_t bits) { return {Kind::kSigned, bits}; }
Constant Double(double value) { return {Kind::kF64, std::bit_cast<std::uint64_t>(value)}; }

bool IsTrue(const Constant& c) { return c.is_float() ? c.AsDouble() != 0 : c.bits != 0; }

class ExpressionParser {
 public:
  explicit ExpressionParser(Cursor& cursor) : cursor_(cursor) {}

  Constant Ternary() {
    const Depth depth(*this);
    const Constant condition = Binary(1);
    if (!cursor_.Try("?")) {
      return condition;
    }
    const Constant yes = Ternary();
    cursor_.Expect(":", "of the conditional expression");
    const Constant no = Ternary();
    return IsTrue(condition) ? yes : no;
  }

  Constant Unary() {
    const Depth depth(*this);
    const Location where = cursor_.Peek().location;
    if (cursor_.Try("+")) {
      return Unary();
    }
    if (cursor_.Try("-")) {
      Constant value = Unary();
      if (value.is_float()) {
        value.bits ^= std::uint64_t{1} << (value.kind == Kind::kF32 ? 31 : 63);
      } else {
        value.bits = 0 - value.bits;
      }
      return value;
    }
    if (cursor_.Try("!")) {
      return Signed(IsTrue(Unary()) ? 0 : 1);
    }
    if (cursor_.Try("~")) {
      Constant value = Unary();
      if (value.is_float()) {
        cursor_.Fail(where, "'~' of a floating-point value", "use an integer");
      }
      value.bits = ~value.bits;
      return value;
    }
    return Primary();
  }

 private:
  /// Counts the nesting of recursive calls while it lives.
  class Depth {
   public:
    explicit Depth(ExpressionParser& parser) : parser_(parser) {
      if (++parser_.depth_ > 2 * kMaxExpressionDepth) {
        parser_.cursor_.Fail(parser_.cursor_.Peek().location, "an expression nested too deeply",
                             "simplify it");
      }
    }
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    ExpressionParser& parser_;
  };

  Constant Binary(int lowest) {
    const Depth depth(*this);
    Constant left = Unary();
    for (int precedence = Precedence(cursor_); precedence >= lowest && precedence > 0;
         precedence = Precedence(cursor_)) {
      const Token operation = cursor_.Take();
      const Constant right = Binary(precedence + 1);
      left = Apply(operation, left, right);
    }
    return left;
  }

  Constant Primary() {
    const Token token = cursor_.Peek();
    switch (token.kind) {
      case Token::Kind::kInteger: {
        cursor_.Take();
        const std::uint64_t value = IntegerValue(cursor_, token);
        const char last = token.text.back();
        const bool is_unsigned = last == 'U' || last == 'u' || (value >> 63) != 0;
        return {is_unsigned ? Kind::kUnsigned : Kind::kSigned, value};
      }
      case Token::Kind::kDecimal: {
        cursor_.Take();
        double value = 0;
        const auto [end, code] =
            std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
        if (code != std::errc()) {
          cursor_.Fail(token.location, "the number " + Quote(token.text) + " is not a double",
                       "write one in range, or its bits as 0d...");
        }
        return Double(value);
      }
      case Token::Kind::kFloat32:
      case Token::Kind::kFloat64: {
        cursor_.Take();
        std::uint64_t bits = 0;
        std::from_chars(token.text.data() + 2, token.text.data() + token.text.size(), bits, 16);
        return {token.kind == Token::Kind::kFloat32 ? Kind::kF32 : Kind::kF64, bits};
      }
      case Token::Kind::kName:
        if (token.text == "WARP_SZ") {
          cursor_.Take();
          return Signed(32);
        }
        break;
      case Token::Kind::kPunctuation:
        if (token.text == "(") {
          cursor_.Take();
          return Parenthesised();
        }
        break;
      default:
        break;
    }
    cursor_.FailExpected("a constant", "write a number or an expression of numbers");
  }

  Constant Parenthesised() {
    if (cursor_.AtWord("s64") || cursor_.AtWord("u64")) {
      const Token type = cursor_.Take();
      cursor_.Expect(")", "after the type of a cast");
      const Constant value = Unary();
      if (value.is_float()) {
        cursor_.Fail(type.location, "a cast of a floating-point value to an integer",
                     "write the integer");
      }
      return {type.text == "s64" ? Kind::kSigned : Kind::kUnsigned, value.bits};
    }
    const Constant value = Ternary();
    cursor_.Expect(")", "at the end of the expression");
    return value;
  }

  Constant Apply(const Token& operation, const Constant& a, const Constant& b) {
    if (operation.text == "&&") {
      return Signed(IsTrue(a) && IsTrue(b) ? 1 : 0);
    }
    if (operation.text == "||") {
      return Signed(IsTrue(a) || IsTrue(b) ? 1 : 0);
    }
    return a.is_float() || b.is_float() ? ApplyFloat(operation, a, b)
                                        : ApplyInteger(operation, a, b);
  }

  Constant ApplyFloat(const Token& operation, const Constant& a, const Constant& b) {
    const auto value = [](const Constant& c) {
      return c.is_float()              ? c.AsDouble()
             : c.kind == Kind::kSigned ? static_cast<double>(static_cast<std::int64_t>(c.bits))
                                       : static_cast<double>(c.bits);
    };
    const double x = value(a);
    const double y = value(b);
    const std::string_view op = operation.text;
    if (op == "+") return Double(x + y);
    if (op == "-") return Double(x - y);
    if (op == "*") return Double(x * y);
    if (op == "/") return Double(x / y);
    if (op == "<") return Signed(x < y);
    if (op == ">") return Signed(x > y);
    if (op == "<=") return Signed(x <= y);
    if (op == ">=") return Signed(x >= y);
    if (op == "==") return Signed(x == y);
    if (op == "!=") return Signed(x != y);
    cursor_.Fail(operation.location, "'" + std::string(op) + "' of floating-point values",
                 "use integers");
  }

  Constant ApplyInteger(const Token& operation, const Constant& a, const Constant& b) {
    const std::string_view op = operation.text;
    const bool shift = op == "<<" || op == ">>";
    const bool is_signed = a.kind == Kind::kSigned && (shift || b.kind == Kind::kSigned);
    const Kind kind = is_signed ? Kind::kSigned : Kind::kUnsigned;
    const std::uint64_t x = a.bits;
    const std::uint64_t y = b.bits;
    const auto sx = static_cast<std::int64_t>(x);
    const auto sy = static_cast<std::int64_t>(y);
    if (op == "+") return {kind, x + y};
    if (op == "-") return {kind, x - y};
    if (op == "*") return {kind, x * y};
    if (op == "&") return {kind, x & y};
    if (op == "|") return {kind, x | y};
    if (op == "^") return {kind, x ^ y};
    if (op == "<<") return {kind, y < 64 ? x << y : 0};
    if (op == ">>") {
      if (is_signed) {
        return {kind, static_cast<std::uint64_t>(sx >> (y < 63 ? y : 63))};
      }
      return {kind, y < 64 ? x >> y : 0};
    }
    if (op == "==") return Signed(x == y);
    if (op == "!=") return Signed(x != y);
    if (op == "<") return Signed(is_signed ? sx < sy : x < y);
    if (op == ">") return Signed(is_signed ? sx > sy : x > y);
    if (op == "<=") return Signed(is_signed ? sx <= sy : x <= y);
    if (op == ">=") return Signed(is_signed ? sx >= sy : x >= y);
    if (y == 0) {
      cursor_.Fail(operation.location, "a division by zero", "use another divisor");
    }
    const bool divides = op == "/";
    if (is_signed && sy == -1) {  // the only quotient that can overflow
      return {kind, divides ? 0 - x : 0};
    }
    if (is_signed) {
      return {kind, static_cast<std::uint64_t>(divides ? sx / sy : sx % sy)};
    }
    return {kind, divides ? x / y : x % y};
  }

  Cursor& cursor_;
  int depth_ = 0;
};

}  // namespace

double Constant::AsDouble() const {
  return kind == Kind::kF32
             ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
             : std::bit_cast<double>(bits);
}

bool AtConstant(const Cursor& cursor) {
  const auto is_number = [](const Token& token) {
    return token.kind == Token::Kind::kInteger || token.kind == Token::Kind::kDecimal ||
           token.kind == Token::Kind::kFloat32 || token.kind == Token::Kind::kFloat64 ||
           (token.kind == Token::Kind::kName && token.text == "WARP_SZ");
  };
  if (cursor.At("-") || cursor.At("+") || cursor.At("!") || cursor.At("~")) {
    const Token& second = cursor.PeekSecond();
    return is_number(second) || second.kind != Token::Kind::kName;
  }
  return is_number(cursor.Peek()) || cursor.At("(");
}

Constant ParseConstant(Cursor& cursor) { return ExpressionParser(cursor).Ternary(); }

Constant ParseConstantUnary(Cursor& cursor) { return ExpressionParser(cursor).Unary(); }

std::int64_t ParseIntegerConstant(Cursor& cursor, const char* what) {
  const Location where = cursor.Peek().location;
  const Constant value = ParseConstant(cursor);
  if (value.is_float()) {
    cursor.Fail(where, std::string(what) + " is a floating-point value", "write an integer");
  }
  return static_cast<std::int64_t>(value.bits);
}

}  // namespace voltcheck::simulator::ptx
