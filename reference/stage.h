#ifndef VOLTCHECK_REFERENCE_STAGE_H_
#define VOLTCHECK_REFERENCE_STAGE_H_

#include <cstdint>
#include <vector>

#include "fixtures/case/problem.h"
#include "reference/awq.h"
#include "reference/matrix.h"
#include "reference/routing.h"

namespace voltcheck::reference {

enum class Rounding {
  kContract,  ///< to fp16 exactly where the contract rounds: after W13, in SiLU (twice), after W2,
              ///< at the end
  kNone,      ///< never
};

struct StageOptions {
  WeightKind weights = WeightKind::kContract;
  Rounding rounding = Rounding::kContract;
};

/// All outputs of one stage, rows in the permuted order of `permutation`, W13 columns in the
/// checkpoint's order (gate half, then up half) whatever the case's column layout.
template <typename Scalar>
struct StageOutputs {
  Matrix<Scalar> w13;     ///< [S, 2I]
  Matrix<Scalar> silu;    ///< [S, I]
  Matrix<Scalar> w2;      ///< [S, H]
  Matrix<Scalar> output;  ///< [T, H]
};

/// The whole stage. Rows of slots that are not computed (see Permutation::rows) are zero and add
/// nothing. Defined for float and double; float is the FP32 Eigen reference, double with
/// Rounding::kNone the oracle.
template <typename Scalar>
StageOutputs<Scalar> RunStage(const Problem& problem, const Permutation& permutation,
                              const StageOptions& options);

/// Which of an expert's two matrices a GEMM uses.
enum class Gemm { kW13, kW2 };

/// The expert's matrix that `gemm` uses. Throws Error (status 2) when the problem does not hold it.
const AwqMatrix& WeightsOf(const Problem& problem, int expert, Gemm gemm);

/// The computed rows of each expert, experts ascending, rows ascending, whatever runs they lie in.
struct ExpertRows {
  int expert = 0;
  std::vector<std::int32_t> rows;
};
std::vector<ExpertRows> RowsByExpert(const Permutation& permutation);

/// One grouped GEMM: row r of `a` times the matrix of expert permutation.expert[r]. `a` is [S, K].
/// Sums run over ascending k, one rounding for each product and each sum, so a row of the result
/// has the same bits whatever the other rows and on every machine. (With contract weights and fp16
/// inputs the products are exact.) Rows from permutation.rows on are zero.
template <typename Scalar>
Matrix<Scalar> GroupedGemm(const Problem& problem, const Permutation& permutation, Gemm gemm,
                           const Matrix<Scalar>& a, const StageOptions& options);

/// The grouped GEMM of magnitudes that error bounds need: row r of `a` times |W| over contract
/// weights, where weights other than 0 count as at least `smallest`.
Matrix<double> AbsoluteGemm(const Problem& problem, const Permutation& permutation, Gemm gemm,
                            const Matrix<double>& a, double smallest);

/// SiLU(gate) * up for w13 = [gate | up], [S, 2I] -> [S, I].
template <typename Scalar>
Matrix<Scalar> SiluMul(const Matrix<Scalar>& w13, Rounding rounding);

/// fma over routes 0..k-1 from +0, one rounding at the end: y [S, H] -> [T, H].
template <typename Scalar>
Matrix<Scalar> ReduceRoutes(const Problem& problem, const Permutation& permutation,
                            const Matrix<Scalar>& y, Rounding rounding);

/// The permuted input [S, H] as `Scalar`.
template <typename Scalar>
Matrix<Scalar> PermutedInput(const Problem& problem, const Permutation& permutation);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_STAGE_H_
