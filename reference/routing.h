#ifndef VOLTCHECK_REFERENCE_ROUTING_H_
#define VOLTCHECK_REFERENCE_ROUTING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "fixtures/case/problem.h"

namespace voltcheck::reference {

/// fp32 softmax over all experts, then top-k; ties go to the lower index; weights renormalised by the sum
/// of the selected ones (denominator 1 when that sum is <= 0). logits: [T, E].
struct TopK {
  std::vector<std::int32_t> ids;  ///< [T, k]
  std::vector<float> weights;     ///< [T, k]
};
TopK SoftmaxTopK(std::span<const float> logits, int tokens, int experts, int top_k);

/// What the operator's permute and segment steps must produce.
struct Permutation {
  std::vector<std::int32_t> source;     ///< [S] permuted row -> token*k + route
  std::vector<std::int32_t> inverse;    ///< [S] token*k + route -> permuted row
  std::vector<std::int32_t> expert;     ///< [S] expert of each permuted row
  std::vector<std::int32_t> offsets;    ///< [S + 1] first row of each run; every entry from `active` on is S
  std::vector<std::int32_t> segment_expert;  ///< [S] expert of each run; unused entries are 0
  int active = 0;                       ///< number of runs
  int rows = 0;  ///< rows that are computed; slots that are not local (or out of range) lie behind them
};

/// Permutes by `problem.slot_order` for layout=shuffled, else by a stable sort on the expert id.
Permutation Permute(const Problem& problem);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_ROUTING_H_
