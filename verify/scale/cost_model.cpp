#include "verify/scale/cost_model.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace voltcheck::verify {
namespace {

// Nanoseconds of one core for each term, fitted to 460 measured cases: tests/scale/fit_cost.py.
constexpr std::array<double, kCostTerms> kWeights{6.15e5, 1.45e4, 7.67e4, 15.0,
                                                  0.108,  10.1,   23.5,   11.5};
constexpr std::uint64_t kNsPerMicrosecond = 1000;

// Of all slots, the share that this rank computes.
double LocalShare(const Case& c) {
  if (c.routing.kind == RoutingKind::kOne) {
    const double first = static_cast<double>(c.shape.experts) * c.ep_rank / c.ep_ranks;
    const double end = static_cast<double>(c.shape.experts) * (c.ep_rank + 1) / c.ep_ranks;
    const auto expert = static_cast<double>(c.routing.expert);
    return expert >= std::floor(first) && expert < std::floor(end) ? 1 : 0;
  }
  return 1.0 / c.ep_ranks;
}

// Experts that at least one slot names, as far as the routing tells without making it: the expected
// number for uniform draws, by the product form of (1 - k/E)^T.
double NamedExperts(const Case& c) {
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
  const double untouched =
      std::pow(1 - static_cast<double>(c.shape.top_k) / experts, c.shape.tokens);
  return std::max(1.0, std::min(slots, experts * (1 - untouched)));
}

// The rows that are computed, and into how many runs of one expert they fall.
struct Rows {
  double slots = 0;
  double experts = 0;
  double segments = 0;
};

Rows RowsOf(const Case& c) {
  Rows rows;
  rows.slots = std::max(1.0, c.shape.slots() * LocalShare(c));
  rows.experts = std::max(
      1.0, NamedExperts(c) /
               (c.routing.kind == RoutingKind::kOne ? 1 : static_cast<double>(c.ep_ranks)));
  rows.segments = rows.experts;
  if (c.path == Path::kM1) {
    rows.segments = rows.slots;
  } else if (c.layout == SlotLayout::kShuffled && c.path != Path::kDense) {
    // Neighbours in a random order name the same expert with probability 1 / experts.
    rows.segments = 1 + (rows.slots - 1) * (1 - 1 / rows.experts);
  }
  return rows;
}

// Tiles of m rows that cover a segment of that mean length: half of the last one is empty in the
// mean, and there is never less than one.
double TilesOfSegment(double mean, double m) {
  return mean <= m ? 1 : mean / m + (1 - m / mean) / 2;
}

void AddGemm(const Case& c, const Tactic& tactic, double k, double n, const Rows& rows,
             std::array<double, kCostTerms>& terms) {
  const Tile& tile = tactic.tile;
  const int all_slots = c.shape.slots();
  const double col_tiles = std::ceil(n / tile.n);
  // As kernels/plan_gemm.cpp launches it: room for every way of cutting the rows into segments.
  const bool one_each = c.path == Path::kSegment || c.path == Path::kDense;
  const int segments = c.path == Path::kDense ? c.shape.experts : all_slots;
  const double launches = one_each ? segments : 1;
  const double launched_rows =
      one_each ? (all_slots + tile.m - 1) / tile.m : all_slots / tile.m + segments;
  const int warp_rows = tile.m * tile.n > 128 * 128 ? tile.m : std::min(tile.m, 64);
  const double warps = static_cast<double>(tile.n) / 32 * tile.m / warp_rows;
  const double row_tiles = rows.segments * TilesOfSegment(rows.slots / rows.segments, tile.m);
  const double padded_n = col_tiles * tile.n;
  terms[1] += launches * launched_rows * col_tiles * tactic.splits * warps;
  terms[2] += row_tiles * col_tiles * tactic.splits * warps;
  terms[3] += row_tiles * padded_n * k;
  terms[4] += row_tiles * tile.m * padded_n * k;
  terms[5] += rows.slots * n * k;
  terms[6] += rows.experts * n * k;
}

}  // namespace

std::array<double, kCostTerms> CostTerms(const Case& c) {
  const Rows rows = RowsOf(c);
  std::array<double, kCostTerms> terms{};
  terms[0] = 1;
  if (c.stage == StageSelection::kAll || c.stage == StageSelection::kW13) {
    AddGemm(c, c.w13, c.w13_k(), c.w13_n(), rows, terms);
  }
  if (c.stage == StageSelection::kAll || c.stage == StageSelection::kW2) {
    AddGemm(c, c.w2, c.w2_k(), c.w2_n(), rows, terms);
  }
  terms[7] = static_cast<double>(c.shape.tokens) * c.head * c.shape.hidden;
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

std::vector<std::size_t> ChooseProbes(const std::vector<std::uint64_t>& costs, std::size_t count) {
  std::vector<std::size_t> ascending(costs.size());
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::stable_sort(ascending.begin(), ascending.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
  std::vector<double> ends;  // cost of all cases up to this one
  ends.reserve(costs.size());
  double total = 0;
  for (const std::size_t index : ascending) {
    total += static_cast<double>(costs[index]);
    ends.push_back(total);
  }
  std::vector<std::size_t> probes;
  probes.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    // The number's bits behind the point in the reverse order: 1/2, 1/4, 3/4, 1/8, 5/8, ...
    double place = 0;
    double digit = 0.5;
    for (std::size_t bits = i + 1; bits > 0; bits >>= 1, digit /= 2) {
      place += (bits & 1) != 0 ? digit : 0;
    }
    const auto at = std::upper_bound(ends.begin(), ends.end() - 1, place * total) - ends.begin();
    probes.push_back(ascending[static_cast<std::size_t>(at)]);
  }
  return probes;
}

}  // namespace voltcheck::verify
