#include "verify/mutation/policies.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/arith/half.h"

namespace voltcheck::mutation {
namespace {

std::vector<bool> Judge(const std::vector<float>& got, const std::vector<float>& want) {
  std::vector<std::uint16_t> bits;
  for (const float value : got) {
    bits.push_back(arith::FloatToHalf(value));
  }
  std::vector<bool> accepted;
  for (const TolerancePolicy& policy : TolerancePolicies()) {
    accepted.push_back(policy.accepts(bits, want));
  }
  return accepted;
}

using Verdicts = std::vector<bool>;

TEST(Policies, AcceptEqualOutputs) {
  EXPECT_EQ(Judge({1, -2, 0}, {1, -2, 0}), Verdicts(kPolicies, true));
  EXPECT_EQ(Judge({0, 0}, {0, 0}), Verdicts(kPolicies, true));
}

TEST(Policies, RejectNotANumber) { EXPECT_EQ(Judge({1, NAN}, {1, 1}), Verdicts(kPolicies, false)); }

TEST(Policies, EachHasItsOwnBlindSpot) {
  // One element in a hundred is plainly wrong.
  std::vector<float> want(100, 1.0F);
  std::vector<float> got = want;
  got[7] = 1.5F;
  EXPECT_EQ(Judge(got, want), (Verdicts{false, false, true, false, false, true}));
  // All are 1/64 too large.
  EXPECT_EQ(Judge(std::vector<float>(100, 1.015625F), want),
            (Verdicts{true, false, true, true, true, true}));
  // Large values, rounded to half as they should be.
  EXPECT_EQ(Judge({2049.0F, 2050.0F}, {2049.0F, 2050.0F}),
            (Verdicts{false, true, true, true, true, true}));
}

}  // namespace
}  // namespace voltcheck::mutation
