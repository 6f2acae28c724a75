#ifndef VOLTCHECK_VERIFY_EXACTNESS_H_
#define VOLTCHECK_VERIFY_EXACTNESS_H_

#include <cstdint>
#include <vector>

#include "fixtures/case/problem.h"
#include "reference/matrix.h"
#include "reference/routing.h"
#include "reference/stage.h"

namespace voltcheck::verify {

/// Which outputs of a grouped GEMM have only exact partial sums, whatever the order of summation
/// and on every supported arithmetic, so that the one right result is the exact sum rounded once.
///
/// Proof used: all products a_k * w_kn are multiples of u = (smallest bit of the row) * (smallest
/// bit of the column), every partial sum is at most sum|a_k| * max|w_kn|, and no term's tensor-core
/// exponent (clamped at -14 for subnormals) exceeds max(|a|, 2^-14) * max(|w|, 2^-14). With both
/// below 2^23 u a sum fits 24 bits and an alignment to 2^(M-23) drops no bit. Rows with few nonzero
/// elements look at just the weights that these meet.
///
/// a: [rows, K] fp16 bits; result [permutation.rows, N], 1 where exact.
std::vector<std::uint8_t> ExactOutputs(const Problem& problem,
                                       const reference::Permutation& permutation,
                                       reference::Gemm gemm, const reference::HalfMatrix& a);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_EXACTNESS_H_
