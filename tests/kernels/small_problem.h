#ifndef VOLTCHECK_TESTS_KERNELS_SMALL_PROBLEM_H_
#define VOLTCHECK_TESTS_KERNELS_SMALL_PROBLEM_H_

#include <cstdint>
#include <vector>

#include "fixtures/case/problem.h"

namespace voltcheck::kernels::testing {

/// A counter of well mixed bits (SplitMix64), so that tests need no generator from other rooms.
class TestBits {
 public:
  explicit TestBits(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next();
  int Below(int n) { return static_cast<int>(Next() % static_cast<std::uint64_t>(n)); }
  /// A half between 2^-4 and 2 of either sign.
  std::uint16_t Activation();
  /// A positive half between 2^-9 and 2^-5.
  std::uint16_t Scale();

 private:
  std::uint64_t state_;
};

/// One matrix with random nibbles, zero points and scales.
AwqMatrix RandomMatrix(int k, int n, int group, TestBits& bits);

/// A problem for `c` whose router names `ids` ([T, k]); an empty list takes random distinct experts
/// per token. slot_order is a stable sort by id, or a random order for layout=shuffled.
Problem MakeProblem(const Case& c, std::vector<std::int32_t> ids = {});

/// A case of reduced shape with feasible tactics: t=8, k=4, E=16, h=256, i=128, g=32.
Case SmallCase();

}  // namespace voltcheck::kernels::testing

#endif  // VOLTCHECK_TESTS_KERNELS_SMALL_PROBLEM_H_
