#include "reference/order_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "fixtures/case/error.h"
#include "fixtures/safetensors.h"
#include "reference/arith/half.h"
#include "reference/rounding.h"
#include "test_problem.h"

namespace voltcheck::reference {
namespace {

using arith::DoubleToHalf;
using arith::HalfBits;
using arith::HalfToFloat;

template <typename T>
std::vector<T> Tensor(const fixtures::SafetensorsFile& file, const std::string& name) {
  const auto bytes = file.Get(name).bytes;
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Packs unpacked nibbles [rows, n] in the order of the AWQ format.
std::vector<std::uint32_t> Pack(std::span<const std::uint8_t> nibbles, int n) {
  constexpr int kColumn[] = {0, 2, 4, 6, 1, 3, 5, 7};
  std::vector<std::uint32_t> words(nibbles.size() / 8);
  for (std::size_t w = 0; w < words.size(); ++w) {
    for (int i = 0; i < 8; ++i) {
      words[w] |= std::uint32_t{nibbles[w * 8 + static_cast<std::size_t>(kColumn[i])]} << (4 * i);
    }
  }
  EXPECT_EQ(n % 8, 0);
  return words;
}

// A foreign SM70 library's own kernels on a real GPU: every output bit.
TEST(OrderModel, PredictsEveryBitOfAForeignLibraryOnAnH200) {
  const std::string path = VOLTCHECK_GOLDEN_DIR "/h200/grouped_u4_g32.safetensors";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "NOT TESTED against a real GPU: " << path
                 << " is absent; set VOLTCHECK_GOLDEN_DIR";
  }
  const fixtures::SafetensorsFile file(path);
  constexpr int kExperts = 8;
  constexpr int kSlots = 20;
  constexpr int kK = 256;
  constexpr int kN = 320;
  Problem problem;
  problem.c.shape = {.hidden = kK,
                     .intermediate = kN / 2,
                     .experts = kExperts,
                     .top_k = 1,
                     .group = 32,
                     .tokens = kSlots};
  const auto q = Tensor<std::uint8_t>(file, "q");
  const auto zeros = Tensor<std::uint8_t>(file, "zeros");
  const auto scales = Tensor<std::uint16_t>(file, "scales");
  const auto offsets = Tensor<std::int32_t>(file, "expert_offsets");
  ASSERT_EQ(q.size(), std::size_t{kExperts} * kK * kN);
  for (int e = 0; e < kExperts; ++e) {
    auto weights = std::make_shared<ExpertWeights>();
    weights->id = e;
    weights->w13 = {kK, kN, 32, {}, {}, {}};
    weights->w13.qweight = Pack(std::span(q).subspan(std::size_t{kK} * kN * e, kK * kN), kN);
    weights->w13.qzeros = Pack(std::span(zeros).subspan(std::size_t{8} * kN * e, 8 * kN), kN);
    weights->w13.scales.assign(scales.begin() + 8 * kN * e, scales.begin() + 8 * kN * (e + 1));
    problem.experts.push_back(weights);
    problem.topk_ids.resize(static_cast<std::size_t>(offsets[static_cast<std::size_t>(e) + 1]), e);
  }
  problem.hidden = Tensor<std::uint16_t>(file, "x");
  problem.topk_weights.assign(kSlots, 1.0F);
  const Permutation permutation = Permute(problem);
  ASSERT_EQ(permutation.rows, kSlots);

  const HalfMatrix input{kSlots, kK, problem.hidden};
  for (const int splits : {1, 2, 4}) {
    const auto want = Tensor<std::uint16_t>(file, "y_splits" + std::to_string(splits));
    for (const Tile& tile : TilesForGroup(32)) {
      const HalfMatrix got = PredictGemm(problem, permutation, Gemm::kW13, input, {tile, splits},
                                         Numerics::kSm80Software);
      EXPECT_EQ(got.bits, want) << ToString(Tactic{tile, splits});
    }
  }
  // The comparison can fail: the V100's arithmetic gives other bits.
  EXPECT_NE(
      PredictGemm(problem, permutation, Gemm::kW13, input, {{16, 128, 32}, 1}, Numerics::kV100)
          .bits,
      Tensor<std::uint16_t>(file, "y_splits1"));
}

// One output element step by step, from the definition.
HalfBits PredictElement(const std::vector<HalfBits>& a, const std::vector<HalfBits>& w,
                        const Tactic& tactic, Numerics numerics) {
  float total = 0;
  for (int s = 0; s < tactic.splits; ++s) {
    const SplitRange range = SplitRows(tactic, s, static_cast<int>(a.size()), 32);
    float acc = 0;
    for (int k = range.begin; k < range.end; k += 4) {
      const std::span<const HalfBits, 4> ak(a.data() + k, 4);
      const std::span<const HalfBits, 4> wk(w.data() + k, 4);
      acc = numerics == Numerics::kV100   ? arith::FusedDotAdd(arith::kV100DotAdd, ak, wk, acc)
            : numerics == Numerics::kSm75 ? arith::FusedDotAdd(arith::kSm75DotAdd, ak, wk, acc)
                                          : arith::SoftwareDotAdd(ak, wk, acc);
    }
    total = s == 0 ? acc : total + acc;
  }
  return arith::FloatToHalf(total);
}

TEST(OrderModel, FollowsTheContractsOrderInEveryMode) {
  Case c;
  c.shape = {.hidden = 320, .intermediate = 32, .experts = 3, .top_k = 2, .group = 32, .tokens = 2};
  const Problem problem = RandomProblem(c, {}, 11);
  const Permutation p = Permute(problem);
  const HalfMatrix input = ToHalfMatrix(PermutedInput<float>(problem, p));
  for (const auto numerics : {Numerics::kV100, Numerics::kSm75, Numerics::kSm80Software}) {
    for (const Tactic& tactic : {Tactic{{8, 128, 64}, 1}, {{8, 128, 64}, 2}, {{16, 128, 32}, 3}}) {
      const HalfMatrix got = PredictGemm(problem, p, Gemm::kW13, input, tactic, numerics);
      for (int r = 0; r < p.rows; ++r) {
        const AwqMatrix& m = problem.FindExpert(p.expert[static_cast<std::size_t>(r)])->w13;
        const HalfMatrix weights = DecodeContract(m);
        for (int n = 0; n < got.cols; ++n) {
          std::vector<HalfBits> column;
          for (int k = 0; k < m.k; ++k) {
            column.push_back(weights.row(k)[static_cast<std::size_t>(n)]);
          }
          const auto row = input.row(r);
          ASSERT_EQ(got.row(r)[static_cast<std::size_t>(n)],
                    PredictElement({row.begin(), row.end()}, column, tactic, numerics));
        }
      }
    }
  }
}

TEST(OrderModel, RefusesATacticThatCannotRun) {
  Case c;
  c.shape = {.hidden = 160, .intermediate = 32, .experts = 2, .top_k = 1, .group = 32, .tokens = 1};
  const Problem problem = RandomProblem(c, {}, 12);
  const Permutation p = Permute(problem);
  const HalfMatrix input = ToHalfMatrix(PermutedInput<float>(problem, p));
  EXPECT_THROW(PredictGemm(problem, p, Gemm::kW13, input, {{8, 128, 64}, 1}, Numerics::kV100),
               Error);
}

TEST(OrderModel, ExpfKeepsItsDocumentedBound) {
  double worst = 0;
  for (int i = -8700; i <= 8850; ++i) {
    const auto x = static_cast<float>(i * 0.01003);
    const double want = std::exp(static_cast<double>(x));
    if (want < 0x1.fffffep127 && want > 0x1p-126) {
      worst = std::max(worst, std::fabs(ExpfOfNvcc(x) - want) / want);
    }
  }
  EXPECT_LT(worst, 0x1p-22);
  EXPECT_GT(worst, 0x1p-25);
  EXPECT_EQ(ExpfOfNvcc(0), 1);
  EXPECT_TRUE(std::isinf(ExpfOfNvcc(65504)));
  EXPECT_EQ(ExpfOfNvcc(-65504), 0);
  EXPECT_TRUE(std::isnan(ExpfOfNvcc(std::nanf(""))));
}

// All gates: the model's half is one that the documented bound allows, few gates leave two halves
// open, and values beyond are refused.
TEST(OrderModel, SiluOfEveryGate) {
  constexpr HalfBits kOne = 0x3C00;
  int open = 0;
  int differs_from_exact = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto gate = static_cast<HalfBits>(bits);
    const HalfBits got = PredictSilu({1, 2, {gate, kOne}}).bits[0];
    ASSERT_TRUE(SiluAllows(gate, kOne, got)) << bits;
    const bool finite = (got & 0x7C00) != 0x7C00;
    if (!finite) {
      continue;
    }
    const auto up = static_cast<HalfBits>(got + 1);
    const auto down = static_cast<HalfBits>(got - 1);
    open += SiluAllows(gate, kOne, up) || ((got & 0x7FFF) != 0 && SiluAllows(gate, kOne, down));
    if ((got & 0x7FFF) > 2) {
      ASSERT_FALSE(SiluAllows(gate, kOne, static_cast<HalfBits>(got + 2)));
      ASSERT_FALSE(SiluAllows(gate, kOne, static_cast<HalfBits>(got - 2)));
    }
    const double g = HalfToFloat(gate);
    const HalfBits exact = DoubleToHalf(g / (1 + std::exp(-g)));
    differs_from_exact += arith::HalfUlpDistance(exact, got) != 0 ? 1 : 0;
  }
  EXPECT_GT(open, 0);
  EXPECT_LT(open, 64);
  EXPECT_LT(differs_from_exact, 32);
  RecordProperty("gates_with_two_halves", open);
  RecordProperty("gates_off_the_exact_value", differs_from_exact);
}

TEST(OrderModel, SiluOfSpecialGates) {
  const auto silu = [](HalfBits gate, HalfBits up) {
    return PredictSilu({1, 2, {gate, up}}).bits[0];
  };
  EXPECT_EQ(silu(0xFC00, 0x3C00), 0x7FFF);  // -inf / (1 + inf)
  EXPECT_EQ(silu(0x7C00, 0x4000), 0x7C00);
  EXPECT_EQ(silu(0x7C00, 0x0000), 0x7FFF);
  EXPECT_EQ(silu(0xFBFF, 0x3C00), 0x8000);  // -65504 / inf
  EXPECT_EQ(silu(DoubleToHalf(17), 0x3C00), DoubleToHalf(17));
  EXPECT_TRUE(SiluAllows(0xFC00, 0x3C00, 0x7FFF));
  EXPECT_FALSE(SiluAllows(0xFC00, 0x3C00, 0x8000));
}

TEST(OrderModel, ReductionAgreesWithTheFp32Reference) {
  Case c;
  c.shape = {.hidden = 64, .intermediate = 32, .experts = 5, .top_k = 5, .group = 32, .tokens = 7};
  Problem problem = RandomProblem(c, {}, 13);
  problem.topk_ids[3] = 99;
  const Permutation p = Permute(problem);
  std::mt19937_64 random(14);
  const HalfMatrix y{
      c.shape.slots(), 64,
      RandomHalves(static_cast<std::size_t>(c.shape.slots()) * 64, 3, false, random)};
  EXPECT_EQ(FromHalfMatrix<float>(PredictReduce(problem, p, y)),
            ReduceRoutes<float>(problem, p, FromHalfMatrix<float>(y), Rounding::kContract));
}

}  // namespace
}  // namespace voltcheck::reference
