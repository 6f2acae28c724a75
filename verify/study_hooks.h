#ifndef VOLTCHECK_VERIFY_STUDY_HOOKS_H_
#define VOLTCHECK_VERIFY_STUDY_HOOKS_H_

#include <cstdint>
#include <functional>
#include <span>

#include "kernels/plan.h"

namespace voltcheck::verify {

/// Where a study of the gate itself (verify/mutation) reaches into a run. Empty in every ordinary
/// one. They are called from whatever thread runs the case.
struct StudyHooks {
  /// Changes the plan before it runs: a fault planted into launches or buffers.
  std::function<void(kernels::Plan&)> plan;
  /// Shown the final output [T, H] and the FP32 reference's, row-major, when the whole stage ran
  /// without a crash: all that a user of a tolerance policy looks at.
  std::function<void(std::span<const std::uint16_t> got, std::span<const float> want)> output;
};

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_STUDY_HOOKS_H_
