#ifndef VOLTCHECK_VERIFY_OBSERVED_HALVES_H_
#define VOLTCHECK_VERIFY_OBSERVED_HALVES_H_

#include <cstdint>
#include <vector>

#include "fixtures/case/problem.h"
#include "reference/matrix.h"
#include "reference/routing.h"

namespace voltcheck::verify {

/// Device output [rows, cols] as a matrix; rows from `computed` on, which the contract leaves open,
/// are zeroed so that their contents reach no figure.
reference::HalfMatrix ObservedMatrix(const std::vector<std::uint16_t>& bits, int rows, int cols,
                                     int computed);

/// Brings W13 columns g0,u0,g1,u1,... into checkpoint order [gate | up], in place.
void Deinterleave(reference::HalfMatrix& w13);

/// The permuted input [S, H] as fp16 bits; rows that are not computed are zero.
reference::HalfMatrix PermutedBits(const Problem& problem,
                                   const reference::Permutation& permutation);

/// The exact values.
reference::Matrix<double> Doubles(const reference::HalfMatrix& bits);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_OBSERVED_HALVES_H_
