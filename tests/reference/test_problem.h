#ifndef VOLTCHECK_TESTS_REFERENCE_TEST_PROBLEM_H_
#define VOLTCHECK_TESTS_REFERENCE_TEST_PROBLEM_H_

#include <cstdint>
#include <random>
#include <vector>

#include "fixtures/case/problem.h"

namespace voltcheck::reference {

/// How the tensors of a test problem are filled; every field by itself is a hazard.
struct Fill {
  double activation = 1;    ///< standard deviation of the hidden states
  double scale_low = 1e-3;  ///< scales are log-uniform between these
  double scale_high = 2e-2;
  bool positive = false;  ///< activations and weights >= 0: nothing cancels
};

/// One random AWQ matrix, packed word by word from random bits (so the packing formula is not
/// used).
AwqMatrix RandomMatrix(int k, int n, int group, const Fill& fill, std::mt19937_64& random);

/// A problem with uniform routing, duplicates allowed, weights that sum to one per token.
Problem RandomProblem(const Case& c, const Fill& fill, std::uint64_t seed);

/// Normal halves.
std::vector<std::uint16_t> RandomHalves(std::size_t count, double deviation, bool positive,
                                        std::mt19937_64& random);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_TESTS_REFERENCE_TEST_PROBLEM_H_
