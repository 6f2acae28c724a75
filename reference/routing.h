#ifndef VOLTCHECK_REFERENCE_ROUTING_H_
#define VOLTCHECK_REFERENCE_ROUTING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "fixtures/case/problem.h"

namespace voltcheck::reference {

struct TopK {
  std::vector<std::int32_t> ids;  ///< [T, k]
  std::vector<float> weights;     ///< [T, k]
};
/// fp32 softmax over all experts, then top-k; ties go to the lower index; weights renormalised by
/// the sum of the selected ones (denominator 1 when that sum is <= 0). logits: [T, E]. A NaN logit
/// makes every probability of its token NaN: the token then takes experts 0..k-1 with NaN weights.
/// Throws Error (status 2) when top_k is not in 1..experts.
TopK SoftmaxTopK(std::span<const float> logits, int tokens, int experts, int top_k);

/// Whether the case's rank computes slots of this expert: its id is inside [0, E) and local.
bool IsComputed(const Case& c, std::int32_t expert);

/// What the operator's permute and segment steps must produce. A run is a maximal sequence of
/// neighbouring rows with one expert.
struct Permutation {
  std::vector<std::int32_t> source;   ///< [S] permuted row -> token*k + route
  std::vector<std::int32_t> inverse;  ///< [S] token*k + route -> permuted row
  std::vector<std::int32_t> expert;   ///< [S] expert of each permuted row, as the router named it
  /// [S + 1] first row of each run; every entry from `active` on is `rows`, so the unused segments
  /// are empty. (`rows` is S unless slots are skipped.)
  std::vector<std::int32_t> offsets;
  std::vector<std::int32_t> segment_expert;  ///< [S] expert of each run; unused entries are 0
  int active = 0;                            ///< number of runs
  /// Rows that are computed. Slots that are not (see IsComputed) lie behind them: in token-major
  /// order for layout=sorted, in the order of slot_order for layout=shuffled.
  int rows = 0;
};

/// Permutes by `problem.slot_order` for layout=shuffled, else by a stable sort on the expert id.
Permutation Permute(const Problem& problem);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_ROUTING_H_
