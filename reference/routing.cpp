#include "reference/routing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "fixtures/case/error.h"
#include "reference/exponential.h"

namespace voltcheck::reference {

TopK SoftmaxTopK(std::span<const float> logits, int tokens, int experts, int top_k) {
  if (top_k < 1 || top_k > experts) {
    throw BadInput("top-k " + std::to_string(top_k), "is not in 1..experts", "use a smaller k");
  }
  TopK selected;
  std::vector<float> probability(static_cast<std::size_t>(experts));
  std::vector<std::int32_t> order(static_cast<std::size_t>(experts));
  for (int t = 0; t < tokens; ++t) {
    const auto row =
        logits.subspan(static_cast<std::size_t>(t) * experts, static_cast<std::size_t>(experts));
    float largest = row[0];
    for (const float logit : row) {
      largest = std::fmax(largest, logit);
    }
    float sum = 0;
    for (std::size_t e = 0; e < row.size(); ++e) {
      probability[e] = static_cast<float>(Exp(static_cast<double>(row[e] - largest)));
      sum += probability[e];
    }
    for (float& p : probability) {
      p /= sum;
    }
    std::iota(order.begin(), order.end(), 0);
    // NaN counts as smaller than any probability and the index decides ties, so the order is total.
    const auto rank = [&](std::int32_t e) {
      const float p = probability[static_cast<std::size_t>(e)];
      return std::isnan(p) ? -1.0F : p;
    };
    std::partial_sort(order.begin(), order.begin() + top_k, order.end(),
                      [&](std::int32_t a, std::int32_t b) {
                        return rank(a) > rank(b) || (rank(a) == rank(b) && a < b);
                      });
    float selected_sum = 0;
    for (int j = 0; j < top_k; ++j) {
      selected_sum += probability[static_cast<std::size_t>(order[static_cast<std::size_t>(j)])];
    }
    const float denominator = selected_sum > 0 ? selected_sum : 1;
    for (int j = 0; j < top_k; ++j) {
      const std::int32_t e = order[static_cast<std::size_t>(j)];
      selected.ids.push_back(e);
      selected.weights.push_back(probability[static_cast<std::size_t>(e)] / denominator);
    }
  }
  return selected;
}

bool IsComputed(const Case& c, std::int32_t expert) {
  const std::int64_t experts = c.shape.experts;
  const auto first = static_cast<std::int32_t>(experts * c.ep_rank / c.ep_ranks);
  const auto end = static_cast<std::int32_t>(experts * (c.ep_rank + 1) / c.ep_ranks);
  return expert >= first && expert < end;
}

Permutation Permute(const Problem& problem) {
  const auto slots = static_cast<std::size_t>(problem.c.shape.slots());
  const auto expert_of = [&](std::int32_t slot) {
    return problem.topk_ids[static_cast<std::size_t>(slot)];
  };
  const auto computed = [&](std::int32_t slot) { return IsComputed(problem.c, expert_of(slot)); };

  Permutation p;
  p.source = problem.slot_order;
  if (problem.c.layout == SlotLayout::kSorted) {
    p.source.resize(slots);
    std::iota(p.source.begin(), p.source.end(), 0);
    std::stable_sort(p.source.begin(), p.source.end(),
                     [&](std::int32_t a, std::int32_t b) { return expert_of(a) < expert_of(b); });
  }
  const auto tail = std::stable_partition(p.source.begin(), p.source.end(), computed);
  p.rows = static_cast<int>(tail - p.source.begin());
  if (problem.c.layout == SlotLayout::kSorted) {
    std::sort(tail, p.source.end());
  }

  p.inverse.resize(slots);
  p.expert.resize(slots);
  p.offsets.assign(slots + 1, p.rows);
  p.segment_expert.assign(slots, 0);
  for (std::size_t row = 0; row < slots; ++row) {
    p.inverse[static_cast<std::size_t>(p.source[row])] = static_cast<std::int32_t>(row);
    p.expert[row] = expert_of(p.source[row]);
    const bool starts_run = row == 0 || p.expert[row] != p.expert[row - 1];
    if (row < static_cast<std::size_t>(p.rows) && starts_run) {
      p.offsets[static_cast<std::size_t>(p.active)] = static_cast<std::int32_t>(row);
      p.segment_expert[static_cast<std::size_t>(p.active)] = p.expert[row];
      ++p.active;
    }
  }
  return p;
}

}  // namespace voltcheck::reference
