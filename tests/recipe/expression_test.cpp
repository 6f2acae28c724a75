#include "kernels/recipe/expression.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fixtures/case/error.h"

namespace voltcheck::recipe {
namespace {

std::int64_t Value(const std::string& text, const Symbols& symbols = {}) {
  return Expression("place", text).Evaluate("place", symbols);
}

std::string Complaint(const std::string& text, const Symbols& symbols = {}) {
  try {
    Value(text, symbols);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kBadInput);
    return error.what();
  }
  return "";
}

TEST(Expression, BindsAsArithmeticDoes) {
  EXPECT_EQ(Value("1 + 2 * 3"), 7);
  EXPECT_EQ(Value("(1 + 2) * 3"), 9);
  EXPECT_EQ(Value("10 - 4 - 3"), 3);
  EXPECT_EQ(Value("-2 * -3"), 6);
  EXPECT_EQ(Value("1 + 1 == 2 && 3 < 4 || 0"), 1);
  EXPECT_EQ(Value("!(2 > 1)"), 0);
  EXPECT_EQ(Value("7 % 4 + 1"), 4);
}

TEST(Expression, DividesExactly) {
  EXPECT_EQ(Value("ceil(n / 64)", {{"n", 65}}), 2);
  EXPECT_EQ(Value("floor(n / 64)", {{"n", 127}}), 1);
  EXPECT_EQ(Value("n / 8 * 4", {{"n", 20}}), 10);
  EXPECT_EQ(Value("ceil(-1 / 2)"), 0);
  EXPECT_EQ(Value("floor(-1 / 2)"), -1);
  EXPECT_NE(Complaint("n / 8", {{"n", 20}}).find("is 5/2, which is no whole number"),
            std::string::npos);
}

TEST(Expression, Chooses) {
  EXPECT_EQ(Value("min(3, 5) + max(3, 5)"), 8);
  EXPECT_EQ(Value("if(group == 32, 4, 8)", {{"group", 32}}), 4);
  EXPECT_EQ(Value("if(group == 32, 4, 8)", {{"group", 64}}), 8);
}

struct Bad {
  const char* text;
  const char* why;
};
class BadExpressions : public testing::TestWithParam<Bad> {};
TEST_P(BadExpressions, AreRefusedInOneLine) {
  const std::string line = Complaint(GetParam().text);
  EXPECT_NE(line.find(GetParam().why), std::string::npos) << line;
  EXPECT_EQ(line.rfind("place: ", 0), 0U);
  EXPECT_EQ(line.find('\n'), std::string::npos);
}
INSTANTIATE_TEST_SUITE_P(
    All, BadExpressions,
    testing::Values(Bad{"", "ends where"}, Bad{"1 +", "ends where"}, Bad{"1 2", "not understood"},
                    Bad{"(1", "lacks a ')'"}, Bad{"n", "no value here for 'n'"},
                    Bad{"log(2)", "calls 'log'"}, Bad{"min(1)", "lacks a ','"},
                    Bad{"1 / 0", "divides by zero"}, Bad{"1 % 0", "divides by zero"},
                    Bad{"99999999999999999999", "none or too large"},
                    Bad{"12x", "none or too large"},
                    Bad{"4611686018427387900 * 4611686018427387900", "too large"},
                    Bad{"1\n+$", "not understood"}, Bad{"1 + $", "has '$'"},
                    Bad{"a.b", "not understood"}));

TEST(Expression, IsBounded) {
  EXPECT_NE(Complaint(std::string(600, '1')).find("600 characters"), std::string::npos);
  const std::string deep = std::string(100, '(') + "1" + std::string(100, ')');
  EXPECT_NE(Complaint(deep).find("nested deeper"), std::string::npos);
  EXPECT_NE(Complaint(std::string(200, '-') + "1").find("nested deeper"), std::string::npos);
  EXPECT_EQ(Value("1" +
                  [] {
                    std::string sum;
                    for (int i = 0; i < 100; ++i) {
                      sum += "+1";
                    }
                    return sum;
                  }()),
            101);
}

RC_GTEST_PROP(ExpressionProperty, AgreesWithIntegerArithmetic, ()) {
  const auto a = *rc::gen::inRange<std::int64_t>(-1000000, 1000000);
  const auto b = *rc::gen::inRange<std::int64_t>(1, 100000);
  const Symbols symbols{{"a", a}, {"b", b}};
  const std::int64_t quotient = a / b - (a % b < 0 ? 1 : 0);
  RC_ASSERT(Value("floor(a / b)", symbols) == quotient);
  RC_ASSERT(Value("ceil(a / b)", symbols) == quotient + (a % b != 0 ? 1 : 0));
  RC_ASSERT(Value("a % b", symbols) == a - quotient * b);
  RC_ASSERT(Value("a / b * b", symbols) == a);
}

}  // namespace
}  // namespace voltcheck::recipe
