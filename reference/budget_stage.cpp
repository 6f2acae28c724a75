#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/budget.h"
#include "reference/exponential.h"
#include "reference/rounding_error.h"

namespace voltcheck::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An fp32 result that is documented to lie within 2 ulp of the correctly rounded one, relative to
// the exact one.
constexpr double kTwoUlp = 2.5 * 0x1p-23;

struct Quantity {
  double value = 0;
  double uncertainty = 0;
};

// How far silu(gate + d) for |d| <= uncertainty may lie from silu(gate): the slope is at most 1.1
// and changes by at most 1/2 per unit.
double SiluSpread(double gate, double sigmoid, double uncertainty) {
  const double slope = sigmoid * (1 + gate * (1 - sigmoid));
  return std::min(1.1 * uncertainty,
                  std::fabs(slope) * uncertainty + uncertainty * uncertainty / 4);
}

// One element of SiLU * up: value and budget.
void SiluElement(const Quantity& gate, const Quantity& up, double& value, double& budget) {
  const double exponential = Exp(-gate.value);
  const double sigmoid = 1 / (1 + exponential);
  const double silu = gate.value / (1 + exponential);
  value = silu * up.value;
  if (!std::isfinite(gate.uncertainty) || !std::isfinite(up.uncertainty)) {
    budget = kInfinity;
    return;
  }
  // s: expf, the sum with 1, a division, a rounding to half. The absolute term stands for an expf
  // that overflows and for fp32 subnormals.
  const double relative = (kTwoUlp * (1 - sigmoid) + 0x1p-24 + kTwoUlp) * (1 + 0x1p-20);
  double silu_error = SiluSpread(gate.value, sigmoid, gate.uncertainty);
  silu_error += relative * (std::fabs(silu) + silu_error);
  if (gate.value != 0 || gate.uncertainty != 0) {
    silu_error += 0x1p-115;
  }
  if (std::isinf(up.value) && std::isfinite(silu)) {
    // A SiLU that rounds to zero makes NaN of an infinite up, any other one Inf.
    const bool is_zero = std::fabs(silu) + silu_error <= 0x1p-25;
    const bool may_be_zero = std::fabs(silu) - silu_error <= 0x1p-25;
    value = is_zero ? std::numeric_limits<double>::quiet_NaN() : value;
    budget = is_zero == may_be_zero ? 0 : kInfinity;
    return;
  }
  silu_error += HalfRoundingError(std::fabs(silu) + silu_error);
  // The product of the two, which is exact before its own rounding.
  budget = std::fabs(up.value) * silu_error + (std::fabs(silu) + silu_error) * up.uncertainty +
           0x1p-50 * std::fabs(value);
  FinishWithHalfRounding(value, budget);
}

}  // namespace

Bounded BoundSilu(const Matrix<double>& w13, const Matrix<double>* input_budget) {
  const Eigen::Index intermediate = w13.cols() / 2;
  Bounded out{Matrix<double>(w13.rows(), intermediate), Matrix<double>(w13.rows(), intermediate)};
  const auto quantity = [&](Eigen::Index r, Eigen::Index n) {
    const double value = w13(r, n);
    return Quantity{value,
                    input_budget == nullptr ? 0 : UncertaintyOf(value, (*input_budget)(r, n))};
  };
  for (Eigen::Index r = 0; r < w13.rows(); ++r) {
    for (Eigen::Index n = 0; n < intermediate; ++n) {
      SiluElement(quantity(r, n), quantity(r, intermediate + n), out.value(r, n), out.budget(r, n));
    }
  }
  return out;
}

Bounded BoundReduce(const Problem& problem, const Permutation& permutation, const Matrix<double>& y,
                    const Matrix<double>* input_budget) {
  const Shape& shape = problem.c.shape;
  Bounded out{Matrix<double>(shape.tokens, y.cols()), Matrix<double>(shape.tokens, y.cols())};
  for (int t = 0; t < shape.tokens; ++t) {
    for (Eigen::Index n = 0; n < y.cols(); ++n) {
      double value = 0;
      double error = 0;
      double spread = 0;
      for (int j = 0; j < shape.top_k; ++j) {
        const auto slot = static_cast<std::size_t>(t * shape.top_k + j);
        const std::int32_t row = permutation.inverse[slot];
        if (row >= permutation.rows) {
          continue;
        }
        const auto weight = static_cast<double>(problem.topk_weights[slot]);
        value += weight * y(row, n);
        if (input_budget != nullptr) {
          spread += std::fabs(weight) * UncertaintyOf(y(row, n), (*input_budget)(row, n));
        }
        const double magnitude = std::fabs(value) + spread + error;
        error += FloatRoundingError(magnitude) + 0x1p-50 * magnitude;
        if (std::isfinite(value) && magnitude + error >= std::numeric_limits<float>::max()) {
          spread = kInfinity;  // the fp32 sum may overflow on the way
        }
      }
      error += spread;
      const bool unknown = !std::isfinite(spread);
      FinishWithHalfRounding(value, error);
      out.value(t, n) = value;
      out.budget(t, n) = unknown ? kInfinity : error;
    }
  }
  return out;
}

BoundedStage BoundStage(const Problem& problem, const Permutation& permutation,
                        AccumulationOrder order) {
  const Case& c = problem.c;
  BoundedStage stage;
  stage.w13 =
      BoundGemm(problem, permutation, Gemm::kW13, PermutedInput<double>(problem, permutation),
                nullptr, c.w13, c.numerics, order);
  stage.silu = BoundSilu(stage.w13.value, &stage.w13.budget);
  stage.w2 = BoundGemm(problem, permutation, Gemm::kW2, stage.silu.value, &stage.silu.budget, c.w2,
                       c.numerics, order);
  stage.output = BoundReduce(problem, permutation, stage.w2.value, &stage.w2.budget);
  return stage;
}

}  // namespace voltcheck::reference
