#include "reference/order_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fixtures/case/error.h"
#include "fixtures/case/tactic.h"
#include "reference/arith/half.h"
#include "reference/arith/table_unit.h"
#include "reference/exponential.h"
#include "reference/weight_block.h"

namespace voltcheck::reference {
namespace {

using arith::HalfBits;

// Columns of the contract weights, [N, K]: the order in which a dot product runs through them.
std::vector<HalfBits> ContractColumns(const AwqMatrix& m) {
  BlockDecoder decoder(m, WeightKind::kContract);
  std::vector<HalfBits> columns(static_cast<std::size_t>(m.n) * static_cast<std::size_t>(m.k));
  WeightBlock<float> block;
  for (int k = 0; k < m.k; k += kBlockRows) {
    decoder.LoadRows(k);
    for (int b = 0; b < decoder.blocks(); ++b) {
      decoder.Decode(b, block);
      for (int c = 0; c < kBlockColumns; ++c) {
        const int n = BlockColumn(b, c);
        if (n < m.n) {
          const Eigen::Array<float, kBlockRows, 1> column = block.col(c);
          arith::FloatToHalf(column.data(), &columns[static_cast<std::size_t>(n) * m.k + k],
                             kBlockRows);
        }
      }
    }
  }
  return columns;
}

// SiLU in half for a given value of expf(-gate).
HalfBits SiluHalf(float gate, float exp_minus_gate) {
  return arith::FloatToHalf(gate / (1.0F + exp_minus_gate));
}

// The same with __fdividef: rcp.approx through the table unit, then a multiplication. A divisor is
// at least 1, and beyond 2^126 the unit gives 0 as documented.
HalfBits ApproximateSiluHalf(float gate, float exp_minus_gate) {
  return arith::FloatToHalf(arith::RcpApproxFtz(1.0F + exp_minus_gate) * gate);
}

// nvcc fuses expf's last multiplication into the addition of 1; the scale is a power of two, so
// that changes no bit unless the product leaves the normal range, where 1 absorbs it.
template <typename Silu>
HalfMatrix MapSilu(const HalfMatrix& w13, Silu silu) {
  const int intermediate = w13.cols / 2;
  HalfMatrix out{w13.rows, intermediate, {}};
  out.bits.reserve(static_cast<std::size_t>(w13.rows) * intermediate);
  for (int r = 0; r < w13.rows; ++r) {
    const auto row = w13.row(r);
    for (int i = 0; i < intermediate; ++i) {
      const float gate = arith::HalfToFloat(row[static_cast<std::size_t>(i)]);
      out.bits.push_back(arith::HalfMul(silu(gate, ExpfOfNvcc(-gate)),
                                        row[static_cast<std::size_t>(intermediate + i)]));
    }
  }
  return out;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float TwoUlp(float x, float towards) { return std::nextafter(std::nextafter(x, towards), towards); }

bool IsNan(HalfBits h) { return (h & 0x7FFF) > 0x7C00; }

}  // namespace

arith::StepArithmetic StepArithmeticOf(Numerics numerics) {
  switch (numerics) {
    case Numerics::kV100:
      return arith::StepArithmetic::kV100;
    case Numerics::kSm75:
      return arith::StepArithmetic::kSm75;
    case Numerics::kSm80Software:
    case Numerics::kSm90:
      break;
  }
  return arith::StepArithmetic::kSm80Software;
}

HalfMatrix PredictGemm(const Problem& problem, const Permutation& permutation, Gemm gemm,
                       const HalfMatrix& a, const Tactic& tactic, Numerics numerics) {
  const Case& c = problem.c;
  const int k = a.cols;
  const int n = gemm == Gemm::kW13 ? c.w13_n() : c.w2_n();
  const std::string why = WhyInfeasible(tactic, k, n, c.shape.group);
  if (!why.empty()) {
    throw BadInput("tactic " + ToString(tactic), why, "choose another tactic");
  }
  const arith::StepArithmetic step = StepArithmeticOf(numerics);
  HalfMatrix out{a.rows, n, std::vector<HalfBits>(static_cast<std::size_t>(a.rows) * n)};
  std::vector<float> sum(static_cast<std::size_t>(n));
  std::vector<float> partial(static_cast<std::size_t>(n));
  for (const auto& [expert, rows] : RowsByExpert(permutation)) {
    const std::vector<HalfBits> columns = ContractColumns(WeightsOf(problem, expert, gemm));
    for (const std::int32_t row : rows) {
      for (int split = 0; split < tactic.splits; ++split) {
        const SplitRange range = SplitRows(tactic, split, k, c.shape.group);
        std::fill(partial.begin(), partial.end(), 0.0F);
        arith::DotChain(step, a.row(row).data() + range.begin, columns.data() + range.begin, k,
                        partial.data(), n, (range.end - range.begin) / 4);
        if (split == 0) {
          sum = partial;
        } else {
          std::transform(sum.begin(), sum.end(), partial.begin(), sum.begin(), std::plus<>());
        }
      }
      arith::FloatToHalf(sum.data(), out.bits.data() + static_cast<std::ptrdiff_t>(row) * n,
                         sum.size());
    }
  }
  return out;
}

HalfBits PredictElement(const Problem& problem, const Permutation& permutation, Gemm gemm,
                        const HalfMatrix& a, const Tactic& tactic, Numerics numerics, int row,
                        int column, int kept) {
  const int expert = permutation.expert[static_cast<std::size_t>(row)];
  const AwqMatrix& m = WeightsOf(problem, expert, gemm);
  const HalfMatrix weights = DecodeContract(m);
  std::vector<HalfBits> input(a.row(row).begin(), a.row(row).end());
  std::fill(input.begin() + kept, input.end(), HalfBits{0});
  std::vector<HalfBits> chain(input.size());
  for (int k = 0; k < a.cols; ++k) {
    chain[static_cast<std::size_t>(k)] = weights.row(k)[static_cast<std::size_t>(column)];
  }
  float sum = 0;
  for (int split = 0; split < tactic.splits; ++split) {
    const SplitRange range = SplitRows(tactic, split, a.cols, m.group);
    float partial = 0;
    arith::DotChain(StepArithmeticOf(numerics), input.data() + range.begin,
                    chain.data() + range.begin, a.cols, &partial, 1, (range.end - range.begin) / 4);
    sum = split == 0 ? partial : sum + partial;
  }
  return arith::FloatToHalf(sum);
}

float ExpfOfNvcc(float x) {
  // The instructions that nvcc 11.8 emits: exp(x) = 2^i * 2^w. The bits of 12582913 + floor(252 t)
  // carry i + 1 + 126 in their low byte, which becomes the exponent of the scale.
  const float scaled = std::fma(x, std::bit_cast<float>(0x3BBB989DU), 0.5F);  // x log2(e)/252 + 1/2
  const float t = std::isnan(scaled) ? 0.0F : std::clamp(scaled, 0.0F, 1.0F);  // cvt.sat
  // fma.rm(t, 252, 12582913): the unit in the last place is 1 and the product is exact in double.
  const float shifted = static_cast<float>(12582913.0 + std::floor(252.0 * t));
  const float i = shifted - 12583039.0F;
  float w = std::fma(x, std::bit_cast<float>(0x3FB8AA3BU), -i);
  w = std::fma(x, std::bit_cast<float>(0x32A57060U), w);
  const float scale = std::bit_cast<float>(std::bit_cast<std::uint32_t>(shifted) << 23);
  return arith::Ex2ApproxFtz(w) * scale;
}

HalfMatrix PredictSilu(const HalfMatrix& w13) { return MapSilu(w13, SiluHalf); }

HalfMatrix PredictFusedSilu(const HalfMatrix& w13) { return MapSilu(w13, ApproximateSiluHalf); }

bool SiluAllows(HalfBits gate, HalfBits up, HalfBits got, SiluDivision division) {
  const float g = arith::HalfToFloat(gate);
  // The documented bound counts from the correctly rounded result.
  const auto rounded = static_cast<float>(Exp(-static_cast<double>(g)));
  const auto quotient = [&](float exponential, float towards) {
    const float q = g / (1.0F + exponential);
    return division == SiluDivision::kIeee ? q : TwoUlp(q, towards);
  };
  HalfBits s = arith::FloatToHalf(quotient(TwoUlp(rounded, 0.0F), std::copysign(kInfinity, g)));
  const HalfBits last = arith::FloatToHalf(quotient(TwoUlp(rounded, kInfinity), 0.0F));
  if (IsNan(s) || IsNan(last)) {
    return IsNan(got);
  }
  // SiLU and expf(-gate) move in opposite directions; the halves between the two ends are few.
  const std::int32_t distance = arith::HalfUlpDistance(s, last);
  for (std::int32_t i = 0; i <= std::abs(distance); ++i) {
    if (arith::HalfUlpDistance(arith::HalfMul(s, up), got) == 0) {
      return true;
    }
    // Both ends have gate's sign, so the ordinals between them are neighbouring bit patterns.
    const bool grows = (distance > 0) == ((s & 0x8000) == 0);
    s = static_cast<HalfBits>(grows ? s + 1 : s - 1);
  }
  return false;
}

HalfMatrix PredictReduce(const Problem& problem, const Permutation& permutation,
                         const HalfMatrix& y) {
  const Shape& shape = problem.c.shape;
  HalfMatrix out{shape.tokens, y.cols, {}};
  out.bits.resize(static_cast<std::size_t>(shape.tokens) * y.cols);
  std::vector<float> sum(static_cast<std::size_t>(y.cols));
  for (int t = 0; t < shape.tokens; ++t) {
    std::fill(sum.begin(), sum.end(), 0.0F);
    for (int j = 0; j < shape.top_k; ++j) {
      const auto slot = static_cast<std::size_t>(t * shape.top_k + j);
      const std::int32_t row = permutation.inverse[slot];
      if (row >= permutation.rows) {
        continue;
      }
      for (std::size_t n = 0; n < sum.size(); ++n) {
        sum[n] = std::fma(problem.topk_weights[slot], arith::HalfToFloat(y.row(row)[n]), sum[n]);
      }
    }
    arith::FloatToHalf(sum.data(), out.bits.data() + static_cast<std::ptrdiff_t>(t) * y.cols,
                       sum.size());
  }
  return out;
}

}  // namespace voltcheck::reference
