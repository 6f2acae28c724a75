#ifndef VOLTCHECK_VERIFY_EXPLAIN_PARTS_H_
#define VOLTCHECK_VERIFY_EXPLAIN_PARTS_H_

#include "fixtures/case/problem.h"
#include "kernels/stage_runner.h"
#include "reference/matrix.h"
#include "reference/routing.h"
#include "reference/stage.h"
#include "verify/explain/explain.h"

namespace voltcheck::explain {

/// One run of a case, and what all explanations of its elements need.
struct Ran {
  const Problem& problem;
  const ExplainOptions& options;
  kernels::ObservedStage observed;
  reference::Permutation permutation;
  Numerics numerics;          ///< that the device really has
  reference::HalfMatrix w13;  ///< the device's, checkpoint order; rows is 0 when not observed
  reference::HalfMatrix silu, w2, output;

  /// Throws Error for an element outside rows x cols, naming both.
  static void CheckElement(int row, int col, int rows, int cols);
};

RowRoute RouteOfRow(const Ran& ran, int row);

void ExplainGemm(const Ran& ran, reference::Gemm gemm, Explanation& e);
void ExplainSilu(const Ran& ran, Explanation& e);
void ExplainOutput(const Ran& ran, Explanation& e);
void ExplainLogit(const Ran& ran, Explanation& e);

}  // namespace voltcheck::explain

#endif  // VOLTCHECK_VERIFY_EXPLAIN_PARTS_H_
