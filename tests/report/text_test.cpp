#include "verify/report/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

namespace voltcheck::report {
namespace {

TEST(Clean, KeepsTextAndReplacesWhatIsNone) {
  EXPECT_EQ(Clean("\xC2\xB5 = 1, \xE2\x82\xAC, \xF0\x9F\x99\x82"),
            "\xC2\xB5 = 1, \xE2\x82\xAC, \xF0\x9F\x99\x82");
  EXPECT_EQ(Clean("a\nb\tc\x7F"), "a b c ");
  const std::string replacement = "\xEF\xBF\xBD";
  EXPECT_EQ(Clean("\xFF"), replacement);
  EXPECT_EQ(Clean("\xC0\x80"), replacement + replacement) << "an overlong NUL";
  EXPECT_EQ(Clean("\xED\xA0\x80"), replacement + replacement + replacement) << "a surrogate";
  EXPECT_EQ(Clean("a\xE2\x80\xAE"
                  "b"),
            "a" + replacement + "b")
      << "an override of direction";
  EXPECT_EQ(Clean("\xEF\xBF\xBF"), replacement) << "no XML character";
  EXPECT_EQ(Clean("\xE2\x82"), replacement + replacement) << "cut off";
  EXPECT_EQ(Clean("abcdefgh", 6), "abcd...");
}

RC_GTEST_PROP(Clean, AnyBytesBecomeOneLineOfBoundedLength, (const std::string& bytes)) {
  const std::string clean = Clean(bytes, 40);
  RC_ASSERT(clean.size() <= 43U);
  for (const char c : clean) {
    RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  }
  RC_ASSERT(Clean(clean, 100) == clean);
}

RC_GTEST_PROP(EscapeMarkup, LeavesNothingThatMarksUp, (const std::string& bytes)) {
  const std::string escaped = EscapeMarkup(bytes);
  RC_ASSERT(escaped.find_first_of("<>\"'") == std::string::npos);
}

TEST(MarkdownCode, FenceIsLongerThanAnyInside) {
  EXPECT_EQ(MarkdownCode("a"), "`a`");
  EXPECT_EQ(MarkdownCode("a`b``c"), "```a`b``c```");
  EXPECT_EQ(MarkdownCode("`a"), "`` `a ``");
}

TEST(CsvField, QuotesAndDefusesFormulas) {
  EXPECT_EQ(CsvField("plain"), "plain");
  EXPECT_EQ(CsvField("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvField("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(CsvField("=HYPERLINK(1)"), "'=HYPERLINK(1)");
  EXPECT_EQ(CsvField("@x"), "'@x");
}

TEST(Wrap, KeepsWordsAndEightyColumns) {
  EXPECT_EQ(Wrap("a b", 0, 2), "a b");
  EXPECT_EQ(Wrap(std::string(50, 'x') + " " + std::string(29, 'y'), 0, 2),
            std::string(50, 'x') + " " + std::string(29, 'y'));
  EXPECT_EQ(Wrap(std::string(50, 'x') + " " + std::string(29, 'y'), 1, 2),
            std::string(50, 'x') + "\n  " + std::string(29, 'y'));
  EXPECT_EQ(Wrap(std::string(90, 'x') + " b", 0, 2), std::string(90, 'x') + "\n  b");
}

TEST(Figures, AreShortAndNameWhatIsNotFinite) {
  EXPECT_EQ(Figure(0.99876), "0.999");
  EXPECT_EQ(Figure(1.0), "1");
  EXPECT_EQ(Figure(std::nan("")), "NaN");
  EXPECT_EQ(Figure(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(Exact(0.1F), "0.100000001");
  EXPECT_EQ(Grouped(1234567), "1,234,567");
  EXPECT_EQ(Grouped(123), "123");
  EXPECT_EQ(Count(1, "case"), "1 case");
  EXPECT_EQ(Count(2, "property", "properties"), "2 properties");
  EXPECT_EQ(Hex(255), "00000000000000ff");
}

}  // namespace
}  // namespace voltcheck::report
