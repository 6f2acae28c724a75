#include "reference/running_bound.h"

#include <algorithm>
#include <cmath>

#include "reference/rounding_error.h"

namespace voltcheck::reference {
namespace {

using Values = RunningBound::Values;

// What one step adds up to, column by column.
struct StepSums {
  alignas(64) Values product{};    // sum of a w
  alignas(64) Values magnitude{};  // sum of (|a| + uncertainty) |w|
  alignas(64) Values spread{};     // sum of uncertainty |w|
  alignas(64) Values exponent{};   // largest 2^(ea + ew)
};

void Accumulate(const StepInput& a, const StepWeights& w, StepSums& sums) {
  for (int i = 0; i < 4; ++i) {
    const double value = a.value[static_cast<std::size_t>(i)];
    const double uncertainty = a.uncertainty[static_cast<std::size_t>(i)];
    const double exponent = a.exponent[static_cast<std::size_t>(i)];
    const double magnitude = std::fabs(value) + uncertainty;
    const double* const weights = w.value[i];
    const double* const weight_exponents = w.exponent[i];
    for (std::size_t n = 0; n < kBlockColumns; ++n) {
      const double absolute = std::fabs(weights[n]);
      sums.product[n] += value * weights[n];
      sums.magnitude[n] += magnitude * absolute;
      sums.spread[n] += uncertainty * absolute;
      sums.exponent[n] = std::max(sums.exponent[n], exponent * weight_exponents[n]);
    }
  }
}

}  // namespace

StepInput MakeStepInput(const double* value, const double* uncertainty) {
  StepInput a;
  for (std::size_t i = 0; i < 4; ++i) {
    a.value[i] = value[i];
    a.uncertainty[i] = uncertainty == nullptr ? 0 : uncertainty[i];
    const double magnitude = std::fabs(value[i]) + a.uncertainty[i];
    if (magnitude != 0) {
      a.exponent[i] = std::max(PowerOfTwoBelow(magnitude), 0x1p-14);
      ++a.nonzero;
    }
  }
  return a;
}

void RunningBound::Step(Numerics numerics, const StepInput& a, const StepWeights& w) {
  if (a.nonzero == 0) {
    return;  // D = C
  }
  StepSums step;
  Accumulate(a, w, step);
  const bool software = numerics == Numerics::kSm80Software || numerics == Numerics::kSm90;
  const double cut = (numerics == Numerics::kV100 ? 0x1p-23 : 0x1p-24) * a.nonzero;
  const double chain = Gamma(a.nonzero - 1);
  for (std::size_t n = 0; n < kBlockColumns; ++n) {
    // |C| of the kernel is at most the exact partial sum plus everything it may be off by.
    const double before = std::fabs(sum_[n]) + spread_[n] + error_[n];
    sum_[n] += step.product[n];
    spread_[n] += step.spread[n];
    double error = error_[n] + 0x1p-50 * (before + step.magnitude[n]);  // fp64's own roundings
    if (software) {
      error += chain * step.magnitude[n];
      error += FloatRoundingError(std::fabs(sum_[n]) + spread_[n] + error);
    } else {
      const double largest = std::max({PowerOfTwoBelow(before), step.exponent[n], 0x1p-126});
      error += cut * largest;
      error += 0x1p-23 * PowerOfTwoBelow(std::fabs(sum_[n]) + spread_[n] + error);
    }
    error_[n] = error;
  }
}

void RunningBound::EndSplit() {
  for (std::size_t n = 0; n < kBlockColumns; ++n) {
    total_[n] += sum_[n];
    total_spread_[n] += spread_[n];
    total_error_[n] += error_[n];
    if (!first_split_) {
      const double magnitude = std::fabs(total_[n]) + total_spread_[n] + total_error_[n];
      total_error_[n] += FloatRoundingError(magnitude) + 0x1p-50 * magnitude;
    }
  }
  first_split_ = false;
  sum_.fill(0);
  error_.fill(0);
  spread_.fill(0);
}

}  // namespace voltcheck::reference
