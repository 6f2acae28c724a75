#ifndef VOLTCHECK_REFERENCE_ORDER_MODEL_H_
#define VOLTCHECK_REFERENCE_ORDER_MODEL_H_

#include <cstdint>

#include "fixtures/case/problem.h"
#include "reference/arith/fused_dot_add.h"
#include "reference/matrix.h"
#include "reference/routing.h"
#include "reference/stage.h"

namespace voltcheck::reference {

/// The arithmetic of one m8n8k4 step. From sm_80 on it is a software routine, on sm_90 as well.
arith::StepArithmetic StepArithmeticOf(Numerics numerics);

/// Predicts every bit of a grouped GEMM whose accumulation order is the contract's: per split,
/// k-steps of four ascending through the tensor-core arithmetic of `numerics`; splits added in
/// ascending order in fp32; one rounding to half. Shares with the simulator only reference/arith.
/// a: [S, K] fp16 bits; result [S, N], W13 columns in checkpoint order. Rows from permutation.rows
/// on are +0. Throws Error (status 2) for a tactic that cannot compute the matrix.
HalfMatrix PredictGemm(const Problem& problem, const Permutation& permutation, Gemm gemm,
                       const HalfMatrix& a, const Tactic& tactic, Numerics numerics);

/// The same for the one output (row, column), on the first `kept` elements of that row of `a`; the
/// others count as zero.
std::uint16_t PredictElement(const Problem& problem, const Permutation& permutation, Gemm gemm,
                             const HalfMatrix& a, const Tactic& tactic, Numerics numerics, int row,
                             int column, int kept);

/// expf(x) as nvcc 11.8 compiles it for SM70 without fast-math, with the bits of the table unit
/// that reference/arith models (TableUnitChip names it).
float ExpfOfNvcc(float x);

/// SiLU * up as the contract states it, s = RN16(g / (1 + expf(-g))) in fp32 with an IEEE division,
/// then a half multiply; expf is ExpfOfNvcc. w13 = [gate | up].
HalfMatrix PredictSilu(const HalfMatrix& w13);

/// The same with the approximate division of the fused epilogue, g * rcp(1 + expf(-g)): __fdividef
/// as nvcc 11.8 compiles it, with the reciprocal that reference/arith models.
HalfMatrix PredictFusedSilu(const HalfMatrix& w13);

/// Which division SiLU has.
enum class SiluDivision { kIeee, kApproximate };

/// Whether `got` is a value that SiLU(gate) * up may have on a chip whose expf (and approximate
/// division) is only known to keep its documented bound of 2 ulp: the half lies between those that
/// the two ends of the bound give. -0 equals +0 and any NaN any other.
bool SiluAllows(std::uint16_t gate, std::uint16_t up, std::uint16_t got,
                SiluDivision division = SiluDivision::kIeee);

/// The ordered fp32 reduction: fma over routes 0..k-1 from +0, one rounding at the end.
HalfMatrix PredictReduce(const Problem& problem, const Permutation& permutation,
                         const HalfMatrix& y);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_ORDER_MODEL_H_
