#include "reference/stage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "fixtures/case/error.h"
#include "reference/arith/half.h"
#include "reference/exponential.h"
#include "reference/rounding.h"
#include "reference/weight_block.h"

namespace voltcheck::reference {
namespace {

// One row of a block's result. Four rows of weights are added per pass over it, in ascending k,
// each product and each sum rounded by itself: a row's result does not depend on the other rows, on
// the instruction set or on a blocking that Eigen would choose by cache size.
template <typename Scalar>
using BlockRow = Eigen::Array<Scalar, 1, kBlockColumns>;

template <typename Scalar>
void MultiplyAdd(const Scalar* a, const WeightBlock<Scalar>& w, BlockRow<Scalar>& sum) {
  static_assert(kBlockRows % 4 == 0);
  for (int k = 0; k < kBlockRows; k += 4) {
    sum = sum + a[k] * w.row(k) + a[k + 1] * w.row(k + 1) + a[k + 2] * w.row(k + 2) +
          a[k + 3] * w.row(k + 3);
  }
}

// Writes a block's row of sums to its columns of `out`.
template <typename Scalar>
void Store(const BlockRow<Scalar>& sum, int block, std::span<Scalar> out) {
  for (int c = 0; c < kBlockColumns; ++c) {
    const auto column = static_cast<std::size_t>(BlockColumn(block, c));
    if (column < out.size()) {
      out[column] = sum(c);
    }
  }
}

// out.row(r) = a.row(r) * weights for the rows in `rows`. An expert's rows come together whatever
// their order in memory, so that its weights are decoded once. `change` is applied to every decoded
// block.
template <typename Scalar, typename Change>
void MultiplyRows(const AwqMatrix& weights, WeightKind kind, std::span<const std::int32_t> rows,
                  const Matrix<Scalar>& a, Matrix<Scalar>& out, const Change& change) {
  BlockDecoder decoder(weights, kind);
  WeightBlock<Scalar> decoded;
  std::vector<BlockRow<Scalar>, Eigen::aligned_allocator<BlockRow<Scalar>>> sums(
      rows.size() * static_cast<std::size_t>(decoder.blocks()), BlockRow<Scalar>::Zero());
  for (int k = 0; k < weights.k; k += kBlockRows) {
    decoder.LoadRows(k);
    auto sum = sums.begin();
    for (int block = 0; block < decoder.blocks(); ++block) {
      decoder.Decode(block, decoded);
      change(decoded);
      for (const std::int32_t row : rows) {
        MultiplyAdd(a.row(row).data() + k, decoded, *sum++);
      }
    }
  }
  auto sum = sums.begin();
  for (int block = 0; block < decoder.blocks(); ++block) {
    for (const std::int32_t row : rows) {
      Store(*sum++, block, std::span(out.row(row).data(), static_cast<std::size_t>(weights.n)));
    }
  }
}

template <typename Scalar>
void RoundToHalf(Matrix<Scalar>& m) {
  std::transform(m.data(), m.data() + m.size(), m.data(),
                 [](Scalar x) { return reference::RoundToHalf(x); });
}

}  // namespace

const AwqMatrix& WeightsOf(const Problem& problem, int expert, Gemm gemm) {
  const ExpertWeights* weights = problem.FindExpert(expert);
  if (weights == nullptr) {
    throw BadInput("expert " + std::to_string(expert), "is named by the router but has no weights",
                   "add its tensors to the problem");
  }
  return gemm == Gemm::kW13 ? weights->w13 : weights->w2;
}

std::vector<ExpertRows> RowsByExpert(const Permutation& permutation) {
  std::vector<std::int32_t> rows(static_cast<std::size_t>(permutation.rows));
  std::iota(rows.begin(), rows.end(), 0);
  const auto expert = [&](std::int32_t row) {
    return permutation.expert[static_cast<std::size_t>(row)];
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::int32_t a, std::int32_t b) { return expert(a) < expert(b); });
  std::vector<ExpertRows> grouped;
  for (const std::int32_t row : rows) {
    if (grouped.empty() || grouped.back().expert != expert(row)) {
      grouped.push_back({expert(row), {}});
    }
    grouped.back().rows.push_back(row);
  }
  return grouped;
}

template <typename Scalar>
Matrix<Scalar> GroupedGemm(const Problem& problem, const Permutation& permutation, Gemm gemm,
                           const Matrix<Scalar>& a, const StageOptions& options) {
  const Case& c = problem.c;
  Matrix<Scalar> out = Matrix<Scalar>::Zero(a.rows(), gemm == Gemm::kW13 ? c.w13_n() : c.w2_n());
  for (const auto& [expert, rows] : RowsByExpert(permutation)) {
    MultiplyRows<Scalar>(WeightsOf(problem, expert, gemm), options.weights, rows, a, out,
                         [](WeightBlock<Scalar>&) {});
  }
  if (options.rounding == Rounding::kContract) {
    RoundToHalf(out);
  }
  return out;
}

Matrix<double> AbsoluteGemm(const Problem& problem, const Permutation& permutation, Gemm gemm,
                            const Matrix<double>& a, double smallest) {
  const Case& c = problem.c;
  Matrix<double> out = Matrix<double>::Zero(a.rows(), gemm == Gemm::kW13 ? c.w13_n() : c.w2_n());
  const auto magnitudes = [smallest](WeightBlock<double>& block) {
    block = (block == 0).select(0.0, block.abs().max(smallest));
  };
  for (const auto& [expert, rows] : RowsByExpert(permutation)) {
    MultiplyRows<double>(WeightsOf(problem, expert, gemm), WeightKind::kContract, rows, a, out,
                         magnitudes);
  }
  return out;
}

template <typename Scalar>
Matrix<Scalar> SiluMul(const Matrix<Scalar>& w13, Rounding rounding) {
  const Eigen::Index intermediate = w13.cols() / 2;
  const auto sigmoid_times = [](Scalar gate) {
    return gate / (1 + static_cast<Scalar>(Exp(static_cast<double>(-gate))));
  };
  const auto gate = w13.leftCols(intermediate);
  const auto up = w13.rightCols(intermediate);
  if (rounding == Rounding::kNone) {
    return gate.unaryExpr(sigmoid_times).cwiseProduct(up);
  }
  const auto round = [](Scalar x) { return reference::RoundToHalf(x); };
  // A product of two halves is exact in Scalar, so this is the half multiply.
  return gate.unaryExpr(sigmoid_times).unaryExpr(round).cwiseProduct(up).unaryExpr(round);
}

template <typename Scalar>
Matrix<Scalar> ReduceRoutes(const Problem& problem, const Permutation& permutation,
                            const Matrix<Scalar>& y, Rounding rounding) {
  const Shape& shape = problem.c.shape;
  Matrix<Scalar> out = Matrix<Scalar>::Zero(shape.tokens, y.cols());
  for (int slot = 0; slot < shape.slots(); ++slot) {
    const std::int32_t row = permutation.inverse[static_cast<std::size_t>(slot)];
    if (row >= permutation.rows) {
      continue;
    }
    const auto weight = static_cast<Scalar>(problem.topk_weights[static_cast<std::size_t>(slot)]);
    auto sum = out.row(slot / shape.top_k);
    for (Eigen::Index n = 0; n < y.cols(); ++n) {
      sum(n) = std::fma(weight, y(row, n), sum(n));
    }
  }
  if (rounding == Rounding::kContract) {
    RoundToHalf(out);
  }
  return out;
}

template <typename Scalar>
Matrix<Scalar> PermutedInput(const Problem& problem, const Permutation& permutation) {
  const Shape& shape = problem.c.shape;
  Matrix<Scalar> input(shape.slots(), shape.hidden);
  for (int row = 0; row < shape.slots(); ++row) {
    const int token = permutation.source[static_cast<std::size_t>(row)] / shape.top_k;
    const std::uint16_t* hidden =
        problem.hidden.data() + static_cast<std::ptrdiff_t>(token) * shape.hidden;
    std::transform(hidden, hidden + shape.hidden, input.row(row).data(),
                   [](arith::HalfBits h) { return static_cast<Scalar>(arith::HalfToFloat(h)); });
  }
  return input;
}

template <typename Scalar>
StageOutputs<Scalar> RunStage(const Problem& problem, const Permutation& permutation,
                              const StageOptions& options) {
  const auto input = PermutedInput<Scalar>(problem, permutation);
  StageOutputs<Scalar> outputs;
  outputs.w13 = GroupedGemm<Scalar>(problem, permutation, Gemm::kW13, input, options);
  outputs.silu = SiluMul<Scalar>(outputs.w13, options.rounding);
  outputs.w2 = GroupedGemm<Scalar>(problem, permutation, Gemm::kW2, outputs.silu, options);
  outputs.output = ReduceRoutes<Scalar>(problem, permutation, outputs.w2, options.rounding);
  return outputs;
}

template Matrix<float> GroupedGemm(const Problem&, const Permutation&, Gemm, const Matrix<float>&,
                                   const StageOptions&);
template Matrix<double> GroupedGemm(const Problem&, const Permutation&, Gemm, const Matrix<double>&,
                                    const StageOptions&);
template Matrix<float> SiluMul(const Matrix<float>&, Rounding);
template Matrix<double> SiluMul(const Matrix<double>&, Rounding);
template Matrix<float> ReduceRoutes(const Problem&, const Permutation&, const Matrix<float>&,
                                    Rounding);
template Matrix<double> ReduceRoutes(const Problem&, const Permutation&, const Matrix<double>&,
                                     Rounding);
template Matrix<float> PermutedInput(const Problem&, const Permutation&);
template Matrix<double> PermutedInput(const Problem&, const Permutation&);
template StageOutputs<float> RunStage(const Problem&, const Permutation&, const StageOptions&);
template StageOutputs<double> RunStage(const Problem&, const Permutation&, const StageOptions&);

}  // namespace voltcheck::reference
