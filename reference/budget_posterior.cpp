#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "fixtures/case/error.h"
#include "fixtures/case/tactic.h"
#include "reference/arith/fused_dot_add.h"
#include "reference/arith/half.h"
#include "reference/budget.h"
#include "reference/order_model.h"
#include "reference/rounding_error.h"

namespace voltcheck::reference {
namespace {

using arith::HalfBits;
using Four = std::span<const HalfBits, 4>;

// The kernel's accumulator after each step, as the order-faithful model has it, the exact value of
// the same sum, and how far the two can be apart.
struct Trace {
  float accumulator = 0;
  double exact = 0;
  double error = 0;
};

int NonzeroProducts(Four a, Four w) {
  int count = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    count += (a[i] & 0x7FFF) != 0 && (w[i] & 0x7FFF) != 0 ? 1 : 0;
  }
  return count;
}

// Every operation of the software routine is rounded to nearest: half a unit in the last place of
// its own result.
double SoftwareStepError(Four a, Four w, float result) {
  double error = 0;
  float sum = arith::HalfToFloat(a[0]) * arith::HalfToFloat(w[0]);  // exact
  for (std::size_t i = 1; i < 4; ++i) {
    sum += arith::HalfToFloat(a[i]) * arith::HalfToFloat(w[i]);
    error += FloatRoundingError(std::fabs(sum));
  }
  return error + FloatRoundingError(std::fabs(result));
}

void Step(arith::StepArithmetic arithmetic, Four a, Four w, Trace& trace) {
  double magnitude = std::fabs(trace.exact);
  for (std::size_t i = 0; i < 4; ++i) {
    const double product = static_cast<double>(arith::HalfToFloat(a[i])) * arith::HalfToFloat(w[i]);
    trace.exact += product;
    magnitude += std::fabs(product);
  }
  const int products = NonzeroProducts(a, w);
  const float before = trace.accumulator;
  if (arithmetic == arith::StepArithmetic::kSm80Software) {
    trace.accumulator = arith::SoftwareDotAdd(a, w, before);
    trace.error += products == 0 ? 0 : SoftwareStepError(a, w, trace.accumulator);
  } else {
    const arith::DotAddRule& rule =
        arithmetic == arith::StepArithmetic::kV100 ? arith::kV100DotAdd : arith::kSm75DotAdd;
    trace.accumulator = arith::FusedDotAdd(rule, a, w, before);
    if (products > 0 && std::isfinite(trace.accumulator)) {
      // Of the products and C at least the largest is not cut off.
      const int cut_terms = before == 0 ? products - 1 : products;
      const int exponent = arith::DotAddExponent(a, w, before) - rule.fraction_bits;
      // Toward zero moves by less than a unit of the result's last place.
      trace.error +=
          std::ldexp(cut_terms, exponent) + 0x1p-23 * PowerOfTwoBelow(std::fabs(trace.accumulator));
    }
  }
  trace.error += 0x1p-50 * magnitude;  // fp64's own roundings
}

}  // namespace

Bounded BoundGemmPosterior(const Problem& problem, const Permutation& permutation, Gemm gemm,
                           const HalfMatrix& a, const Tactic& tactic, Numerics numerics) {
  const Case& c = problem.c;
  const int k = a.cols;
  const int n = gemm == Gemm::kW13 ? c.w13_n() : c.w2_n();
  const std::string why = WhyInfeasible(tactic, k, n, c.shape.group);
  if (!why.empty()) {
    throw BadInput("tactic " + ToString(tactic), why, "choose another tactic");
  }
  const arith::StepArithmetic arithmetic = StepArithmeticOf(numerics);
  Bounded out{Matrix<double>::Zero(a.rows, n), Matrix<double>::Zero(a.rows, n)};
  for (const auto& [expert, rows] : RowsByExpert(permutation)) {
    const HalfMatrix weights = DecodeContract(WeightsOf(problem, expert, gemm));
    for (const std::int32_t row : rows) {
      for (int column = 0; column < n; ++column) {
        Trace total;
        for (int split = 0; split < tactic.splits; ++split) {
          const SplitRange range = SplitRows(tactic, split, k, c.shape.group);
          Trace trace;
          for (int at = range.begin; at < range.end; at += 4) {
            std::array<HalfBits, 4> w{};
            for (int i = 0; i < 4; ++i) {
              w[static_cast<std::size_t>(i)] =
                  weights.row(at + i)[static_cast<std::size_t>(column)];
            }
            const Four inputs(a.row(row).data() + at, 4);
            Step(arithmetic, inputs, Four(w), trace);
          }
          total.accumulator =
              split == 0 ? trace.accumulator : total.accumulator + trace.accumulator;
          total.exact += trace.exact;
          total.error += trace.error;
          if (split > 0) {
            total.error +=
                FloatRoundingError(std::fabs(total.accumulator)) + 0x1p-50 * std::fabs(total.exact);
          }
        }
        out.value(row, column) = total.exact;
        // The kernel's last rounding is that of its own fp32 sum, which the model has.
        double& budget = out.budget(row, column);
        budget = total.error;
        FinishWithHalfRounding(out.value(row, column), budget);
        if (std::isfinite(total.accumulator) && budget > 0) {
          budget = std::min(budget, total.error + HalfRoundingError(std::fabs(total.accumulator)));
        }
      }
    }
  }
  return out;
}

}  // namespace voltcheck::reference
