// Logit figures against values worked out by hand.
#include "verify/logit_figures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/exponential.h"

namespace voltcheck::verify {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(LogitRow, EqualRowsDifferInNothing) {
  const std::vector<float> row{1, 3, 2, -5, 0, 4, 4};
  const LogitRow r = CompareLogitRow(row, row);
  EXPECT_EQ(r.compared, 7U);
  EXPECT_EQ(r.max_abs, 0);
  EXPECT_EQ(r.base_argmax, 5) << "ties go to the lower column";
  EXPECT_FALSE(r.flipped());
  EXPECT_EQ(r.top_overlap, kTopTokens);
  EXPECT_EQ(r.top_log_probability, 0);
  EXPECT_EQ(r.kl, 0);
}

TEST(LogitRow, AFlippedArgmaxHasItsMarginInTheBase) {
  const LogitRow r =
      CompareLogitRow(std::vector<float>{2.5F, 2, 0}, std::vector<float>{2, 2.125F, 0});
  EXPECT_TRUE(r.flipped());
  EXPECT_EQ(r.base_argmax, 0);
  EXPECT_EQ(r.other_argmax, 1);
  EXPECT_EQ(r.flipped_margin, 0.5);
  EXPECT_EQ(r.max_abs, 0.5);
  EXPECT_EQ(r.max_abs_column, 0);
  EXPECT_EQ(r.sum, -0.375);
  EXPECT_EQ(r.squares, 0.25 + 0.015625);
}

TEST(LogitRow, KlAndLogProbabilitiesOfTwoTokens) {
  // Odds 3 : 1 against 1 : 1.
  const auto log3 = static_cast<float>(std::log(3.0));
  const LogitRow r = CompareLogitRow(std::vector<float>{log3, 0}, std::vector<float>{0, 0});
  EXPECT_NEAR(r.kl, 0.75 * std::log(1.5) + 0.25 * std::log(0.5), 1e-7);
  EXPECT_NEAR(r.top_log_probability, std::log(2.0), 1e-7) << "of the second: 1/4 against 1/2";
}

TEST(LogitRow, ShiftingAllLogitsChangesNoProbability) {
  const LogitRow r =
      CompareLogitRow(std::vector<float>{1000, 1001}, std::vector<float>{-1000, -999});
  EXPECT_EQ(r.kl, 0);
  EXPECT_EQ(r.top_log_probability, 0);
  EXPECT_EQ(r.max_abs, 2000);
}

TEST(LogitRow, TopOverlapCountsCommonTokens) {
  std::vector<float> base(10, 0);
  std::vector<float> other(10, 0);
  for (std::size_t i = 0; i < 5; ++i) {
    base[i] = static_cast<float>(10 - i);
    other[i + 2] = static_cast<float>(10 - i);
  }
  EXPECT_EQ(CompareLogitRow(base, other).top_overlap, 3);
}

TEST(LogitTotals, RowsThatAreNotFiniteAreCountedAndEnterNoMean) {
  LogitTotals totals;
  totals.Add(CompareLogitRow(std::vector<float>{1, 2}, std::vector<float>{1, 2.5F}));
  totals.Add(CompareLogitRow(std::vector<float>{1, kNan}, std::vector<float>{1, 2}));
  totals.Add(CompareLogitRow(std::vector<float>{1, 2}, std::vector<float>{3, 2}));
  const LogitFigures f = totals.Finish();
  EXPECT_EQ(f.rows, 3U);
  EXPECT_EQ(f.nonfinite_rows, 1U);
  EXPECT_EQ(f.elements, 5U);
  EXPECT_EQ(f.max_abs, 2);
  EXPECT_EQ(f.max_abs_row, 2);
  EXPECT_EQ(f.argmax_equal, 1U);
  EXPECT_EQ(f.first_flip, 2);
  EXPECT_EQ(f.flipped_margin, 1);
  EXPECT_EQ(f.top_overlap, 1) << "a vocabulary of two has two top tokens";
  EXPECT_DOUBLE_EQ(f.bias, 2.5 / 5);
  EXPECT_GT(f.kl_max, 0);
  EXPECT_EQ(f.kl_p99, f.kl_max);
  EXPECT_LT(f.kl_median, f.kl_max);
}

TEST(LogitTotals, NoRowGivesNoFigures) {
  const LogitFigures f = LogitTotals().Finish();
  EXPECT_EQ(f.rows, 0U);
  EXPECT_EQ(f.max_abs_row, -1);
  EXPECT_EQ(f.first_flip, -1);
}

TEST(Log, WithinTwoUlpOfTheLibrary) {
  for (int i = 1; i < 40000; ++i) {
    const double x = std::ldexp(1 + 0.00173 * (i % 577), i % 120 - 60);
    const double want = std::log(x);
    EXPECT_NEAR(reference::Log(x), want, 0x1p-51 * std::abs(want) + 0x1p-54) << x;
  }
  EXPECT_EQ(reference::Log(1), 0);
  EXPECT_TRUE(std::isinf(reference::Log(0)));
  EXPECT_TRUE(std::isnan(reference::Log(std::nan(""))));
}

}  // namespace
}  // namespace voltcheck::verify
