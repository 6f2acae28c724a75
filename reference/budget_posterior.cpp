// The a-posteriori bound of a grouped GEMM: the order-faithful model's own accumulators tell at
// which exponent each step was cut off. All 64 columns of a weight block at once.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "fixtures/case/error.h"
#include "fixtures/case/tactic.h"
#include "reference/arith/fused_dot_add.h"
#include "reference/arith/half.h"
#include "reference/budget.h"
#include "reference/order_model.h"
#include "reference/rounding_error.h"
#include "reference/weight_block.h"

namespace voltcheck::reference {
namespace {

using arith::HalfBits;

constexpr int kStepsPerBlock = kBlockRows / 4;
// Rows that are followed side by side; bounds the memory, not the result.
constexpr std::size_t kRowsTogether = 64;

template <typename T>
using PerColumn = std::array<T, kBlockColumns>;

// The kernel's accumulators after each step, as the order-faithful model has them, the exact values
// of the same sums, and how far the two can be apart.
struct Trace {
  alignas(64) PerColumn<float> accumulator{};
  alignas(64) PerColumn<double> exact{};
  alignas(64) PerColumn<double> error{};
};

// A row's trace through one block of columns: the split under way and the splits before it.
struct SplitTrace {
  Trace split;
  Trace total;
  bool first = true;

  void EndSplit() {
    for (std::size_t n = 0; n < kBlockColumns; ++n) {
      total.accumulator[n] =
          first ? split.accumulator[n] : total.accumulator[n] + split.accumulator[n];
      total.exact[n] += split.exact[n];
      total.error[n] += split.error[n];
      if (!first) {
        total.error[n] += FloatRoundingError(std::fabs(total.accumulator[n])) +
                          0x1p-50 * std::fabs(total.exact[n]);
      }
    }
    first = false;
    split = Trace();
  }
};

// Four rows of a weight block in the forms that a step needs.
struct StepWeights {
  std::array<HalfBits, std::size_t{kBlockColumns} * 4> halves;  // [column, 4]
  std::array<PerColumn<double>, 4> value;
  std::array<PerColumn<double>, 4> exponent;  // 2^e as the tensor core takes it; 0 for zero
};

double ClampedExponent(double x) {
  return x == 0 ? 0 : std::max(PowerOfTwoBelow(std::fabs(x)), 0x1p-14);
}

StepWeights MakeStepWeights(const WeightBlock<float>& block, int step) {
  StepWeights w{};
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

// Every operation of the software routine is rounded to nearest: half a unit in the last place of
// its own result.
void AddSoftwareError(const std::array<double, 4>& a, const StepWeights& w, Trace& trace) {
  for (std::size_t n = 0; n < kBlockColumns; ++n) {
    float sum = static_cast<float>(a[0] * w.value[0][n]);  // exact
    double error = 0;
    bool any = a[0] * w.exponent[0][n] != 0;
    for (std::size_t i = 1; i < 4; ++i) {
      sum += static_cast<float>(a[i] * w.value[i][n]);
      error += FloatRoundingError(std::fabs(sum));
      any = any || a[i] * w.exponent[i][n] != 0;
    }
    error += FloatRoundingError(std::fabs(trace.accumulator[n]));
    trace.error[n] += any ? error : 0;
  }
}

// Of the products and C all but the largest are cut; toward zero moves by less than a unit of the
// result's last place.
void AddTensorCoreError(double cut, const std::array<double, 4>& a, const StepWeights& w,
                        const PerColumn<float>& before, Trace& trace) {
  std::array<double, 4> exponent{};
  for (std::size_t i = 0; i < 4; ++i) {
    exponent[i] = ClampedExponent(a[i]);
  }
  for (std::size_t n = 0; n < kBlockColumns; ++n) {
    double largest = 0;
    double products = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const double e = exponent[i] * w.exponent[i][n];
      largest = std::max(largest, e);
      products += e != 0 ? 1 : 0;
    }
    const double c = std::fabs(before[n]);
    largest = std::max(largest, c == 0 ? 0 : std::max(PowerOfTwoBelow(c), 0x1p-126));
    const double cut_terms = c == 0 ? products - 1 : products;
    const double after = std::fabs(trace.accumulator[n]);
    const double error = cut_terms * cut * largest + 0x1p-23 * PowerOfTwoBelow(after);
    trace.error[n] += products > 0 && std::isfinite(after) ? error : 0;
  }
}

void Step(arith::StepArithmetic arithmetic, const HalfBits* a, const StepWeights& w, Trace& trace) {
  std::array<double, 4> value{};
  for (std::size_t i = 0; i < 4; ++i) {
    value[i] = arith::HalfToFloat(a[i]);
  }
  const PerColumn<float> before = trace.accumulator;
  arith::TileStep(arithmetic, a, w.halves.data(), trace.accumulator.data(), 1, kBlockColumns,
                  kBlockColumns);
  if (arithmetic == arith::StepArithmetic::kSm80Software) {
    AddSoftwareError(value, w, trace);
  } else {
    const arith::DotAddRule& rule =
        arithmetic == arith::StepArithmetic::kV100 ? arith::kV100DotAdd : arith::kSm75DotAdd;
    AddTensorCoreError(std::ldexp(1.0, -rule.fraction_bits), value, w, before, trace);
  }
  for (std::size_t n = 0; n < kBlockColumns; ++n) {
    double magnitude = std::fabs(trace.exact[n]);
    for (std::size_t i = 0; i < 4; ++i) {
      const double product = value[i] * w.value[i][n];
      trace.exact[n] += product;
      magnitude += std::fabs(product);
    }
    trace.error[n] += 0x1p-50 * magnitude;  // fp64's own roundings
  }
}

void Store(const Trace& total, int block, int columns, std::int32_t row, Bounded& out) {
  for (int c = 0; c < kBlockColumns; ++c) {
    const int column = BlockColumn(block, c);
    if (column >= columns) {
      continue;
    }
    const auto n = static_cast<std::size_t>(c);
    out.value(row, column) = total.exact[n];
    // The kernel's last rounding is that of its own fp32 sum, which the model has.
    double& budget = out.budget(row, column);
    budget = total.error[n];
    FinishWithHalfRounding(out.value(row, column), budget);
    const float sum = std::fabs(total.accumulator[n]);
    if (std::isfinite(sum) && budget > 0) {
      budget = std::min(budget, total.error[n] + HalfRoundingError(sum));
    }
  }
}

// The rows of one expert, at most kRowsTogether of them, through the whole of K.
void FollowRows(const AwqMatrix& weights, std::span<const std::int32_t> rows, const HalfMatrix& a,
                const Tactic& tactic, arith::StepArithmetic arithmetic, Bounded& out) {
  BlockDecoder decoder(weights, WeightKind::kContract);
  std::vector<SplitTrace> traces(rows.size() * static_cast<std::size_t>(decoder.blocks()));
  WeightBlock<float> decoded;
  for (int split = 0; split < tactic.splits; ++split) {
    const SplitRange range = SplitRows(tactic, split, weights.k, weights.group);
    for (int k = range.begin; k < range.end; k += kBlockRows) {
      decoder.LoadRows(k);
      for (int block = 0; block < decoder.blocks(); ++block) {
        decoder.Decode(block, decoded);
        for (int step = 0; step < kStepsPerBlock; ++step) {
          const StepWeights w = MakeStepWeights(decoded, step);
          for (std::size_t r = 0; r < rows.size(); ++r) {
            Trace& trace = traces[static_cast<std::size_t>(block) * rows.size() + r].split;
            Step(arithmetic, a.row(rows[r]).data() + k + 4 * step, w, trace);
          }
        }
      }
    }
    for (SplitTrace& trace : traces) {
      trace.EndSplit();
    }
  }
  for (int block = 0; block < decoder.blocks(); ++block) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      Store(traces[static_cast<std::size_t>(block) * rows.size() + r].total, block, weights.n,
            rows[r], out);
    }
  }
}

}  // namespace

Bounded BoundGemmPosterior(const Problem& problem, const Permutation& permutation, Gemm gemm,
                           const HalfMatrix& a, const Tactic& tactic, Numerics numerics) {
  const Case& c = problem.c;
  const int n = gemm == Gemm::kW13 ? c.w13_n() : c.w2_n();
  const std::string why = WhyInfeasible(tactic, a.cols, n, c.shape.group);
  if (!why.empty()) {
    throw BadInput("tactic " + ToString(tactic), why, "choose another tactic");
  }
  const arith::StepArithmetic arithmetic = StepArithmeticOf(numerics);
  Bounded out{Matrix<double>::Zero(a.rows, n), Matrix<double>::Zero(a.rows, n)};
  for (const auto& [expert, rows] : RowsByExpert(permutation)) {
    const AwqMatrix& weights = WeightsOf(problem, expert, gemm);
    for (std::size_t first = 0; first < rows.size(); first += kRowsTogether) {
      const std::size_t count = std::min(kRowsTogether, rows.size() - first);
      FollowRows(weights, std::span(rows).subspan(first, count), a, tactic, arithmetic, out);
    }
  }
  return out;
}

}  // namespace voltcheck::reference
