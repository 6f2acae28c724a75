// Orders that plugins and recipes declare: the model of them, and what cannot be.
#include "reference/declared_order.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fixtures/case/descriptor.h"
#include "fixtures/generate.h"
#include "reference/arith/half.h"
#include "reference/awq.h"
#include "reference/order_model.h"

namespace voltcheck::reference {
namespace {

using Kind = DeclaredOrder::Kind;

struct Sample {
  Problem problem = fixtures::Generate(
      ParseDescriptor("h=256,i=256,e=2,k=2,g=32,t=32,w13=16x128x32/1,w2=16x128x32/1"));
  Permutation permutation = Permute(problem);
  HalfMatrix input;
  Sample() {
    input = {problem.c.shape.slots(), 256, {}};
    for (const std::int32_t slot : permutation.source) {
      const auto* row = problem.hidden.data() + slot / 2 * 256;
      input.bits.insert(input.bits.end(), row, row + 256);
    }
  }
  HalfMatrix Predict(const DeclaredOrder& order) const {
    return PredictGemm(problem, permutation, Gemm::kW13, input, order, Numerics::kV100);
  }
};

TEST(DeclaredOrder, TheContractsOwnOrderGivesTheTacticsBits) {
  const Sample s;
  for (const int splits : {1, 2, 3}) {
    const HalfMatrix want = PredictGemm(s.problem, s.permutation, Gemm::kW13, s.input,
                                        Tactic{{16, 128, 32}, splits}, Numerics::kV100);
    EXPECT_EQ(s.Predict({Kind::kMma, splits, 32, 1, 4}).bits, want.bits) << splits;
  }
}

TEST(DeclaredOrder, EveryWordOfTheDeclarationCanChangeBits) {
  const Sample s;
  const DeclaredOrder plain{Kind::kMma, 1, 256, 1, 4};
  const std::vector<std::uint16_t> bits = s.Predict(plain).bits;
  EXPECT_NE(s.Predict({Kind::kMma, 2, 32, 1, 4}).bits, bits);
  EXPECT_NE(s.Predict({Kind::kMma, 3, 32, 1, 4}).bits, s.Predict({Kind::kMma, 2, 32, 1, 4}).bits);
  EXPECT_NE(s.Predict({Kind::kMma, 1, 256, 2, 4}).bits, bits);
  EXPECT_NE(s.Predict({Kind::kMma, 1, 256, 2, 16}).bits,
            s.Predict({Kind::kMma, 1, 256, 2, 4}).bits);
  EXPECT_NE(s.Predict({Kind::kFma, 1, 256, 1, 1}).bits, bits);
}

TEST(DeclaredOrder, FusedMultiplyAddsTakeTurnsAsDeclared) {
  const Sample s;
  const HalfMatrix got = s.Predict({Kind::kFma, 2, 128, 2, 3});
  const int row = 1;
  const HalfMatrix weights = DecodeContract(s.problem.FindExpert(s.permutation.expert[row])->w13);
  for (const int column : {0, 77}) {
    float total = 0;
    for (int begin = 0; begin < 256; begin += 128) {
      float sums[2] = {0, 0};
      for (int k = begin; k < begin + 128; ++k) {
        float& sum = sums[(k - begin) / 3 % 2];
        sum = std::fma(arith::HalfToFloat(s.input.row(row)[k]),
                       arith::HalfToFloat(weights.row(k)[column]), sum);
      }
      total = begin == 0 ? sums[0] + sums[1] : total + (sums[0] + sums[1]);
    }
    EXPECT_EQ(got.row(row)[column], arith::FloatToHalf(total));
  }
}

TEST(DeclaredOrder, LeftOverChunksGoToTheLastRanges) {
  const DeclaredOrder order{Kind::kMma, 4, 32, 1, 4};
  EXPECT_EQ(RangeOf(order, 0, 160), (SplitRange{0, 32}));
  EXPECT_EQ(RangeOf(order, 2, 160), (SplitRange{64, 96}));
  EXPECT_EQ(RangeOf(order, 3, 160), (SplitRange{96, 160}));
  for (int splits = 1; splits <= 5; ++splits) {
    for (int s = 0; s < splits; ++s) {
      EXPECT_EQ(RangeOf({Kind::kMma, splits, 32, 1, 4}, s, 160),
                SplitRows({{16, 128, 32}, splits}, s, 160, 32));
    }
  }
}

TEST(DeclaredOrder, SaysWhyOneCannotBe) {
  EXPECT_EQ(WhyImpossible({Kind::kUndeclared, 99, 0, 0, 0}, 64), "");
  EXPECT_EQ(WhyImpossible({Kind::kMma, 2, 32, 4, 8}, 64), "");
  EXPECT_NE(WhyImpossible({Kind::kMma, 17, 4, 1, 4}, 128).find("1..16"), std::string::npos);
  EXPECT_NE(WhyImpossible({Kind::kMma, 1, 48, 1, 4}, 64).find("does not divide"),
            std::string::npos);
  EXPECT_NE(WhyImpossible({Kind::kMma, 1, 2, 1, 4}, 64).find("multiples of 4"), std::string::npos);
  EXPECT_EQ(WhyImpossible({Kind::kFma, 1, 2, 1, 4}, 64), "");
  EXPECT_NE(WhyImpossible({Kind::kMma, 3, 32, 1, 4}, 64).find("more than the 2 chunks"),
            std::string::npos);
  EXPECT_NE(WhyImpossible({Kind::kMma, 1, 64, 0, 4}, 64).find("k_interleave"), std::string::npos);
  EXPECT_NE(WhyImpossible({Kind::kMma, 1, 64, 2, 6}, 64).find("interleave_width"),
            std::string::npos);
}

}  // namespace
}  // namespace voltcheck::reference
