#ifndef VOLTCHECK_REFERENCE_BUDGET_H_
#define VOLTCHECK_REFERENCE_BUDGET_H_

#include "fixtures/case/problem.h"
#include "reference/matrix.h"
#include "reference/routing.h"
#include "reference/stage.h"

namespace voltcheck::reference {

/// An fp64 value and how far a correct kernel's fp16 result may lie from it, element by element.
/// The derivation of every formula is in docs/numerics.md. What is not finite is said explicitly:
/// - value NaN or Inf, budget 0: a correct result is NaN, or that Inf. A finite value whose
/// rounding
///   overflows for certain stands as Inf.
/// - |value| + budget >= 65520, value finite: the result may also be the Inf of that sign.
/// - budget Inf: nothing can be said, since an earlier stage may or may not have overflowed.
struct Bounded {
  Matrix<double> value;
  Matrix<double> budget;
};

/// Whether the kernel's accumulation order is known. With kDeclared the bound follows the exact
/// partial sums of `tactic`; with kUndeclared it holds for any order of k inside steps of four
/// products and any way of splitting K into at most 16 parts, and is far wider.
enum class AccumulationOrder { kDeclared, kUndeclared };

/// One grouped GEMM: oracle in fp64 over contract weights, a-priori budget for `tactic` and
/// `numerics` (accumulation, split reduction, final rounding). `a` is [S, K]; `input_budget` (same
/// shape, may be null) says how far the kernel's input may lie from `a`, by the rules of Bounded.
/// Rows from permutation.rows on are 0 with budget 0. Throws Error (status 2) for a tactic that
/// cannot compute the matrix.
Bounded BoundGemm(const Problem& problem, const Permutation& permutation, Gemm gemm,
                  const Matrix<double>& a, const Matrix<double>* input_budget, const Tactic& tactic,
                  Numerics numerics, AccumulationOrder order = AccumulationOrder::kDeclared);

/// The same on the kernel's own fp16 input, with the tighter a-posteriori budget: the
/// order-faithful model tells the exponent at which every step was cut off, and its result.
Bounded BoundGemmPosterior(const Problem& problem, const Permutation& permutation, Gemm gemm,
                           const HalfMatrix& a, const Tactic& tactic, Numerics numerics);

/// SiLU * up; `input_budget` as above for w13 = [gate | up]. Covers expf within its documented 2
/// ulp and a division within 2 ulp (the IEEE one as well as the approximate one of fused
/// epilogues).
Bounded BoundSilu(const Matrix<double>& w13, const Matrix<double>* input_budget);

/// The ordered weighted reduction of y [S, H] to [T, H].
Bounded BoundReduce(const Problem& problem, const Permutation& permutation, const Matrix<double>& y,
                    const Matrix<double>* input_budget);

/// The whole stage end to end for the case's tactics and numerics: each stage's value is the exact
/// one, its budget what all stages so far add up to.
struct BoundedStage {
  Bounded w13, silu, w2, output;
};
BoundedStage BoundStage(const Problem& problem, const Permutation& permutation,
                        AccumulationOrder order = AccumulationOrder::kDeclared);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_BUDGET_H_
