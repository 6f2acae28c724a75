#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "fixtures/case/error.h"
#include "fixtures/case/tactic.h"
#include "reference/budget.h"
#include "reference/rounding_error.h"
#include "reference/running_bound.h"
#include "reference/weight_block.h"

namespace voltcheck::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kStepsPerBlock = kBlockRows / 4;
// Rows that are followed side by side; bounds the memory, not the result.
constexpr std::size_t kRowsTogether = 64;

// The kernel's input as the bound takes it: values and how uncertain each one is.
struct Input {
  const Matrix<double>& value;
  Matrix<double> uncertainty;  // empty: none
  std::vector<bool> unknown;   // rows of which nothing can be said
};

Input MakeInput(const Matrix<double>& a, const Matrix<double>* budget) {
  Input input{a, {}, std::vector<bool>(static_cast<std::size_t>(a.rows()))};
  if (budget == nullptr) {
    return input;
  }
  input.uncertainty = a.binaryExpr(*budget, &UncertaintyOf);
  for (Eigen::Index r = 0; r < a.rows(); ++r) {
    if (!input.uncertainty.row(r).array().isFinite().all()) {
      input.unknown[static_cast<std::size_t>(r)] = true;
      input.uncertainty.row(r).setZero();
    }
  }
  return input;
}

// The rows of one expert, at most kRowsTogether of them, through the whole of K.
class RowsBound {
 public:
  RowsBound(const AwqMatrix& weights, std::span<const std::int32_t> rows, const Input& input)
      : weights_(weights),
        rows_(rows),
        input_(input),
        decoder_(weights, WeightKind::kContract),
        bounds_(rows.size() * static_cast<std::size_t>(decoder_.blocks())) {}

  void Run(const Tactic& tactic, Numerics numerics) {
    for (int split = 0; split < tactic.splits; ++split) {
      const SplitRange range = SplitRows(tactic, split, weights_.k, weights_.group);
      for (int k = range.begin; k < range.end; k += kBlockRows) {
        Follow(k, numerics);
      }
      for (RunningBound& bound : bounds_) {
        bound.EndSplit();
      }
    }
  }

  void Store(Bounded& out) const {
    auto bound = bounds_.begin();
    for (int block = 0; block < decoder_.blocks(); ++block) {
      for (const std::int32_t row : rows_) {
        for (int c = 0; c < kBlockColumns; ++c) {
          const int column = BlockColumn(block, c);
          if (column < weights_.n) {
            const auto i = static_cast<std::size_t>(c);
            double& value = out.value(row, column);
            double& error = out.budget(row, column);
            value = bound->value()[i];
            error = bound->error()[i] + bound->spread()[i];
            FinishWithHalfRounding(value, error);
          }
        }
        ++bound;
      }
    }
  }

 private:
  // Rows [k, k + 32) of the weights, all blocks, all rows of the input.
  void Follow(int k, Numerics numerics) {
    decoder_.LoadRows(k);
    std::vector<StepInput> inputs;
    for (const std::int32_t row : rows_) {
      for (int step = 0; step < kStepsPerBlock; ++step) {
        const Eigen::Index at = k + 4 * step;
        inputs.push_back(MakeStepInput(
            input_.value.row(row).data() + at,
            input_.uncertainty.size() == 0 ? nullptr : input_.uncertainty.row(row).data() + at));
      }
    }
    auto bound = bounds_.begin();
    for (int block = 0; block < decoder_.blocks(); ++block) {
      decoder_.Decode(block, value_);
      exponent_ = value_.unaryExpr(
          [](double w) { return w == 0 ? 0 : std::max(PowerOfTwoBelow(w), 0x1p-14); });
      auto input = inputs.begin();
      for (std::size_t r = 0; r < rows_.size(); ++r, ++bound) {
        for (int step = 0; step < kStepsPerBlock; ++step) {
          StepWeights w{};
          for (int i = 0; i < 4; ++i) {
            w.value[i] = &value_(4 * step + i, 0);
            w.exponent[i] = &exponent_(4 * step + i, 0);
          }
          bound->Step(numerics, *input++, w);
        }
      }
    }
  }

  const AwqMatrix& weights_;
  const std::span<const std::int32_t> rows_;
  const Input& input_;
  BlockDecoder decoder_;
  std::vector<RunningBound> bounds_;  // [blocks, rows]
  WeightBlock<double> value_;
  WeightBlock<double> exponent_;
};

void FollowDeclaredOrder(const Problem& problem, const Permutation& permutation, Gemm gemm,
                         const Input& input, const Tactic& tactic, Numerics numerics,
                         Bounded& out) {
  for (const auto& [expert, rows] : RowsByExpert(permutation)) {
    const AwqMatrix& weights = WeightsOf(problem, expert, gemm);
    for (std::size_t first = 0; first < rows.size(); first += kRowsTogether) {
      const std::size_t count = std::min(kRowsTogether, rows.size() - first);
      RowsBound bound(weights, std::span(rows).subspan(first, count), input);
      bound.Run(tactic, numerics);
      bound.Store(out);
    }
  }
}

// The bound that knows only how many steps there are: every partial sum is at most the sum of all
// magnitudes.
void BoundAnyOrder(const Problem& problem, const Permutation& permutation, Gemm gemm,
                   const Input& input, Numerics numerics, Bounded& out) {
  const bool software = numerics == Numerics::kSm80Software || numerics == Numerics::kSm90;
  const double smallest = software ? 0 : 0x1p-14;
  const auto k = static_cast<int>(input.value.cols());
  const int steps = k / 4;
  constexpr int kMostSplits = 16;
  out.value = GroupedGemm<double>(problem, permutation, gemm, input.value,
                                  {WeightKind::kContract, Rounding::kNone});
  Matrix<double> magnitude = input.value.cwiseAbs();
  Matrix<double> spread = Matrix<double>::Zero(out.value.rows(), out.value.cols());
  if (input.uncertainty.size() != 0) {
    magnitude += input.uncertainty;
    spread = AbsoluteGemm(problem, permutation, gemm, input.uncertainty, 0);
  }
  magnitude =
      magnitude.unaryExpr([smallest](double m) { return m == 0 ? 0 : std::max(m, smallest); });
  magnitude = AbsoluteGemm(problem, permutation, gemm, magnitude, smallest);
  const double cut = numerics == Numerics::kV100 ? 0x1p-23 : 0x1p-24;
  const double accumulation =
      software ? Gamma(3 + steps + kMostSplits) : steps * (4 * cut + 0x1p-23) + Gamma(kMostSplits);
  const double oracle = k * 0x1p-52;
  const double underflow = steps * 4 * cut * 0x1p-126;
  out.budget = spread + (accumulation + oracle) * magnitude;
  for (Eigen::Index r = 0; r < permutation.rows; ++r) {
    for (Eigen::Index n = 0; n < out.value.cols(); ++n) {
      double& error = out.budget(r, n);
      error += error > 0 ? underflow : 0;
      FinishWithHalfRounding(out.value(r, n), error);
    }
  }
}

}  // namespace

Bounded BoundGemm(const Problem& problem, const Permutation& permutation, Gemm gemm,
                  const Matrix<double>& a, const Matrix<double>* input_budget, const Tactic& tactic,
                  Numerics numerics, AccumulationOrder order) {
  const Case& c = problem.c;
  const int n = gemm == Gemm::kW13 ? c.w13_n() : c.w2_n();
  const Input input = MakeInput(a, input_budget);
  Bounded out{Matrix<double>::Zero(a.rows(), n), Matrix<double>::Zero(a.rows(), n)};
  if (order == AccumulationOrder::kDeclared) {
    const std::string why = WhyInfeasible(tactic, static_cast<int>(a.cols()), n, c.shape.group);
    if (!why.empty()) {
      throw BadInput("tactic " + ToString(tactic), why, "choose another tactic");
    }
    FollowDeclaredOrder(problem, permutation, gemm, input, tactic, numerics, out);
  } else {
    BoundAnyOrder(problem, permutation, gemm, input, numerics, out);
  }
  for (int r = 0; r < permutation.rows; ++r) {
    if (input.unknown[static_cast<std::size_t>(r)]) {
      out.budget.row(r).setConstant(kInfinity);
    }
  }
  return out;
}

}  // namespace voltcheck::reference
