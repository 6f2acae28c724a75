// The loop over the columns is compiled once per instruction set; Highway picks one at run time. No
// operation is fused or reordered, so all of them give the same bits.
#include "reference/running_bound.h"

#include <algorithm>
#include <cmath>

#include "reference/rounding_error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/running_bound.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace voltcheck::reference::HWY_NAMESPACE {
namespace {

// What the four products of one step add up to in one column.
struct StepSums {
  double product = 0;    // sum of a w
  double magnitude = 0;  // sum of (|a| + uncertainty) |w|
  double spread = 0;     // sum of uncertainty |w|
  double exponent = 0;   // largest 2^(ea + ew)
};

template <bool kSoftware>
void StepColumns(double cut, double chain, const StepInput& a, const StepWeights& w,
                 double* HWY_RESTRICT sums, double* HWY_RESTRICT errors,
                 double* HWY_RESTRICT spreads) {
  for (std::size_t n = 0; n < kBlockColumns; ++n) {
    StepSums step;
    for (std::size_t i = 0; i < 4; ++i) {
      const double weight = w.value[i][n];
      const double absolute = std::fabs(weight);
      step.product += a.value[i] * weight;
      step.magnitude += (std::fabs(a.value[i]) + a.uncertainty[i]) * absolute;
      step.spread += a.uncertainty[i] * absolute;
      step.exponent = std::max(step.exponent, a.exponent[i] * w.exponent[i][n]);
    }
    // |C| of the kernel is at most the exact partial sum plus everything it may be off by.
    const double before = std::fabs(sums[n]) + spreads[n] + errors[n];
    const double sum = sums[n] + step.product;
    const double spread = spreads[n] + step.spread;
    double error = errors[n] + 0x1p-50 * (before + step.magnitude);  // fp64's own roundings
    if constexpr (kSoftware) {
      error += chain * step.magnitude;
      error += FloatRoundingError(std::fabs(sum) + spread + error);
    } else {
      error += cut * std::max(std::max(PowerOfTwoBelow(before), step.exponent), 0x1p-126);
      error += 0x1p-23 * PowerOfTwoBelow(std::fabs(sum) + spread + error);
    }
    sums[n] = sum;
    spreads[n] = spread;
    errors[n] = error;
  }
}

void StepTarget(Numerics numerics, const StepInput& a, const StepWeights& w, double* sums,
                double* errors, double* spreads) {
  if (numerics == Numerics::kSm80Software || numerics == Numerics::kSm90) {
    StepColumns<true>(0, Gamma(a.nonzero - 1), a, w, sums, errors, spreads);
  } else {
    const double cut = (numerics == Numerics::kV100 ? 0x1p-23 : 0x1p-24) * a.nonzero;
    StepColumns<false>(cut, 0, a, w, sums, errors, spreads);
  }
}

}  // namespace
}  // namespace voltcheck::reference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace voltcheck::reference {

HWY_EXPORT(StepTarget);

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
  HWY_DYNAMIC_DISPATCH(StepTarget)
  (numerics, a, w, sum_.data(), error_.data(), spread_.data());
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
#endif  // HWY_ONCE
