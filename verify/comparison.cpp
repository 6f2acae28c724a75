#include "verify/comparison.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/arith/half.h"

namespace voltcheck::verify {
namespace {

// From here up a value rounds to infinity in binary16: halfway between 65,504 and 2^16.
constexpr double kHalfOverflow = 65520.0;
constexpr std::size_t kLastFiniteBin = kUlpBins - 3;
constexpr std::size_t kBeyondBin = kUlpBins - 2;
constexpr std::size_t kNonfiniteBin = kUlpBins - 1;

std::size_t UlpBin(std::int32_t distance) {
  const auto magnitude = static_cast<std::uint32_t>(std::abs(distance));
  if (magnitude == 0) {
    return 0;
  }
  // Bin b holds 2^(b-2) < d <= 2^(b-1).
  return std::min<std::size_t>(1 + std::bit_width(magnitude - 1), kBeyondBin);
}

// The value at rank ceil(p * n) of `values`, which is reordered.
double NearestRank(std::vector<double>& values, double p) {
  if (values.empty()) {
    return 0;
  }
  const auto n = static_cast<double>(values.size());
  const auto rank = static_cast<std::size_t>(std::clamp(std::ceil(p * n), 1.0, n)) - 1;
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

// Sums over the elements that are finite on both sides.
struct Sums {
  std::uint64_t finite = 0;
  double diff = 0, diff2 = 0, got2 = 0, want2 = 0, got_want = 0;
  double budget2 = 0, use2 = 0, signed_use = 0;
  std::uint64_t finite_uses = 0;
};

void Finish(const Sums& s, bool has_budget, ComparisonFigures& f) {
  if (s.finite == 0) {
    return;
  }
  const auto n = static_cast<double>(s.finite);
  f.rms = std::sqrt(s.diff2 / n);
  f.bias = s.diff / n;
  f.rms_want = std::sqrt(s.want2 / n);
  if (s.got2 > 0 && s.want2 > 0) {
    f.cosine = s.got_want / (std::sqrt(s.got2) * std::sqrt(s.want2));
  } else {
    f.cosine = s.got2 == s.want2 ? 1 : 0;
  }
  if (!has_budget) {
    return;
  }
  const double budget_rms = std::sqrt(s.budget2 / n);
  if (budget_rms > 0) {
    f.budget_rms_relative =
        f.rms_want > 0 ? budget_rms / f.rms_want : std::numeric_limits<double>::infinity();
  }
  if (s.finite_uses > 0) {
    f.use_rms = std::sqrt(s.use2 / static_cast<double>(s.finite_uses));
    f.use_mean = s.signed_use / static_cast<double>(s.finite_uses);
  }
}

double BudgetUse(double diff, double budget) {
  if (diff == 0) {
    return 0;
  }
  return budget > 0 ? std::abs(diff) / budget : std::numeric_limits<double>::infinity();
}

// From `overflow` up a correct result may also be infinite.
bool IsWithin(double value, double want, double budget, double overflow) {
  if (std::isnan(want) || std::isnan(value)) {
    return std::isnan(want) && std::isnan(value);
  }
  if (std::isinf(value) || std::isinf(want)) {
    const bool may_overflow = std::abs(want) + budget >= overflow;
    return value == want ||
           (std::isinf(value) && may_overflow && std::signbit(value) == std::signbit(want));
  }
  return std::abs(value - want) <= budget;
}

}  // namespace

std::int32_t UlpBinUpper(std::size_t bin) {
  if (bin > kLastFiniteBin) {
    return -1;
  }
  return bin == 0 ? 0 : std::int32_t{1} << (bin - 1);
}

bool WithinBudget(std::uint16_t got, double want, double budget) {
  return IsWithin(arith::HalfToFloat(got), want, budget, kHalfOverflow);
}

bool LogitWithinBudget(float got, double want, double budget) {
  return IsWithin(got, want, budget, std::numeric_limits<double>::infinity());
}

ComparisonFigures Compare(const Compared& c) {
  const std::size_t n = static_cast<std::size_t>(c.rows) * static_cast<std::size_t>(c.cols);
  const bool has_budget = !c.budget.empty();
  const bool is_wide = !c.got_wide.empty();
  assert((is_wide ? c.got_wide.size() : c.got.size()) == n && c.want.size() == n);
  assert(!has_budget || c.budget.size() == n);

  ComparisonFigures f;
  f.elements = n;
  Sums s;
  std::vector<double> uses;
  uses.reserve(has_budget ? n : 0);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint16_t half = is_wide ? arith::FloatToHalf(c.got_wide[i]) : c.got[i];
    const double got = is_wide ? c.got_wide[i] : arith::HalfToFloat(half);
    const double want = c.want[i];
    const double budget = has_budget ? c.budget[i] : 0;
    const std::int32_t ulps = arith::HalfUlpDistance(half, arith::DoubleToHalf(want));
    f.differing += ulps != 0 ? 1 : 0;
    f.nonfinite_got += std::isfinite(got) ? 0 : 1;
    f.nonfinite_want += std::isfinite(want) ? 0 : 1;
    const bool finite = std::isfinite(got) && std::isfinite(want);
    const double overflow = is_wide ? std::numeric_limits<double>::infinity() : kHalfOverflow;
    if (has_budget && (finite || c.judge_nonfinite) && !IsWithin(got, want, budget, overflow)) {
      ++f.over_budget;
    }
    if (!finite) {
      ++f.ulp_histogram[kNonfiniteBin];
      continue;
    }
    ++f.ulp_histogram[UlpBin(ulps)];
    const double diff = got - want;
    const double use = has_budget ? BudgetUse(diff, budget) : 0;
    const auto place = [&](double magnitude) {
      return Extremum{static_cast<int>(i / static_cast<std::size_t>(c.cols)),
                      static_cast<int>(i % static_cast<std::size_t>(c.cols)),
                      got,
                      want,
                      budget,
                      magnitude};
    };
    if (f.max_abs.row < 0 || std::abs(diff) > f.max_abs.magnitude) {
      f.max_abs = place(std::abs(diff));
    }
    ++s.finite;
    s.diff += diff;
    s.diff2 += diff * diff;
    s.got2 += got * got;
    s.want2 += want * want;
    s.got_want += got * want;
    if (!has_budget) {
      continue;
    }
    if (f.max_use.row < 0 || use > f.max_use.magnitude) {
      f.max_use = place(use);
    }
    s.budget2 += budget * budget;
    uses.push_back(use);
    if (std::isfinite(use)) {
      ++s.finite_uses;
      s.use2 += use * use;
      s.signed_use += std::copysign(use, diff);
    }
  }
  Finish(s, has_budget, f);
  f.use_p999 = NearestRank(uses, 0.999);
  f.use_p99 = NearestRank(uses, 0.99);
  f.use_p50 = NearestRank(uses, 0.5);
  return f;
}

}  // namespace voltcheck::verify
