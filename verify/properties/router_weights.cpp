// The weighted reduction: routes add up, linearly in the router's weights.
//
// Two runs of a reduction over the same rows y can be compared without a reference: sums of w * y
// in fp64 say how far apart exact results lie, and the chain's own error is bounded by
// gamma_n * sum |w y| (n fused multiply-adds in fp32) and one rounding to half. Where every partial
// sum is an fp32 number the chain makes no error at all, and the results must be the exact sums,
// rounded once.
#include <cmath>
#include <cstdlib>

#include "reference/arith/half.h"
#include "reference/rounding_error.h"
#include "verify/properties/breach.h"
#include "verify/properties/checks.h"
#include "verify/properties/edits.h"
#include "verify/properties/sameness.h"

namespace voltcheck::properties {
namespace {

/// One output element as the routes' rows give it.
struct Chain {
  double sum = 0;
  double error = 0;    ///< how far the fp32 chain may lie from `sum`, before rounding to half
  bool exact = true;   ///< every partial sum is an fp32 number, and `sum` is the exact one
  bool finite = true;  ///< every row is finite there
};

/// Adds the terms of one route in the router's order.
void AddRoute(float weight, std::uint16_t y, int routes, Chain& chain) {
  const double value = arith::HalfToFloat(y);
  const double term = double{weight} * value;  // 24 + 11 bits: exact
  const double sum = chain.sum + term;
  // Knuth's two-sum: what the addition in fp64 lost.
  const double back = sum - chain.sum;
  const double lost = (chain.sum - (sum - back)) + (term - back);
  chain.finite = chain.finite && std::isfinite(value);
  chain.exact = chain.exact && lost == 0 && static_cast<double>(static_cast<float>(sum)) == sum;
  chain.error += reference::Gamma(routes) * std::fabs(term) + std::fabs(lost) + 0x1p-149;
  chain.sum = sum;
}

Chain ChainOf(const StageRun& run, const RowsBySlot& rows, const std::vector<float>& weights,
              int token, int col) {
  const Shape& shape = run.c.shape;
  Chain chain;
  for (int route = 0; route < shape.top_k; ++route) {
    const int slot = token * shape.top_k + route;
    if (rows[slot] >= 0) {
      const std::size_t at = static_cast<std::size_t>(rows[slot]) * shape.hidden + col;
      AddRoute(weights[static_cast<std::size_t>(slot)], run.out.w2[at], shape.top_k, chain);
    }
  }
  return chain;
}

/// A combination of runs over the same rows whose exact outputs must add up to zero.
struct Term {
  const StageRun* run;
  const std::vector<float>* weights;
  int factor;  ///< of the run in the sum that must be zero
};

/// Throws Breach where the terms' outputs do not add up as the exact sums do; counts what was
/// comparable.
void ExpectBalance(const std::vector<Term>& terms, const std::string& why) {
  const StageRun& first = *terms.front().run;
  const Shape& shape = first.c.shape;
  const RowsBySlot rows(first);
  std::uint64_t compared = 0;
  for (int token = 0; token < shape.tokens; ++token) {
    for (int col = 0; col < shape.hidden; ++col) {
      const std::size_t at = static_cast<std::size_t>(token) * shape.hidden + col;
      double exact_balance = 0;
      double balance = 0;
      double allowed = 0;
      bool comparable = true;
      for (const Term& term : terms) {
        const Chain chain = ChainOf(first, rows, *term.weights, token, col);
        const std::uint16_t got = term.run->out.output[at];
        const double value = arith::HalfToFloat(got);
        const double reach = std::fabs(chain.sum) + chain.error;
        comparable = comparable && chain.finite && reach < reference::kHalfOverflow;
        if (!comparable) {
          break;
        }
        if (chain.exact && got != arith::DoubleToHalf(chain.sum)) {
          throw ElementBreach("output", token, col, got, arith::DoubleToHalf(chain.sum),
                              why + " (every partial sum is exact)");
        }
        exact_balance += term.factor * chain.sum;
        balance += term.factor * value;
        allowed += std::abs(term.factor) *
                   ((chain.exact ? 0 : chain.error) + reference::HalfRoundingError(reach));
      }
      if (!comparable) {
        continue;
      }
      ++compared;
      // A thousandth for the fp64 sums here.
      if (!(std::fabs(balance - exact_balance) <= allowed * 1.001)) {
        Breach breach{"output of token " + std::to_string(token) + ", column " +
                          std::to_string(col) + ": the runs differ by " +
                          std::to_string(balance - exact_balance) + " from what " + why +
                          ", allowed " + std::to_string(allowed),
                      "output",
                      token,
                      col,
                      balance,
                      exact_balance};
        throw breach;
      }
    }
  }
  if (compared == 0) {
    throw NothingToCompare{"no output is finite"};
  }
}

Problem WithWeights(const Problem& problem, std::vector<float> weights) {
  Problem other = problem;
  other.topk_weights = std::move(weights);
  return other;
}

}  // namespace

void DuplicateSlotsAdd(const Problem& problem, Bench& bench) {
  const auto top_k = static_cast<std::size_t>(problem.c.shape.top_k);
  Problem twice = problem;
  std::vector<int> first_route(twice.topk_ids.size(), -1);
  std::vector<float> merged = problem.topk_weights;
  for (std::size_t slot = 0; slot < twice.topk_ids.size(); slot += top_k) {
    twice.topk_ids[slot + 1] = twice.topk_ids[slot];
    first_route[slot + 1] = static_cast<int>(slot);
    merged[slot] = problem.topk_weights[slot] + problem.topk_weights[slot + 1];
    merged[slot + 1] = 0;
  }
  LayOutSlots(twice);
  const StageRun apart = bench.Run(twice);
  ExpectSameSlots(apart, apart, first_route, "the bits of the token's other slot on this expert");
  const StageRun together = bench.Run(WithWeights(twice, merged));
  ExpectSameSlots(
      apart, together,
      [&] {
        std::vector<int> same(twice.topk_ids.size());
        for (std::size_t s = 0; s < same.size(); ++s) {
          same[s] = static_cast<int>(s);
        }
        return same;
      }(),
      "the bits under other router weights");
  ExpectBalance({{&apart, &twice.topk_weights, 1}, {&together, &merged, -1}},
                "one expert named twice gives when its weights are added up");
}

void ZeroWeightAddsNothing(const Problem& problem, Bench& bench) {
  const Shape& shape = problem.c.shape;
  const auto top_k = static_cast<std::uint64_t>(shape.top_k);
  const int route = static_cast<int>(ChoicesOf(problem.c).Below(top_k, 0));
  Problem zero = problem;
  for (std::size_t slot = static_cast<std::size_t>(route); slot < zero.topk_weights.size();
       slot += top_k) {
    zero.topk_weights[slot] = 0;
  }
  const StageRun with = bench.Run(zero);
  const RowsBySlot rows(with);
  // 0 * Inf is NaN, so tokens whose row is not finite are another property's.
  std::vector<int> finite_token(static_cast<std::size_t>(shape.tokens), -1);
  std::uint64_t finite = 0;
  for (int token = 0; token < shape.tokens; ++token) {
    const int row = rows[token * shape.top_k + route];
    bool all = true;
    for (int col = 0; row >= 0 && col < shape.hidden; ++col) {
      const std::size_t at = static_cast<std::size_t>(row) * shape.hidden + col;
      all = all && std::isfinite(arith::HalfToFloat(with.out.w2[at]));
    }
    if (all) {
      finite_token[static_cast<std::size_t>(token)] = token;
      ++finite;
    }
  }
  if (finite == 0) {
    throw NothingToCompare{"no row of the route is finite"};
  }
  const std::string why = "the bits without route " + std::to_string(route) + ", whose weight is 0";
  if (shape.top_k > 1) {
    ExpectSameTokens(bench.Run(WithoutRoute(problem, route)), with, finite_token, why);
    return;
  }
  StageRun nothing = with;
  nothing.out.output.assign(with.out.output.size(), 0);
  ExpectSameTokens(nothing, with, finite_token, why);
}

void LinearInWeights(const Problem& problem, Bench& bench) {
  const auto top_k = static_cast<std::size_t>(problem.c.shape.top_k);
  const std::vector<float>& u = problem.topk_weights;
  std::vector<float> v(u.size());
  std::vector<float> sum(u.size());
  std::vector<float> doubled(u.size());
  for (std::size_t slot = 0; slot < u.size(); ++slot) {
    v[slot] = u[slot - slot % top_k + (slot + 1) % top_k] / 2;
    sum[slot] = u[slot] + v[slot];
    doubled[slot] = 2 * u[slot];
  }
  const StageRun of_u = bench.Run(problem);
  const StageRun of_v = bench.Run(WithWeights(problem, v));
  const StageRun of_sum = bench.Run(WithWeights(problem, sum));
  const StageRun of_doubled = bench.Run(WithWeights(problem, doubled));
  ExpectBalance({{&of_u, &u, 1}, {&of_v, &v, 1}, {&of_sum, &sum, -1}},
                "the sum of two sets of router weights gives");
  ExpectBalance({{&of_u, &u, 2}, {&of_doubled, &doubled, -1}},
                "router weights twice as large give");
}

}  // namespace voltcheck::properties
