#ifndef VOLTCHECK_TESTS_ARITH_EACH_TARGET_H_
#define VOLTCHECK_TESTS_ARITH_EACH_TARGET_H_

#include <gtest/gtest.h>

#include <cstdint>

#include "hwy/highway.h"

namespace voltcheck::arith::testing {

/// Runs `body` once with every instruction set that this processor and this build have.
template <typename Body>
void ForEachTarget(Body body) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace voltcheck::arith::testing

#endif  // VOLTCHECK_TESTS_ARITH_EACH_TARGET_H_
