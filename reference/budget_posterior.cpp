// The a-posteriori bound of a grouped GEMM: the order-faithful model's own accumulators tell at
// which exponent each step was cut off. All 64 columns of a weight block at once.
#include <algorithm>
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
#include "reference/posterior_step.h"
#include "reference/rounding_error.h"
#include "reference/weight_block.h"

namespace voltcheck::reference {
namespace {

constexpr int kStepsPerBlock = kBlockRows / 4;
// Rows that are followed side by side; bounds the memory, not the result.
constexpr std::size_t kRowsTogether = 64;

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
          const PosteriorWeights w = MakePosteriorWeights(decoded, step);
          for (std::size_t r = 0; r < rows.size(); ++r) {
            Trace& trace = traces[static_cast<std::size_t>(block) * rows.size() + r].split;
            PosteriorStep(arithmetic, a.row(rows[r]).data() + k + 4 * step, w, trace);
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
