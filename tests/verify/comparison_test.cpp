// The figures of a comparison against naive formulas, and the rules for what is not finite.
#include "verify/comparison.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "reference/arith/half.h"

namespace voltcheck::verify {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint16_t kHalfInfinity = 0x7C00;
constexpr std::uint16_t kHalfMax = 0x7BFF;  // 65504
constexpr std::uint16_t kHalfNaN = 0x7FFF;

struct Sample {
  int rows = 0, cols = 0;
  std::vector<std::uint16_t> got;
  std::vector<double> want, budget;
  Compared view() const { return {rows, cols, got, want, budget}; }
};

// Random finite halves of moderate size, and expectations near them.
Sample RandomSample() {
  Sample s;
  s.rows = *rc::gen::inRange(1, 12);
  s.cols = *rc::gen::inRange(1, 40);
  const auto n = static_cast<std::size_t>(s.rows * s.cols);
  const auto halves = *rc::gen::container<std::vector<std::uint16_t>>(
      n, rc::gen::inRange<std::uint16_t>(0x2000, 0x5000));
  const auto offsets = *rc::gen::container<std::vector<int>>(n, rc::gen::inRange(-100, 100));
  for (std::size_t i = 0; i < n; ++i) {
    s.got.push_back(static_cast<std::uint16_t>(halves[i] ^ ((i % 3 == 0) ? 0x8000 : 0)));
    const double value = arith::HalfToFloat(s.got[i]);
    s.want.push_back(value + offsets[i] * 1e-3);
    s.budget.push_back(0.01 + 0.001 * static_cast<double>(i % 7));
  }
  return s;
}

bool Near(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(1.0, std::abs(b)); }

RC_GTEST_PROP(Comparison, FiguresEqualNaiveFormulas, ()) {
  const Sample s = RandomSample();
  const ComparisonFigures f = Compare(s.view());
  const auto n = s.got.size();
  std::vector<double> diff(n), use(n);
  double got2 = 0, want2 = 0, cross = 0, diff2 = 0, sum = 0, budget2 = 0, use2 = 0, signed_use = 0;
  std::uint64_t over = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double got = arith::HalfToFloat(s.got[i]);
    diff[i] = got - s.want[i];
    use[i] = std::abs(diff[i]) / s.budget[i];
    over += use[i] > 1 ? 1 : 0;
    got2 += got * got;
    want2 += s.want[i] * s.want[i];
    cross += got * s.want[i];
    diff2 += diff[i] * diff[i];
    sum += diff[i];
    budget2 += s.budget[i] * s.budget[i];
    use2 += use[i] * use[i];
    signed_use += diff[i] / s.budget[i];
  }
  const auto count = static_cast<double>(n);
  RC_ASSERT(f.elements == n);
  RC_ASSERT(f.over_budget == over);
  RC_ASSERT(Near(f.rms, std::sqrt(diff2 / count)));
  RC_ASSERT(Near(f.bias, sum / count));
  RC_ASSERT(Near(f.rms_want, std::sqrt(want2 / count)));
  RC_ASSERT(Near(f.cosine, cross / std::sqrt(got2 * want2)));
  RC_ASSERT(Near(f.use_rms, std::sqrt(use2 / count)));
  RC_ASSERT(Near(f.use_mean, signed_use / count));
  RC_ASSERT(Near(f.budget_rms_relative, std::sqrt(budget2 / want2)));
  const auto worst = std::max_element(diff.begin(), diff.end(),
                                      [](double a, double b) { return std::abs(a) < std::abs(b); });
  RC_ASSERT(f.max_abs.magnitude == std::abs(*worst));
  RC_ASSERT(f.max_abs.row * s.cols + f.max_abs.col == worst - diff.begin());
  const auto hottest = std::max_element(use.begin(), use.end());
  RC_ASSERT(f.max_use.magnitude == *hottest);
  RC_ASSERT(f.max_use.row * s.cols + f.max_use.col == hottest - use.begin());
  std::sort(use.begin(), use.end());
  RC_ASSERT(f.use_p50 == use[static_cast<std::size_t>(std::ceil(0.5 * count)) - 1]);
  RC_ASSERT(f.use_p99 == use[static_cast<std::size_t>(std::ceil(0.99 * count)) - 1]);
  RC_ASSERT(f.use_p999 == use[static_cast<std::size_t>(std::ceil(0.999 * count)) - 1]);
}

RC_GTEST_PROP(Comparison, HistogramHoldsEveryElementAtItsDistance, ()) {
  const Sample s = RandomSample();
  const ComparisonFigures f = Compare(s.view());
  RC_ASSERT(std::accumulate(f.ulp_histogram.begin(), f.ulp_histogram.end(), std::uint64_t{0}) ==
            f.elements);
  RC_ASSERT(f.ulp_histogram[0] == f.elements - f.differing);
}

TEST(Comparison, UlpBinsFollowTheirUpperEnds) {
  for (std::size_t bin = 0; bin < kUlpBins - 2; ++bin) {
    const std::int32_t upper = UlpBinUpper(bin);
    const std::uint16_t got = 0x1000;
    const std::vector<double> want{arith::HalfToFloat(static_cast<std::uint16_t>(got + upper))};
    const ComparisonFigures f = Compare({1, 1, {&got, 1}, want, {}});
    EXPECT_EQ(f.ulp_histogram[bin], 1U) << "distance " << upper;
  }
  EXPECT_EQ(UlpBinUpper(kUlpBins - 2), -1);
  EXPECT_EQ(UlpBinUpper(kUlpBins - 1), -1);
}

TEST(Comparison, NonFiniteValuesAreCountedAndNeverAveraged) {
  const std::vector<std::uint16_t> got{0x3C00, kHalfNaN, kHalfInfinity, 0x4000};
  const std::vector<double> want{1.5, 1.0, 2.0, kNaN};
  const std::vector<double> budget{1, 1, 1, 1};
  const ComparisonFigures f = Compare({2, 2, got, want, budget});
  EXPECT_EQ(f.nonfinite_got, 2U);
  EXPECT_EQ(f.nonfinite_want, 1U);
  EXPECT_EQ(f.over_budget, 3U);
  EXPECT_EQ(f.ulp_histogram[kUlpBins - 1], 3U);
  EXPECT_DOUBLE_EQ(f.rms, 0.5);
  EXPECT_DOUBLE_EQ(f.bias, -0.5);
}

TEST(Comparison, OverflowMayBeExcusedWhereTheCaseDeclaresIt) {
  const std::vector<std::uint16_t> got{kHalfInfinity, 0x3C00};
  const std::vector<double> want{kNaN, 1.0};
  const std::vector<double> budget{0.1, 0.1};
  EXPECT_EQ(Compare({1, 2, got, want, budget, true}).over_budget, 1U);
  EXPECT_EQ(Compare({1, 2, got, want, budget, false}).over_budget, 0U);
}

TEST(Comparison, NothingComparedLeavesNoPlace) {
  const ComparisonFigures f = Compare({0, 7, {}, {}, {}});
  EXPECT_EQ(f.elements, 0U);
  EXPECT_EQ(f.max_abs.row, -1);
  EXPECT_EQ(f.cosine, 1);
}

TEST(Comparison, ZeroBudgetAllowsNoDifference) {
  const std::vector<std::uint16_t> got{0x3C00, 0x3C00};
  const std::vector<double> want{1.0, 1.0001};
  const std::vector<double> budget{0, 0};
  const ComparisonFigures f = Compare({1, 2, got, want, budget});
  EXPECT_EQ(f.over_budget, 1U);
  EXPECT_EQ(f.max_use.magnitude, kInfinity);
  EXPECT_EQ(f.max_use.col, 1);
  EXPECT_EQ(f.use_rms, 0) << "the infinite use is counted, not averaged";
}

TEST(WithinBudget, BothSidesOfTheOverflowThresholdAreRight) {
  EXPECT_TRUE(WithinBudget(kHalfInfinity, 65519.0, 16.0));
  EXPECT_TRUE(WithinBudget(kHalfMax, 65519.0, 16.0));
  EXPECT_TRUE(WithinBudget(kHalfInfinity, 1e9, 1.0));
  EXPECT_FALSE(WithinBudget(kHalfInfinity, -1e9, 1.0)) << "the sign must agree";
  EXPECT_FALSE(WithinBudget(kHalfInfinity, 65000.0, 16.0));
  EXPECT_FALSE(WithinBudget(kHalfMax, 1e9, 1.0));
}

TEST(WithinBudget, NaNAgreesOnlyWithNaN) {
  EXPECT_TRUE(WithinBudget(kHalfNaN, kNaN, 0));
  EXPECT_FALSE(WithinBudget(kHalfNaN, 1.0, kInfinity));
  EXPECT_FALSE(WithinBudget(0x3C00, kNaN, kInfinity));
  EXPECT_FALSE(WithinBudget(0x3C00, 1.0, kNaN)) << "a budget that is NaN allows nothing";
}

}  // namespace
}  // namespace voltcheck::verify
