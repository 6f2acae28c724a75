#ifndef VOLTCHECK_KERNELS_RECIPE_EXPRESSION_H_
#define VOLTCHECK_KERNELS_RECIPE_EXPRESSION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace voltcheck::recipe {

/// Values of the names in an expression.
using Symbols = std::map<std::string, std::int64_t, std::less<>>;

/// A whole number written as arithmetic over symbols: + - * / %, comparisons (1 or 0), && || !,
/// parentheses, ceil(), floor(), min(a, b), max(a, b), if(condition, a, b). Division is exact: n/64
/// is a fraction until ceil() or floor() makes it whole, and a result that is no whole number is an
/// error. docs/recipe.md has the rules for a user.
class Expression {
 public:
  Expression() = default;
  /// Throws Error (status 2) that begins with `where` for text that is no expression, is longer
  /// than 512 characters or nested deeper than 32.
  Expression(const std::string& where, std::string_view text);

  /// Throws Error (status 2) that begins with `where`: a symbol without a value, a division by
  /// zero, numbers beyond 62 bits, a result that is not whole.
  std::int64_t Evaluate(const std::string& where, const Symbols& symbols) const;

  const std::string& text() const { return text_; }

 private:
  friend class ExpressionParser;
  enum class Kind : std::uint8_t {
    kNumber,
    kSymbol,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kModulo,
    kEqual,
    kUnequal,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kAnd,
    kOr,
    kNot,
    kNegate,
    kCeil,
    kFloor,
    kMin,
    kMax,
    kIf,
  };
  /// Operands before their operation.
  struct Step {
    Kind kind = Kind::kNumber;
    std::int64_t number = 0;
    std::string symbol;
  };
  std::string text_;
  std::vector<Step> steps_;
};

}  // namespace voltcheck::recipe

#endif  // VOLTCHECK_KERNELS_RECIPE_EXPRESSION_H_
