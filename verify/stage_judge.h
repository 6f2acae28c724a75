#ifndef VOLTCHECK_VERIFY_STAGE_JUDGE_H_
#define VOLTCHECK_VERIFY_STAGE_JUDGE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "reference/budget.h"
#include "reference/matrix.h"
#include "verify/record.h"

namespace voltcheck::verify {

/// A stage is mistrusted when more than this share of its oracle's outputs is zero. SiLU turns the
/// half of its gates that are negative into near zeros, so a sound case may reach one half; three
/// quarters means that most rows carry nothing.
inline constexpr double kMaxZeroShare = 0.75;
/// ... or when more than this share of them is not finite: an overflow hides what came before it.
inline constexpr double kMaxNonfiniteShare = 0.5;
/// ... or when RMS(budget) exceeds this share of RMS(want) and no order model compared the bits: a
/// kernel that writes zeros would pass such a budget.
inline constexpr double kMaxRelativeBudget = 1.0;
/// The largest window of values that a failure keeps, per dimension.
inline constexpr int kFailureWindow = 64;

/// Everything known about one stage of one case. Matrices hold `rows` rows or more (the rest is not
/// looked at); columns of W13 are in checkpoint order.
struct StageEvidence {
  Stage stage = Stage::kW13;
  int rows = 0;
  int cols = 0;
  std::span<const std::uint16_t> got;              ///< [rows, cols]
  const reference::Bounded* own = nullptr;         ///< oracle on the device's own input
  const reference::Bounded* end_to_end = nullptr;  ///< oracle from the case's inputs
  const reference::Matrix<float>* fp32 = nullptr;  ///< FP32 reference from the case's inputs
  const reference::HalfMatrix* model = nullptr;  ///< order-faithful prediction; null: not modelled
  /// Whether a bit that differs from the model fails the stage. Off for SiLU on chips whose exp
  /// table is not known: there the budget decides.
  bool model_decides = true;
  std::span<const std::uint8_t> exact;  ///< [rows, cols] from ExactOutputs, or empty
  bool must_be_exact = false;  ///< the case promises exact inputs: fewer exact outputs mistrusts
  bool may_overflow = false;   ///< the case declares that values may leave the fp16 range
};

/// Compares and judges. Appends the values around the worst element to `failures` when the stage
/// failed.
StageRecord JudgeStage(const StageEvidence& evidence, std::vector<FailureArrays>* failures);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_STAGE_JUDGE_H_
