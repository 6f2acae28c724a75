// The loops over the columns are compiled once per instruction set; Highway picks one at run time.
// No operation is fused or reordered, so all of them give the same bits.
#include "reference/posterior_step.h"

#include <algorithm>
#include <cmath>

#include "reference/rounding_error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/posterior_step.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef VOLTCHECK_REFERENCE_POSTERIOR_STEP_INPUTS_
#define VOLTCHECK_REFERENCE_POSTERIOR_STEP_INPUTS_
namespace voltcheck::reference {

// What does not depend on the column.
struct PosteriorInput {
  std::array<double, 4> value{};
  std::array<double, 4> exponent{};
  double cut = 0;  // 2^-F of the tensor core
};

}  // namespace voltcheck::reference
#endif

HWY_BEFORE_NAMESPACE();
namespace voltcheck::reference::HWY_NAMESPACE {
namespace {

// Every operation of the software routine is rounded to nearest: half a unit in the last place of
// its own result.
inline double SoftwareError(const PosteriorInput& a, const PosteriorWeights& w, std::size_t n,
                            float after) {
  float sum = static_cast<float>(a.value[0] * w.value[0][n]);  // exact
  double error = 0;
  double any = std::fabs(a.value[0]) * w.exponent[0][n];
  for (std::size_t i = 1; i < 4; ++i) {
    sum += static_cast<float>(a.value[i] * w.value[i][n]);
    error += FloatRoundingError(std::fabs(sum));
    any = std::max(any, std::fabs(a.value[i]) * w.exponent[i][n]);
  }
  error += FloatRoundingError(std::fabs(after));
  return any != 0 ? error : 0;
}

// Of the products and C all but the largest are cut; toward zero moves by less than a unit of the
// result's last place.
inline double TensorCoreError(const PosteriorInput& a, const PosteriorWeights& w, std::size_t n,
                              float before, float result) {
  double largest = 0;
  double products = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const double e = a.exponent[i] * w.exponent[i][n];
    largest = std::max(largest, e);
    products += e != 0 ? 1.0 : 0.0;
  }
  const double c = std::fabs(before);
  largest = std::max(largest, c == 0 ? 0.0 : std::max(PowerOfTwoBelow(c), 0x1p-126));
  const double cut_terms = products - (c == 0 ? 1.0 : 0.0);
  const double after = std::fabs(result);
  const double error = cut_terms * a.cut * largest + 0x1p-23 * PowerOfTwoBelow(after);
  return products > 0 && after <= std::numeric_limits<double>::max() ? error : 0.0;
}

template <bool kSoftware>
void StepColumns(const PosteriorInput& a, const PosteriorWeights& w,
                 const float* HWY_RESTRICT before, const float* HWY_RESTRICT after,
                 double* HWY_RESTRICT exacts, double* HWY_RESTRICT errors) {
  for (std::size_t n = 0; n < kBlockColumns; ++n) {
    double error = errors[n];
    if constexpr (kSoftware) {
      error += SoftwareError(a, w, n, after[n]);
    } else {
      error += TensorCoreError(a, w, n, before[n], after[n]);
    }
    double exact = exacts[n];
    double magnitude = std::fabs(exact);
    for (std::size_t i = 0; i < 4; ++i) {
      const double product = a.value[i] * w.value[i][n];
      exact += product;
      magnitude += std::fabs(product);
    }
    exacts[n] = exact;
    errors[n] = error + 0x1p-50 * magnitude;  // fp64's own roundings
  }
}

void StepErrors(bool software, const PosteriorInput& a, const PosteriorWeights& w,
                const float* before, Trace& trace) {
  const float* after = trace.accumulator.data();
  if (software) {
    StepColumns<true>(a, w, before, after, trace.exact.data(), trace.error.data());
  } else {
    StepColumns<false>(a, w, before, after, trace.exact.data(), trace.error.data());
  }
}

}  // namespace
}  // namespace voltcheck::reference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace voltcheck::reference {
namespace {

double ClampedExponent(double x) {
  return x == 0 ? 0 : std::max(PowerOfTwoBelow(std::fabs(x)), 0x1p-14);
}

}  // namespace

HWY_EXPORT(StepErrors);

PosteriorWeights MakePosteriorWeights(const WeightBlock<float>& block, int step) {
  PosteriorWeights w{};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t n = 0; n < kBlockColumns; ++n) {
      const float value = block(4 * step + static_cast<int>(i), static_cast<int>(n));
      w.halves[n * 4 + i] = arith::FloatToHalf(value);
      w.value[i][n] = value;
      w.exponent[i][n] = ClampedExponent(value);
    }
  }
  return w;
}

void PosteriorStep(arith::StepArithmetic arithmetic, const arith::HalfBits* a,
                   const PosteriorWeights& w, Trace& trace) {
  PosteriorInput input;
  for (std::size_t i = 0; i < 4; ++i) {
    input.value[i] = arith::HalfToFloat(a[i]);
    input.exponent[i] = ClampedExponent(input.value[i]);
  }
  const bool software = arithmetic == arith::StepArithmetic::kSm80Software;
  const arith::DotAddRule& rule =
      arithmetic == arith::StepArithmetic::kV100 ? arith::kV100DotAdd : arith::kSm75DotAdd;
  input.cut = std::ldexp(1.0, -rule.fraction_bits);
  const PerColumn<float> before = trace.accumulator;
  arith::TileStep(arithmetic, a, w.halves.data(), trace.accumulator.data(), 1, kBlockColumns,
                  kBlockColumns);
  HWY_DYNAMIC_DISPATCH(StepErrors)(software, input, w, before.data(), trace);
}

}  // namespace voltcheck::reference
#endif  // HWY_ONCE
