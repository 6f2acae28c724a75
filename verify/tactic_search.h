#ifndef VOLTCHECK_VERIFY_TACTIC_SEARCH_H_
#define VOLTCHECK_VERIFY_TACTIC_SEARCH_H_

#include <vector>

#include "fixtures/case/problem.h"
#include "kernels/stage_runner.h"

namespace voltcheck::verify {

/// Which tactics' predicted bits are the bits of one GEMM's outputs.
struct TacticMatch {
  /// Whether the outputs could tell: they, or a later stage's outputs, are there.
  bool looked_for = false;
  /// All tactics that give these bits, in the order of TilesForGroup; tiles with the same split
  /// boundaries always agree. Empty: none does.
  std::vector<Tactic> tactics;
};

/// What FindTactics found for both GEMMs.
struct TacticMatches {
  TacticMatch w13;
  TacticMatch w2;
};

/// Which tactics reproduce, bit for bit, the outputs that somebody computed or captured. Each GEMM
/// is predicted with every way of splitting K that a tactic has, on the outputs' own input where
/// that is there, and compared where its result first shows: W13 in `w13`, else in `silu` (where
/// the documented bound of expf leaves two halves open both count), else in what comes last; W2 in
/// `w2`, else in `output`. One token is tried first; what survives is confirmed on all.
TacticMatches FindTactics(const Problem& problem, const kernels::ObservedStage& outputs,
                          Numerics numerics);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_TACTIC_SEARCH_H_
