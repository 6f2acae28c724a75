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
    if (leaves_open_) {
      evidence.leaves_open = [](std::size_t i) { return i == 7; };
    }
    evidence.exact = exact_;
    evidence.must_be_exact = must_be_exact_;
    evidence.idle_rows = idle_rows_;
    evidence.nothing_to_compute = nothing_to_compute_;
    failures_.clear();
    evidence.posterior = has_posterior_ ? &posterior_ : nullptr;
    return JudgeStage(evidence, &failures_, options_);
  }

  std::vector<std::uint16_t> got_;
  reference::Bounded own_, end_to_end_;
  reference::Matrix<float> fp32_;
  reference::HalfMatrix model_;
  std::vector<std::uint8_t> exact_;
  std::vector<FailureArrays> failures_;
  bool has_model_ = true;
  bool leaves_open_ = false;
  bool has_posterior_ = false;
  reference::Bounded posterior_;
  JudgeOptions options_;
  bool must_be_exact_ = false;
  std::vector<std::uint8_t> idle_rows_;
  bool nothing_to_compute_ = false;
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

  leaves_open_ = true;
  const StageRecord open = Judge();
  EXPECT_EQ(open.verdict, Verdict::kPassed) << "both values are right there";
  EXPECT_EQ(open.bits_open, 1U);
  EXPECT_EQ(open.bits_differing, 0U);
  model_.bits[8] = static_cast<std::uint16_t>(model_.bits[8] + 1);
  EXPECT_EQ(Judge().verdict, Verdict::kFailed) << "and nowhere else";
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

// Tokens whose experts are all on other ranks: their zeros are right, and say nothing of the rest.
TEST_F(StageJudge, ZerosThatTheRoutingMakesAreNoReasonToMistrust) {
  for (std::size_t i = 0; i < 3 * kCols + 1; ++i) {
    got_[i] = 0;
    own_.value.data()[i] = 0;
  }
  model_.bits = got_;
  EXPECT_EQ(Judge().verdict, Verdict::kMistrusted);
  idle_rows_ = {1, 1, 1, 0};
  EXPECT_EQ(Judge().verdict, Verdict::kPassed);
  idle_rows_ = {1, 1, 1, 1};
  EXPECT_EQ(Judge().verdict, Verdict::kMistrusted);
  nothing_to_compute_ = true;
  EXPECT_EQ(Judge().verdict, Verdict::kPassed);
  got_[2] = arith::FloatToHalf(1);
  EXPECT_EQ(Judge().verdict, Verdict::kFailed) << "they are compared all the same";
}

TEST_F(StageJudge, ABudgetAboveTheOutputsIsMistrustedUnlessBitsWereCompared) {
  own_.budget.setConstant(100);
  EXPECT_EQ(Judge().verdict, Verdict::kPassed);
  has_model_ = false;
  const StageRecord record = Judge();
  EXPECT_EQ(record.verdict, Verdict::kMistrusted);
  EXPECT_NE(record.reason.find("budget"), std::string::npos);
}

TEST_F(StageJudge, OutputsThatDrownInTheirBudgetsAreMistrusted) {
  // The RMS is carried by one large value; all others are smaller than what they may be off by.
  has_model_ = false;
  own_.budget.setConstant(0.5);
  for (std::size_t i = 1; i < kElements; ++i) {
    own_.value.data()[i] = 0.25 + 0.001 * static_cast<double>(i);
    got_[i] = arith::DoubleToHalf(own_.value.data()[i]);
  }
  own_.value.data()[0] = 1000;
  got_[0] = arith::FloatToHalf(1000);
  const StageRecord record = Judge();
  EXPECT_EQ(record.verdict, Verdict::kMistrusted);
  EXPECT_EQ(record.hidden, kElements - 1);
  EXPECT_NE(record.reason.find("not larger than their budgets"), std::string::npos);
}

TEST_F(StageJudge, TheSmallerOfTwoBudgetsJudges) {
  has_posterior_ = true;
  posterior_ = own_;
  posterior_.budget.setConstant(1e-4);
  got_[3] = static_cast<std::uint16_t>(got_[3] + 1);
  model_.bits = got_;
  own_.budget.setConstant(1);
  const StageRecord record = Judge();
  EXPECT_EQ(record.own.over_budget, 0U);
  EXPECT_EQ(record.posterior.over_budget, 1U);
  EXPECT_EQ(record.verdict, Verdict::kFailed);
  EXPECT_NE(record.reason.find("a posteriori"), std::string::npos) << record.reason;
}

TEST_F(StageJudge, APolicyDecidesWithItsOwnTestAlone) {
  const auto verdicts = [&] {
    std::string letters;
    for (const Policy policy : {Policy::kBits, Policy::kBudget, Policy::kReference, Policy::kAll}) {
      options_.policy = policy;
      letters += Judge().verdict == Verdict::kPassed ? 'p' : 'f';
    }
    return letters;
  };
  EXPECT_EQ(verdicts(), "pppp");
  model_.bits[7] = static_cast<std::uint16_t>(model_.bits[7] + 1);
  EXPECT_EQ(verdicts(), "fppf") << "one bit inside the budget";
  model_.bits = got_;
  got_[13] = arith::FloatToHalf(9);
  model_.bits = got_;
  EXPECT_EQ(verdicts(), "pfff") << "over the budget as the model is";
}

TEST_F(StageJudge, LimitsTightenEachTest) {
  own_.value(1, 2) += 0.5e-3;
  EXPECT_EQ(Judge().verdict, Verdict::kPassed);
  StageLimits& limits = options_.at(Stage::kW2);
  limits.own_use = 0.25;
  const StageRecord record = Judge();
  EXPECT_EQ(record.verdict, Verdict::kFailed);
  EXPECT_NE(record.reason.find("over 0.25 times the budget"), std::string::npos) << record.reason;
  limits = {};
  limits.end_to_end_use = 0.25;
  EXPECT_NE(Judge().reason.find("end to end"), std::string::npos);
  limits = {};
  limits.reference_max_abs = 1e-4;
  EXPECT_NE(Judge().reason.find("limit 0.0001"), std::string::npos);
  limits = {};
  limits.reference_rms = 1e-6;
  EXPECT_NE(Judge().reason.find("RMS"), std::string::npos);
  limits = {};
  limits.own_use = 1;
  options_.at(Stage::kW13).own_use = 0.01;
  EXPECT_EQ(Judge().verdict, Verdict::kPassed) << "another stage's limit";
}

TEST_F(StageJudge, WithoutAModelTheBitsPolicyProvesNothing) {
  has_model_ = false;
  options_.policy = Policy::kBits;
  EXPECT_EQ(Judge().verdict, Verdict::kMistrusted);
}

TEST_F(StageJudge, OneBadTileIsNamed) {
  got_[20] = static_cast<std::uint16_t>(got_[20] + 1);
  model_.bits = got_;
  const StageRecord record = Judge();
  const PartFigures& token = record.worst_part[static_cast<std::size_t>(Part::kToken)];
  EXPECT_EQ(token.index, 3);
  EXPECT_EQ(token.elements, static_cast<std::uint64_t>(kCols));
  EXPECT_GT(token.max_abs, 0);
  EXPECT_DOUBLE_EQ(token.rms, token.max_abs / std::sqrt(kCols));
  EXPECT_EQ(record.worst_part[static_cast<std::size_t>(Part::kExpert)].index, -1);
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
