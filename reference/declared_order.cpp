#include "reference/declared_order.h"

#include <cmath>
#include <vector>

#include "reference/arith/half.h"
#include "reference/awq.h"
#include "reference/order_model.h"

namespace voltcheck::reference {
namespace {

using arith::HalfBits;

/// The k that one accumulator takes, ascending.
std::vector<int> RowsOfAccumulator(const DeclaredOrder& order, const SplitRange& range,
                                   int accumulator) {
  std::vector<int> rows;
  const int width = order.interleave == 1 ? range.end - range.begin : order.width;
  for (int k = range.begin; k < range.end; ++k) {
    if ((k - range.begin) / width % order.interleave == accumulator) {
      rows.push_back(k);
    }
  }
  return rows;
}

/// Adds the products of these rows, for all columns, to accumulators that start at +0.
std::vector<float> Accumulate(const DeclaredOrder& order, arith::StepArithmetic step,
                              const std::vector<int>& rows, std::span<const HalfBits> a,
                              const HalfMatrix& weights) {
  const auto n = static_cast<std::size_t>(weights.cols);
  std::vector<float> sum(n, 0.0F);
  if (order.kind == DeclaredOrder::Kind::kFma) {
    for (const int k : rows) {
      const float x = arith::HalfToFloat(a[static_cast<std::size_t>(k)]);
      const auto w = weights.row(k);
      for (std::size_t c = 0; c < n; ++c) {
        sum[c] = std::fma(x, arith::HalfToFloat(w[c]), sum[c]);
      }
    }
    return sum;
  }
  std::vector<HalfBits> input;
  std::vector<HalfBits> columns(n * rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    input.push_back(a[static_cast<std::size_t>(rows[i])]);
    const auto w = weights.row(rows[i]);
    for (std::size_t c = 0; c < n; ++c) {
      columns[c * rows.size() + i] = w[c];
    }
  }
  arith::DotChain(step, input.data(), columns.data(), static_cast<int>(rows.size()), sum.data(),
                  weights.cols, static_cast<int>(rows.size() / 4));
  return sum;
}

}  // namespace

HalfMatrix PredictGemm(const Problem& problem, const Permutation& permutation, Gemm gemm,
                       const HalfMatrix& a, const DeclaredOrder& order, Numerics numerics) {
  const int n = gemm == Gemm::kW13 ? problem.c.w13_n() : problem.c.w2_n();
  const arith::StepArithmetic step = StepArithmeticOf(numerics);
  HalfMatrix out{a.rows, n, std::vector<HalfBits>(static_cast<std::size_t>(a.rows) * n)};
  for (const auto& [expert, rows] : RowsByExpert(permutation)) {
    const HalfMatrix weights = DecodeContract(WeightsOf(problem, expert, gemm));
    for (const std::int32_t row : rows) {
      std::vector<float> total;
      for (int split = 0; split < order.splits; ++split) {
        const SplitRange range = RangeOf(order, split, a.cols);
        std::vector<float> of_range;
        for (int accumulator = 0; accumulator < order.interleave; ++accumulator) {
          const std::vector<float> sum = Accumulate(
              order, step, RowsOfAccumulator(order, range, accumulator), a.row(row), weights);
          if (of_range.empty()) {
            of_range = sum;
            continue;
          }
          for (std::size_t c = 0; c < sum.size(); ++c) {
            of_range[c] += sum[c];
          }
        }
        if (total.empty()) {
          total = of_range;
          continue;
        }
        for (std::size_t c = 0; c < total.size(); ++c) {
          total[c] += of_range[c];
        }
      }
      arith::FloatToHalf(total.data(), out.bits.data() + static_cast<std::ptrdiff_t>(row) * n,
                         total.size());
    }
  }
  return out;
}

}  // namespace voltcheck::reference
