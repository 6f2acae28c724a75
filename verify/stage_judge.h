#ifndef VOLTCHECK_VERIFY_STAGE_JUDGE_H_
#define VOLTCHECK_VERIFY_STAGE_JUDGE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "reference/budget.h"
#include "reference/matrix.h"
#include "verify/judge_options.h"
#include "verify/record.h"

namespace voltcheck::verify {

/// A stage is mistrusted when more than this share of its oracle's outputs is zero. SiLU turns the
/// half of its gates that are negative into near zeros, so a sound case may reach one half; three
/// quarters means that most rows carry nothing.
inline constexpr double kMaxZeroShare = 0.75;
/// ... or when more than this share of them is not finite: an overflow hides what came before it.
inline constexpr double kMaxNonfiniteShare = 0.5;
/// ... or when no bits decide and RMS(budget) exceeds this share of RMS(want): a kernel that writes
/// zeros would pass such a budget.
inline constexpr double kMaxRelativeBudget = 1.0;
/// ... or when no bits decide and more than this share of the outputs is not larger than its own
/// budget: there a kernel that writes zeros passes, whatever the others are.
inline constexpr double kMaxHiddenShare = 0.5;
/// The largest window of values that a failure keeps, per dimension.
inline constexpr int kFailureWindow = 64;

/// Everything known about one stage of one case. Matrices hold `rows` rows or more (the rest is not
/// looked at); columns of W13 are in checkpoint order.
struct StageEvidence {
  Stage stage = Stage::kW13;
  int rows = 0;
  int cols = 0;
  std::span<const std::uint16_t> got;              ///< [rows, cols]; empty for logits
  std::span<const float> got_logits;               ///< [rows, cols] of logits
  const reference::Bounded* own = nullptr;         ///< oracle on the device's own input
  const reference::Bounded* posterior = nullptr;   ///< the same, a-posteriori; null: none
  const reference::Bounded* end_to_end = nullptr;  ///< oracle from the case's inputs
  const reference::Matrix<float>* fp32 = nullptr;  ///< FP32 reference from the case's inputs
  const reference::HalfMatrix* model = nullptr;  ///< order-faithful prediction; null: not modelled
  /// Whether a value that differs from the model at element i is right as well, because what the
  /// chip computes there is documented only up to a bound. Null: never.
  std::function<bool(std::size_t i)> leaves_open;
  std::span<const std::uint8_t> exact;  ///< [rows, cols] from ExactOutputs, or empty
  bool must_be_exact = false;     ///< the case promises exact inputs: fewer exact outputs mistrusts
  bool may_overflow = false;      ///< the case declares that values may leave the fp16 range
  bool sparse_by_design = false;  ///< the case makes nearly all of these outputs zero on purpose
  bool nothing_to_compute = false;  ///< the routing leaves this rank no row: zeros are all there is
  /// [rows]: 1 where no route of the token is computed here, which makes the row zero whatever the
  /// kernels do with others; they count neither for nor against the oracle. May be empty: none.
  std::span<const std::uint8_t> idle_rows;
  std::span<const int> row_token;   ///< [rows] for the figures by part; may be empty: row number
  std::span<const int> row_expert;  ///< [rows], or empty where rows mix experts
};

/// Compares and judges. Appends the values around the worst element to `failures` when the stage
/// failed.
StageRecord JudgeStage(const StageEvidence& evidence, std::vector<FailureArrays>* failures,
                       const JudgeOptions& options = {});

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_STAGE_JUDGE_H_
