#ifndef VOLTCHECK_TESTS_KERNELS_HOST_MODEL_H_
#define VOLTCHECK_TESTS_KERNELS_HOST_MODEL_H_

#include <cstdint>
#include <vector>

#include "fixtures/case/problem.h"
#include "reference/arith/fused_dot_add.h"

namespace voltcheck::kernels::testing {

/// What the kernels must produce, in the plainest loops that say it.
/// Shares nothing with the kernels, and with the simulator only reference/arith.

using Halves = std::vector<std::uint16_t>;

int Quantised(const AwqMatrix& m, int row, int column);
int ZeroPoint(const AwqMatrix& m, int row, int column);
std::uint16_t ScaleOf(const AwqMatrix& m, int row, int column);
/// RN16(q*s + RN16(-z*s)).
std::uint16_t ContractWeight(const AwqMatrix& m, int row, int column);

/// The checkpoint column that lies in packed column `column`.
int CheckpointColumnOf(int column, int n, bool interleave);

/// Word (n_tile * (K/8) + k_word) * 32 + n_in_tile, columns filled up to a multiple of 32 with
/// zeros.
std::vector<std::uint32_t> PackedWeights(const AwqMatrix& m, bool interleave);
/// [K/g, N] of { half s, half RN16(-z*s) }, or of { half s, u8 z }.
std::vector<std::uint8_t> PackedMetadata(const AwqMatrix& m, bool interleave, Metadata form);

/// One row times one expert's matrix: per split k-steps of four ascending, splits added ascending
/// in fp32, one rounding. `chunk` is max(CTA_K, group). a: [K]; result [N] in checkpoint order.
Halves GemmRow(const std::uint16_t* a, const AwqMatrix& m, int splits, int chunk,
               arith::StepArithmetic arithmetic);

/// Whether `got` is silu(gate) * up with the contract's roundings, for an exp within a few ulp of
/// the true one.
bool IsSiluMul(std::uint16_t gate, std::uint16_t up, std::uint16_t got);

/// Ordered fp32 reduction: rows[j] may be negative, a route that was not computed. y: [*, hidden].
Halves ReduceToken(const Halves& y, const std::vector<int>& rows, const float* weights, int hidden);

}  // namespace voltcheck::kernels::testing

#endif  // VOLTCHECK_TESTS_KERNELS_HOST_MODEL_H_
