// What the smoke suite's exact inputs really exercise: every weight of every expert read back,
// scales and zero points that tell every place apart, zero points 0 and 15, gates that SiLU leaves
// alone, logits.
#include <gtest/gtest.h>

#include <set>

#include "fixtures/case/descriptor.h"
#include "reference/arith/half.h"
#include "reference/awq.h"
#include "reference/order_model.h"
#include "reference/rounding.h"
#include "verify/case_runner.h"
#include "verify/exactness.h"
#include "verify/suite.h"

namespace voltcheck::verify {
namespace {

const std::string kFixtures = VOLTCHECK_SOURCE_DIR "/fixtures/data";

template <typename Predicate>
std::vector<Problem> SmokeProblems(Predicate predicate) {
  ProblemSource source(kFixtures);
  std::vector<Problem> problems;
  for (const Case& c : SuiteCases("smoke", 0, kFixtures, source)) {
    if (predicate(c)) {
      problems.push_back(source.Make(c));
    }
  }
  return problems;
}

const AwqMatrix& Matrix(const ExpertWeights& expert, bool w13) {
  return w13 ? expert.w13 : expert.w2;
}

// (expert, channel) pairs that some slot activates with a single nonzero input.
std::set<std::pair<int, int>> ReadBack(const Problem& p, bool w13) {
  const reference::Permutation permutation = reference::Permute(p);
  reference::HalfMatrix input =
      reference::ToHalfMatrix(reference::PermutedInput<double>(p, permutation));
  if (!w13) {
    input = reference::PredictSilu(reference::PredictGemm(p, permutation, reference::Gemm::kW13,
                                                          input, p.c.w13, p.c.numerics));
  }
  std::set<std::pair<int, int>> read;
  for (int r = 0; r < permutation.rows; ++r) {
    int channel = -1;
    int nonzero = 0;
    for (int k = 0; k < input.cols; ++k) {
      if ((input.row(r)[static_cast<std::size_t>(k)] & 0x7FFF) != 0) {
        channel = k;
        ++nonzero;
      }
    }
    if (nonzero == 1) {
      read.emplace(permutation.expert[static_cast<std::size_t>(r)], channel);
    }
  }
  return read;
}

TEST(ExactInputs, SmokeReadsEveryWeightOfEveryExpertBack) {
  for (const bool w13 : {true, false}) {
    const std::vector<Problem> problems = SmokeProblems([&](const Case& c) {
      return c.data == Data::kOneHot &&
             c.stage == (w13 ? StageSelection::kAll : StageSelection::kW2);
    });
    ASSERT_FALSE(problems.empty());
    for (const Problem& p : problems) {
      const auto channels =
          static_cast<std::size_t>(w13 ? p.c.shape.hidden : p.c.shape.intermediate);
      EXPECT_EQ(ReadBack(p, w13).size(), channels * static_cast<std::size_t>(p.c.shape.experts))
          << ToDescriptor(p.c);
    }
  }
}

TEST(ExactInputs, ReadBackWeightsTellEveryGroupAndColumnApart) {
  for (const bool w13 : {true, false}) {
    for (const Problem& p : SmokeProblems([&](const Case& c) {
           return c.data == Data::kOneHot &&
                  c.stage == (w13 ? StageSelection::kAll : StageSelection::kW2);
         })) {
      for (const auto& expert : p.experts) {
        const AwqMatrix& m = Matrix(*expert, w13);
        std::set<std::pair<int, int>> pairs;
        std::set<int> zeros;
        for (int g = 0; g < m.k / m.group; ++g) {
          for (int n = 0; n < m.n; ++n) {
            const int zero = reference::AwqNibble(m.qzeros.data(), m.n, g, n);
            const auto at = static_cast<std::size_t>(g) * static_cast<std::size_t>(m.n) +
                            static_cast<std::size_t>(n);
            pairs.emplace(m.scales[at], zero);
            zeros.insert(zero);
          }
        }
        EXPECT_EQ(pairs.size(), m.scales.size());
        EXPECT_TRUE(zeros.contains(0) && zeros.contains(15));
      }
    }
  }
}

TEST(ExactInputs, IntegerCasesHaveFewPowerOfTwoScalesAndEveryZeroPoint) {
  std::set<int> zeros;
  for (const Problem& p : SmokeProblems([](const Case& c) { return c.data == Data::kInteger; })) {
    for (const auto& expert : p.experts) {
      std::set<std::uint16_t> scales;
      for (const bool w13 : {true, false}) {
        const AwqMatrix& m = Matrix(*expert, w13);
        scales.insert(m.scales.begin(), m.scales.end());
        for (int g = 0; g < m.k / m.group; ++g) {
          for (int n = 0; n < m.n; ++n) {
            zeros.insert(reference::AwqNibble(m.qzeros.data(), m.n, g, n));
          }
        }
      }
      EXPECT_LE(scales.size(), 6U);
      for (const std::uint16_t scale : scales) {
        EXPECT_EQ(scale & 0x3FF, 0) << "no power of two";
      }
    }
  }
  EXPECT_EQ(zeros.size(), 16U);
}

TEST(ExactInputs, IntegerGatesAreLeftAloneBySiluAndEverySumIsExact) {
  int cases = 0;
  for (const Problem& p : SmokeProblems(
           [](const Case& c) { return c.data == Data::kInteger && c.path != Path::kM1; })) {
    const reference::Permutation permutation = reference::Permute(p);
    const auto input = reference::ToHalfMatrix(reference::PermutedInput<double>(p, permutation));
    const auto w13 =
        reference::PredictGemm(p, permutation, reference::Gemm::kW13, input, p.c.w13, p.c.numerics);
    const auto silu = reference::PredictSilu(w13);
    for (int r = 0; r < permutation.rows; ++r) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(silu.cols); ++i) {
        const std::uint16_t gate = w13.row(r)[i];
        const std::uint16_t up = w13.row(r)[i + static_cast<std::size_t>(silu.cols)];
        ASSERT_GE(arith::HalfToFloat(gate), 17) << ToDescriptor(p.c);
        ASSERT_EQ(silu.row(r)[i], arith::HalfMul(gate, up));
      }
    }
    for (const auto& [gemm, a] :
         {std::pair(reference::Gemm::kW13, &input), std::pair(reference::Gemm::kW2, &silu)}) {
      const std::vector<std::uint8_t> exact = ExactOutputs(p, permutation, gemm, *a);
      EXPECT_EQ(std::count(exact.begin(), exact.end(), 0), 0) << ToDescriptor(p.c);
    }
    ++cases;
  }
  EXPECT_GE(cases, 8);
}

TEST(ExactInputs, AReadBackOfW2IsJudgedWithToleranceZero) {
  const std::vector<Problem> problems = SmokeProblems(
      [](const Case& c) { return c.data == Data::kOneHot && c.stage == StageSelection::kW2; });
  ASSERT_FALSE(problems.empty());
  const CaseRecord record = RunCase(problems.front(), {});
  EXPECT_EQ(record.verdict, Verdict::kPassed) << record.reason;
  EXPECT_EQ(record.at(Stage::kW2).exact, record.at(Stage::kW2).own.elements);
}

TEST(ExactInputs, SmokeHasLogits) {
  EXPECT_GE(SmokeProblems([](const Case& c) { return c.head > 0; }).size(), 2U);
}

}  // namespace
}  // namespace voltcheck::verify
