#ifndef VOLTCHECK_REFERENCE_BUDGET_H_
#define VOLTCHECK_REFERENCE_BUDGET_H_

#include "fixtures/case/problem.h"
#include "reference/matrix.h"
#include "reference/routing.h"
#include "reference/stage.h"

namespace voltcheck::reference {

/// An fp64 value and how far a correct kernel's fp16 result may lie from it, element by element.
/// The derivation of every formula is in docs/numerics.md.
struct Bounded {
  Matrix<double> value;
  Matrix<double> budget;
};

/// One grouped GEMM judged on the device's own fp16 input: oracle in fp64 over contract weights,
/// a-priori budget for `tactic` and `numerics` (accumulation, split reduction, final rounding).
/// `input_budget` (same shape as `a`, may be null) is the uncertainty of `a`, propagated through
/// |W|.
Bounded BoundGemm(const Problem& problem, const Permutation& permutation, Gemm gemm,
                  const Matrix<double>& a, const Matrix<double>* input_budget, const Tactic& tactic,
                  Numerics numerics);

/// SiLU * up; `input_budget` as above for w13 = [gate | up].
Bounded BoundSilu(const Matrix<double>& w13, const Matrix<double>* input_budget);

/// The ordered weighted reduction.
Bounded BoundReduce(const Problem& problem, const Permutation& permutation, const Matrix<double>& y,
                    const Matrix<double>* input_budget);

/// The whole stage end to end: each stage's value is the exact one, its budget the propagated sum.
struct BoundedStage {
  Bounded w13, silu, w2, output;
};
BoundedStage BoundStage(const Problem& problem, const Permutation& permutation);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_BUDGET_H_
