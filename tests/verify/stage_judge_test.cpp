// Verdicts of a stage from evidence made by hand.
#include "verify/stage_judge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/arith/half.h"

namespace voltcheck::verify {
namespace {

// A stage of 4 x 6 whose device values are right: oracle, reference and model all say the same.
class StageJudge : public testing::Test {
 protected:
  static constexpr int kRows = 4;
  static constexpr int kCols = 6;
  static constexpr std::size_t kElements = kRows * kCols;

  StageJudge() {
    own_.value.resize(kRows, kCols);
    own_.budget.setConstant(kRows, kCols, 1e-3);
    for (std::size_t i = 0; i < kElements; ++i) {
      const std::uint16_t bits = arith::FloatToHalf(0.25F * static_cast<float>(i) + 1);
      got_.push_back(bits);
      own_.value.data()[i] = arith::HalfToFloat(bits);
    }
    model_ = {kRows, kCols, got_};
  }

  StageRecord Judge() {
    end_to_end_ = own_;
    fp32_ = own_.value.cast<float>();
    StageEvidence evidence;
    evidence.stage = Stage::kW2;
    evidence.rows = kRows;
    evidence.cols = kCols;
    evidence.got = got_;
    evidence.own = &own_;
    evidence.end_to_end = &end_to_end_;
    evidence.fp32 = &fp32_;
    evidence.model = has_model_ ? &model_ : nullptr;
    evidence.model_decides = model_decides_;
    evidence.exact = exact_;
    evidence.must_be_exact = must_be_exact_;
    failures_.clear();
    return JudgeStage(evidence, &failures_);
  }

  std::vector<std::uint16_t> got_;
  reference::Bounded own_, end_to_end_;
  reference::Matrix<float> fp32_;
  reference::HalfMatrix model_;
  std::vector<std::uint8_t> exact_;
  std::vector<FailureArrays> failures_;
  bool has_model_ = true;
  bool model_decides_ = true;
  bool must_be_exact_ = false;
};

TEST_F(StageJudge, RightValuesPass) {
  const StageRecord record = Judge();
  EXPECT_EQ(record.verdict, Verdict::kPassed) << record.reason;
  EXPECT_EQ(record.bits_compared, kElements);
  EXPECT_TRUE(failures_.empty());
}

TEST_F(StageJudge, OneElementOverBudgetFailsWithItsPlace) {
  got_[13] = arith::FloatToHalf(9);
  const StageRecord record = Judge();
  EXPECT_EQ(record.verdict, Verdict::kFailed);
  EXPECT_TRUE(record.reason.starts_with("w2: 1 of 24 elements over the budget")) << record.reason;
  EXPECT_NE(record.reason.find("at (2, 1): got 9"), std::string::npos) << record.reason;
  ASSERT_EQ(failures_.size(), 1U);
  EXPECT_EQ(failures_[0].got, got_);
  EXPECT_EQ(failures_[0].rows, kRows);
}

TEST_F(StageJudge, OneWrongBitInsideTheBudgetFailsAgainstTheModel) {
  own_.budget.setConstant(1);
  model_.bits[7] = static_cast<std::uint16_t>(model_.bits[7] + 1);
  const StageRecord record = Judge();
  EXPECT_EQ(record.verdict, Verdict::kFailed);
  EXPECT_EQ(record.bits_differing, 1U);
  EXPECT_EQ(record.first_difference.row, 1);
  EXPECT_EQ(record.first_difference.col, 1);
  EXPECT_NE(record.reason.find("differ in bits"), std::string::npos);

  model_decides_ = false;
  EXPECT_EQ(Judge().verdict, Verdict::kPassed) << "where the model is not known to be the chip's";
}

TEST_F(StageJudge, SignOfZeroAndNaNPayloadsAreNotDifferences) {
  got_[0] = 0x8000;
  own_.value(0, 0) = 0;
  model_.bits = got_;
  model_.bits[0] = 0x0000;
  EXPECT_EQ(Judge().verdict, Verdict::kPassed);
}

TEST_F(StageJudge, ExactElementsHaveNoTolerance) {
  has_model_ = false;
  own_.budget.setConstant(1);
  exact_.assign(kElements, 1);
  EXPECT_EQ(Judge().verdict, Verdict::kPassed);
  got_[3] = static_cast<std::uint16_t>(got_[3] + 1);
  const StageRecord record = Judge();
  EXPECT_EQ(record.verdict, Verdict::kFailed);
  EXPECT_EQ(record.exact_differing, 1U);
}

TEST_F(StageJudge, APromiseOfExactInputsThatDoesNotHoldIsMistrusted) {
  must_be_exact_ = true;
  exact_.assign(kElements, 1);
  EXPECT_EQ(Judge().verdict, Verdict::kPassed);
  exact_[5] = 0;
  EXPECT_EQ(Judge().verdict, Verdict::kMistrusted);
}

TEST_F(StageJudge, OraclesThatProveLittleAreMistrusted) {
  const auto set_all = [&](float value) {
    own_.value.setConstant(value);
    got_.assign(kElements, arith::FloatToHalf(value));
    model_.bits = got_;
  };
  set_all(0);
  EXPECT_NE(Judge().reason.find("zero"), std::string::npos);
  set_all(3);
  EXPECT_NE(Judge().reason.find("equal"), std::string::npos);
  set_all(std::numeric_limits<float>::infinity());
  const StageRecord record = Judge();
  EXPECT_EQ(record.verdict, Verdict::kMistrusted);
  EXPECT_NE(record.reason.find("not finite"), std::string::npos);
}

TEST_F(StageJudge, ABudgetAboveTheOutputsIsMistrustedUnlessBitsWereCompared) {
  own_.budget.setConstant(100);
  EXPECT_EQ(Judge().verdict, Verdict::kPassed);
  has_model_ = false;
  const StageRecord record = Judge();
  EXPECT_EQ(record.verdict, Verdict::kMistrusted);
  EXPECT_NE(record.reason.find("budget"), std::string::npos);
}

TEST_F(StageJudge, NaNInTheOutputFails) {
  got_[20] = 0x7FFF;
  const StageRecord record = Judge();
  EXPECT_EQ(record.verdict, Verdict::kFailed);
  EXPECT_EQ(record.own.nonfinite_got, 1U);
  EXPECT_NE(record.reason.find("NaN or infinity on one side only"), std::string::npos)
      << record.reason;
}

TEST_F(StageJudge, ANaNOracleIsNotPassed) {
  own_.value(2, 2) = std::nan("");
  EXPECT_EQ(Judge().verdict, Verdict::kFailed);
}

}  // namespace
}  // namespace voltcheck::verify
