#include "kernels/recipe/expression.h"

#include <algorithm>
#include <array>

#include "fixtures/case/error.h"

namespace voltcheck::recipe {
namespace {

constexpr std::size_t kLongest = 512;
constexpr int kDeepestExpression = 32;
constexpr std::int64_t kLargest = std::int64_t{1} << 62;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

/// Recursive descent, one function for each binding strength.
class ExpressionParser {
 public:
  using Kind = Expression::Kind;

  ExpressionParser(const std::string& where, Expression& expression)
      : where_(where), text_(expression.text_), steps_(expression.steps_) {}

  void Parse() {
    Or();
    Blanks();
    if (at_ != text_.size()) {
      Fail("is not understood from " + Quote(std::string_view{text_}.substr(at_)) + " on");
    }
  }

 private:
  struct Binary {
    std::string_view sign;
    Kind kind;
  };

  [[noreturn]] void Fail(const std::string& what) const {
    throw BadInput(where_, Quote(text_) + " " + what, "see docs/recipe.md");
  }
  void Blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  bool Take(std::string_view sign) {
    Blanks();
    if (std::string_view{text_}.substr(at_, sign.size()) != sign) {
      return false;
    }
    at_ += sign.size();
    return true;
  }
  void Need(std::string_view sign) {
    if (!Take(sign)) {
      Fail("lacks a '" + std::string(sign) + "'");
    }
  }
  void Put(Kind kind) { steps_.push_back({kind, 0, {}}); }

  /// operand (sign operand)*, leftmost first.
  template <std::size_t N>
  void Chain(const std::array<Binary, N>& signs, void (ExpressionParser::*operand)()) {
    (this->*operand)();
    for (bool found = true; found;) {
      found = false;
      for (const Binary& binary : signs) {
        if (Take(binary.sign)) {
          (this->*operand)();
          Put(binary.kind);
          found = true;
          break;
        }
      }
    }
  }
  void Or() { Chain<1>({{{"||", Kind::kOr}}}, &ExpressionParser::And); }
  void And() { Chain<1>({{{"&&", Kind::kAnd}}}, &ExpressionParser::Comparison); }
  void Comparison() {
    Chain<6>({{{"==", Kind::kEqual},
               {"!=", Kind::kUnequal},
               {"<=", Kind::kLessEqual},
               {">=", Kind::kGreaterEqual},
               {"<", Kind::kLess},
               {">", Kind::kGreater}}},
             &ExpressionParser::Sum);
  }
  void Sum() {
    Chain<2>({{{"+", Kind::kAdd}, {"-", Kind::kSubtract}}}, &ExpressionParser::Product);
  }
  void Product() {
    Chain<3>({{{"*", Kind::kMultiply}, {"/", Kind::kDivide}, {"%", Kind::kModulo}}},
             &ExpressionParser::Unary);
  }
  void Unary() {
    if (++depth_ > kDeepestExpression) {
      Fail("is nested deeper than " + std::to_string(kDeepestExpression));
    }
    Blanks();
    if (Take("-")) {
      Unary();
      Put(Kind::kNegate);
    } else if (Take("!")) {
      Unary();
      Put(Kind::kNot);
    } else {
      Primary();
    }
    --depth_;
  }
  void Primary() {
    Blanks();
    if (Take("(")) {
      Or();
      Need(")");
      return;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && (IsDigit(text_[at_]) || IsLetter(text_[at_]))) {
      ++at_;
    }
    const std::string word = text_.substr(begin, at_ - begin);
    if (word.empty()) {
      Fail(at_ == text_.size() ? "ends where a number or a symbol is due"
                               : "has " + Quote(std::string_view{text_}.substr(at_, 1)) +
                                     " where a number or a symbol is due");
    }
    if (IsDigit(word.front())) {
      Number(word);
    } else if (Take("(")) {
      Function(word);
    } else {
      steps_.push_back({Kind::kSymbol, 0, word});
    }
  }
  void Number(const std::string& word) {
    std::int64_t number = 0;
    for (const char c : word) {
      if (!IsDigit(c) || number > (kLargest - 9) / 10) {
        Fail("has a number that is none or too large: " + Quote(word));
      }
      number = 10 * number + (c - '0');
    }
    steps_.push_back({Kind::kNumber, number, {}});
  }
  void Function(const std::string& name) {
    struct Known {
      std::string_view name;
      Kind kind;
      int operands;
    };
    constexpr std::array<Known, 5> kFunctions{{{"ceil", Kind::kCeil, 1},
                                               {"floor", Kind::kFloor, 1},
                                               {"min", Kind::kMin, 2},
                                               {"max", Kind::kMax, 2},
                                               {"if", Kind::kIf, 3}}};
    const auto* known = std::find_if(kFunctions.begin(), kFunctions.end(),
                                     [&](const Known& k) { return k.name == name; });
    if (known == kFunctions.end()) {
      Fail("calls " + Quote(name) + "; there are ceil, floor, min, max and if");
    }
    for (int i = 0; i < known->operands; ++i) {
      if (i > 0) {
        Need(",");
      }
      Or();
    }
    Need(")");
    Put(known->kind);
  }

  const std::string& where_;
  const std::string& text_;
  std::vector<Expression::Step>& steps_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Expression::Expression(const std::string& where, std::string_view text) : text_(text) {
  if (text.size() > kLongest) {
    throw BadInput(where, "an expression of " + std::to_string(text.size()) + " characters",
                   "at most 512");
  }
  ExpressionParser(where, *this).Parse();
}

namespace {

/// numerator / denominator, lowest terms, the denominator positive.
struct Fraction {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
};

__int128 Divisor(__int128 a, __int128 b) {
  a = a < 0 ? -a : a;
  while (b != 0) {
    const __int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a == 0 ? 1 : a;
}

std::int64_t FloorOf(const Fraction& f) {
  const std::int64_t quotient = f.numerator / f.denominator;
  return quotient - (f.numerator % f.denominator < 0 ? 1 : 0);
}

}  // namespace

std::int64_t Expression::Evaluate(const std::string& where, const Symbols& symbols) const {
  const auto fail = [&](const std::string& what) {
    throw BadInput(where, Quote(text_) + " " + what, "see docs/recipe.md");
  };
  const auto make = [&](__int128 numerator, __int128 denominator) {
    if (denominator == 0) {
      fail("divides by zero");
    }
    if (denominator < 0) {
      numerator = -numerator;
      denominator = -denominator;
    }
    const __int128 divisor = Divisor(numerator, denominator);
    numerator /= divisor;
    denominator /= divisor;
    if (numerator > kLargest || numerator < -kLargest || denominator > kLargest) {
      fail("becomes too large");
    }
    return Fraction{static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator)};
  };
  std::vector<Fraction> stack;
  const auto pop = [&] {
    const Fraction top = stack.back();
    stack.pop_back();
    return top;
  };
  for (const Step& step : steps_) {
    if (step.kind == Kind::kNumber) {
      stack.push_back({step.number, 1});
      continue;
    }
    if (step.kind == Kind::kSymbol) {
      const auto found = symbols.find(step.symbol);
      if (found == symbols.end()) {
        fail("has no value here for " + Quote(step.symbol));
      }
      stack.push_back({found->second, 1});
      continue;
    }
    const Fraction b = pop();
    const bool is_unary = step.kind == Kind::kNot || step.kind == Kind::kNegate ||
                          step.kind == Kind::kCeil || step.kind == Kind::kFloor;
    const Fraction a = is_unary ? b : pop();
    // A sum of two products of 62-bit numbers fits 128 bits.
    const __int128 an = a.numerator;
    const __int128 ad = a.denominator;
    const __int128 bn = b.numerator;
    const __int128 bd = b.denominator;
    const __int128 order = an * bd - bn * ad;  // its sign is that of a - b
    switch (step.kind) {
      case Kind::kAdd:
        stack.push_back(make(an * bd + bn * ad, ad * bd));
        break;
      case Kind::kSubtract:
        stack.push_back(make(order, ad * bd));
        break;
      case Kind::kMultiply:
        stack.push_back(make(an * bn, ad * bd));
        break;
      case Kind::kDivide:
        stack.push_back(make(an * bd, ad * bn));
        break;
      case Kind::kModulo: {
        const Fraction quotient = make(an * bd, ad * bn);
        stack.push_back(
            make(an * bd - static_cast<__int128>(FloorOf(quotient)) * bn * ad, ad * bd));
        break;
      }
      case Kind::kEqual:
        stack.push_back({order == 0 ? 1 : 0, 1});
        break;
      case Kind::kUnequal:
        stack.push_back({order != 0 ? 1 : 0, 1});
        break;
      case Kind::kLess:
        stack.push_back({order < 0 ? 1 : 0, 1});
        break;
      case Kind::kLessEqual:
        stack.push_back({order <= 0 ? 1 : 0, 1});
        break;
      case Kind::kGreater:
        stack.push_back({order > 0 ? 1 : 0, 1});
        break;
      case Kind::kGreaterEqual:
        stack.push_back({order >= 0 ? 1 : 0, 1});
        break;
      case Kind::kAnd:
        stack.push_back({an != 0 && bn != 0 ? 1 : 0, 1});
        break;
      case Kind::kOr:
        stack.push_back({an != 0 || bn != 0 ? 1 : 0, 1});
        break;
      case Kind::kNot:
        stack.push_back({bn == 0 ? 1 : 0, 1});
        break;
      case Kind::kNegate:
        stack.push_back({-b.numerator, b.denominator});
        break;
      case Kind::kCeil:
        stack.push_back({-FloorOf({-b.numerator, b.denominator}), 1});
        break;
      case Kind::kFloor:
        stack.push_back({FloorOf(b), 1});
        break;
      case Kind::kMin:
        stack.push_back(order < 0 ? a : b);
        break;
      case Kind::kMax:
        stack.push_back(order < 0 ? b : a);
        break;
      case Kind::kIf: {
        const Fraction condition = pop();
        stack.push_back(condition.numerator != 0 ? a : b);
      } break;
      case Kind::kNumber:
      case Kind::kSymbol:
        break;
    }
  }
  const Fraction result = stack.back();
  if (result.denominator != 1) {
    fail("is " + std::to_string(result.numerator) + "/" + std::to_string(result.denominator) +
         ", which is no whole number");
  }
  return result.numerator;
}

}  // namespace voltcheck::recipe
