#ifndef VOLTCHECK_REFERENCE_ORDER_MODEL_H_
#define VOLTCHECK_REFERENCE_ORDER_MODEL_H_

#include "fixtures/case/problem.h"
#include "reference/matrix.h"
#include "reference/routing.h"
#include "reference/stage.h"

namespace voltcheck::reference {

/// Predicts every bit of a grouped GEMM whose accumulation order is the contract's: per split,
/// k-steps of four ascending through the tensor-core arithmetic of `numerics`; splits added in
/// ascending order in fp32; one rounding to half. Shares with the simulator only reference/arith.
/// a: [S, K] fp16 bits; result [S, N], W13 columns in checkpoint order. Rows from permutation.rows
/// on are +0.
HalfMatrix PredictGemm(const Problem& problem, const Permutation& permutation, Gemm gemm,
                       const HalfMatrix& a, const Tactic& tactic, Numerics numerics);

/// SiLU * up as the contract states it, with expf evaluated to `exp_model`'s bits:
/// s = RN16(g / (1 + expf(-g))) in fp32, then a half multiply. w13 = [gate | up].
HalfMatrix PredictSilu(const HalfMatrix& w13);

/// The ordered fp32 reduction, one rounding.
HalfMatrix PredictReduce(const Problem& problem, const Permutation& permutation,
                         const HalfMatrix& y);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_ORDER_MODEL_H_
