#include "verify/scale/cost_model.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace voltcheck::verify {
namespace {

// Nanoseconds of one core for each term: estimates that tests/scale/fit_cost.py can replace by
// fitted ones.
constexpr std::array<double, kCostTerms> kWeights{6.0e6, 6.0e4, 0.12, 12.0, 3.0, 700.0, 12.0};
constexpr std::uint64_t kNsPerMicrosecond = 1000;

// Experts that at least one slot names, as far as the routing tells without making it: the expected
// number for uniform draws, by the product form of (1 - k/E)^T.
double ActiveExperts(const Case& c) {
  const double experts = c.shape.experts;
  const double slots = c.shape.slots();
  switch (c.routing.kind) {
    case RoutingKind::kOne:
      return 1;
    case RoutingKind::kHole:
      if (c.routing.hole == Routing::Hole::kMost) {
        return std::min<double>(c.shape.top_k, experts);
      }
      break;
    case RoutingKind::kDistinct:
      return std::min(slots, experts);
    default:
      break;
  }
  double untouched = 1;
  for (int t = 0; t < std::min(c.shape.tokens, 4096); ++t) {
    untouched *= 1 - static_cast<double>(c.shape.top_k) / experts;
  }
  return std::max(1.0, std::min(slots, experts * (1 - untouched)));
}

void AddGemm(const Case& c, const Tactic& tactic, double k, double n, double active,
             std::array<double, kCostTerms>& terms) {
  const double slots = c.shape.slots();
  const double row_tiles = std::max(active, slots / tactic.tile.m);
  const double col_tiles = (n + tactic.tile.n - 1) / tactic.tile.n;
  terms[1] += row_tiles * col_tiles * tactic.splits;
  terms[2] += row_tiles * tactic.tile.m * col_tiles * tactic.tile.n * k;
  terms[3] += active * k * n;
  terms[4] += slots * k * n;
  terms[5] += slots * n;
}

}  // namespace

std::array<double, kCostTerms> CostTerms(const Case& c) {
  const double active = ActiveExperts(c);
  std::array<double, kCostTerms> terms{};
  terms[0] = 1;
  if (c.stage == StageSelection::kAll || c.stage == StageSelection::kW13) {
    AddGemm(c, c.w13, c.w13_k(), c.w13_n(), active, terms);
  }
  if (c.stage == StageSelection::kAll || c.stage == StageSelection::kW2) {
    AddGemm(c, c.w2, c.w2_k(), c.w2_n(), active, terms);
  }
  const double tokens = c.shape.tokens;
  terms[5] += tokens * c.shape.hidden;
  terms[6] = tokens * c.head * c.shape.hidden;
  return terms;
}

std::uint64_t PredictedCost(const Case& c) {
  const std::array<double, kCostTerms> terms = CostTerms(c);
  double ns = 0;
  for (std::size_t i = 0; i < kCostTerms; ++i) {
    ns += kWeights[i] * terms[i];
  }
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(ns) / kNsPerMicrosecond);
}

std::vector<std::uint64_t> PredictedCosts(const std::vector<Case>& cases) {
  std::vector<std::uint64_t> costs;
  costs.reserve(cases.size());
  for (const Case& c : cases) {
    costs.push_back(PredictedCost(c));
  }
  return costs;
}

std::vector<Probe> ChooseProbes(const std::vector<std::uint64_t>& costs, std::size_t count) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
  const std::uint64_t total = std::accumulate(costs.begin(), costs.end(), std::uint64_t{0});
  std::vector<Probe> probes;
  std::uint64_t before = 0;  // cost of the cases before `at`
  std::size_t at = 0;
  for (std::size_t s = 0; s < count && at < order.size(); ++s) {
    const std::uint64_t end = s + 1 == count ? total : total / count * (s + 1);
    Probe probe;
    std::size_t last = at;
    while (last < order.size() && (last == at || before + costs[order[last]] <= end)) {
      before += costs[order[last]];
      probe.stratum_cost += costs[order[last]];
      ++last;
    }
    probe.index = order[at + (last - at) / 2];
    probe.stratum_cases = last - at;
    probes.push_back(probe);
    at = last;
  }
  // What rounding left over belongs to the last stratum.
  for (; at < order.size(); ++at) {
    probes.back().stratum_cost += costs[order[at]];
    ++probes.back().stratum_cases;
  }
  return probes;
}

double ExtrapolateSeconds(const std::vector<Probe>& probes, const std::vector<std::uint64_t>& costs,
                          const std::vector<double>& seconds) {
  assert(probes.size() == seconds.size());
  double total = 0;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    total += seconds[i] * static_cast<double>(probes[i].stratum_cost) /
             static_cast<double>(costs[probes[i].index]);
  }
  return total;
}

double WallSeconds(double core_seconds, double longest_case_seconds, int jobs) {
  return std::max(core_seconds / std::max(1, jobs), longest_case_seconds);
}

}  // namespace voltcheck::verify
