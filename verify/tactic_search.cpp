#include "verify/tactic_search.h"

#include <algorithm>
#include <map>
#include <optional>

#include "reference/arith/half.h"
#include "reference/order_model.h"
#include "reference/routing.h"
#include "verify/observed_halves.h"

namespace voltcheck::verify {
namespace {

using kernels::ObservedStage;
using reference::Gemm;
using reference::HalfMatrix;
using reference::Permutation;

constexpr int kMostSplits = 16;

// Tactics with the same split boundaries: they have the same bits.
using OrderClass = std::vector<Tactic>;

std::vector<OrderClass> OrderClasses(int k, int n, int group) {
  std::map<std::vector<int>, std::size_t> known;
  std::vector<OrderClass> classes;
  for (const Tile& tile : TilesForGroup(group)) {
    for (int splits = 1; splits <= kMostSplits; ++splits) {
      const Tactic tactic{tile, splits};
      if (!WhyInfeasible(tactic, k, n, group).empty()) {
        continue;
      }
      std::vector<int> ends;
      for (int s = 0; s < splits; ++s) {
        ends.push_back(SplitRows(tactic, s, k, group).end);
      }
      const auto [it, fresh] = known.emplace(ends, classes.size());
      if (fresh) {
        classes.emplace_back();
      }
      classes[it->second].push_back(tactic);
    }
  }
  return classes;
}

// The outputs with what the predictions need: of the whole case, or of one token.
struct Scene {
  Problem problem;
  Permutation permutation;
  HalfMatrix input;
  std::optional<HalfMatrix> w13;  // checkpoint column order
  std::optional<HalfMatrix> silu;
  std::optional<HalfMatrix> w2;
  std::optional<HalfMatrix> output;
};

Scene WholeScene(const Problem& problem, const ObservedStage& outputs) {
  Scene scene;
  scene.problem = problem;
  scene.permutation = reference::Permute(problem);
  scene.input = PermutedBits(problem, scene.permutation);
  const Case& c = problem.c;
  const int rows = scene.permutation.rows;
  const auto matrix = [&](const std::vector<std::uint16_t>& bits, int all, int cols, int computed) {
    return bits.empty() ? std::nullopt : std::optional(ObservedMatrix(bits, all, cols, computed));
  };
  const int slots = c.shape.slots();
  scene.w13 = matrix(outputs.w13, slots, c.w13_n(), rows);
  if (scene.w13 && c.columns == Columns::kInterleaved) {
    Deinterleave(*scene.w13);
  }
  scene.silu = matrix(outputs.silu, slots, c.shape.intermediate, rows);
  scene.w2 = matrix(outputs.w2, slots, c.w2_n(), rows);
  scene.output = matrix(outputs.output, c.shape.tokens, c.shape.hidden, c.shape.tokens);
  return scene;
}

HalfMatrix TakeRows(const HalfMatrix& m, const std::vector<int>& rows) {
  HalfMatrix taken{static_cast<int>(rows.size()), m.cols, {}};
  for (const int row : rows) {
    taken.bits.insert(taken.bits.end(), m.row(row).begin(), m.row(row).end());
  }
  return taken;
}

// The scene of the first token alone, its rows in their order.
Scene FirstToken(const Scene& whole) {
  const int routes = whole.problem.c.shape.top_k;
  std::vector<int> rows;
  for (int row = 0; row < whole.permutation.rows; ++row) {
    if (whole.permutation.source[static_cast<std::size_t>(row)] < routes) {
      rows.push_back(row);
    }
  }
  Scene one;
  one.problem = whole.problem;
  one.problem.c.shape.tokens = 1;
  one.permutation.rows = static_cast<int>(rows.size());
  one.permutation.inverse.assign(static_cast<std::size_t>(routes), one.permutation.rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i]);
    const std::int32_t source = whole.permutation.source[row];
    one.permutation.source.push_back(source);
    one.permutation.expert.push_back(whole.permutation.expert[row]);
    one.permutation.inverse[static_cast<std::size_t>(source)] = static_cast<std::int32_t>(i);
  }
  one.input = TakeRows(whole.input, rows);
  const auto take = [](const std::optional<HalfMatrix>& m, const std::vector<int>& which) {
    return m ? std::optional(TakeRows(*m, which)) : std::nullopt;
  };
  one.w13 = take(whole.w13, rows);
  one.silu = take(whole.silu, rows);
  one.w2 = take(whole.w2, rows);
  one.output = take(whole.output, {0});
  return one;
}

bool SameBits(const HalfMatrix& a, const HalfMatrix& b) {
  return std::equal(
      a.bits.begin(), a.bits.end(), b.bits.begin(), b.bits.end(),
      [](std::uint16_t x, std::uint16_t y) { return arith::HalfUlpDistance(x, y) == 0; });
}

bool SiluFits(const HalfMatrix& w13, const HalfMatrix& silu) {
  for (int r = 0; r < silu.rows; ++r) {
    const auto row = w13.row(r);
    for (int i = 0; i < silu.cols; ++i) {
      if (!reference::SiluAllows(row[static_cast<std::size_t>(i)],
                                 row[static_cast<std::size_t>(silu.cols + i)],
                                 silu.row(r)[static_cast<std::size_t>(i)])) {
        return false;
      }
    }
  }
  return true;
}

// Indices into the lists of classes that a scene does not contradict.
struct Survivors {
  std::vector<std::size_t> w13;
  std::vector<std::size_t> w2;
};

class Search {
 public:
  Search(const Case& c, Numerics numerics)
      : numerics_(numerics),
        w13_(OrderClasses(c.w13_k(), c.w13_n(), c.shape.group)),
        w2_(OrderClasses(c.w2_k(), c.w2_n(), c.shape.group)) {}

  Survivors All() const {
    Survivors all;
    for (std::size_t i = 0; i < w13_.size(); ++i) {
      all.w13.push_back(i);
    }
    for (std::size_t i = 0; i < w2_.size(); ++i) {
      all.w2.push_back(i);
    }
    return all;
  }

  Survivors Narrow(const Scene& scene, const Survivors& before) const {
    Survivors after;
    std::vector<std::pair<std::size_t, HalfMatrix>> w2_inputs;  // by W13's class
    const bool w13_shows = scene.w13 || scene.silu;
    const bool w2_shows = scene.w2 || scene.output;
    if (scene.silu) {
      w2_inputs.emplace_back(0, *scene.silu);
    } else if (scene.w13) {
      w2_inputs.emplace_back(0, reference::PredictSilu(*scene.w13));
    }
    for (const std::size_t i : before.w13) {
      const HalfMatrix w13 = reference::PredictGemm(scene.problem, scene.permutation, Gemm::kW13,
                                                    scene.input, w13_[i].front(), numerics_);
      if (!w13_shows) {
        if (w2_shows) {
          w2_inputs.emplace_back(i, reference::PredictSilu(w13));
        }
      } else if (scene.w13 ? SameBits(w13, *scene.w13) : SiluFits(w13, *scene.silu)) {
        after.w13.push_back(i);
      }
    }
    for (const auto& [from, input] : w2_inputs) {
      bool any = false;
      for (const std::size_t i : before.w2) {
        if (w2_shows && W2Fits(scene, input, w2_[i].front())) {
          any = true;
          after.w2.push_back(i);
        }
      }
      if (!w13_shows && any) {
        after.w13.push_back(from);
      }
    }
    std::sort(after.w2.begin(), after.w2.end());
    after.w2.erase(std::unique(after.w2.begin(), after.w2.end()), after.w2.end());
    return after;
  }

  static std::vector<Tactic> Tactics(const std::vector<OrderClass>& classes,
                                     const std::vector<std::size_t>& which) {
    std::vector<Tactic> tactics;
    for (const std::size_t i : which) {
      tactics.insert(tactics.end(), classes[i].begin(), classes[i].end());
    }
    return tactics;
  }
  const std::vector<OrderClass>& w13() const { return w13_; }
  const std::vector<OrderClass>& w2() const { return w2_; }

 private:
  bool W2Fits(const Scene& scene, const HalfMatrix& input, const Tactic& tactic) const {
    const HalfMatrix w2 = reference::PredictGemm(scene.problem, scene.permutation, Gemm::kW2, input,
                                                 tactic, numerics_);
    return scene.w2 ? SameBits(w2, *scene.w2)
                    : SameBits(reference::PredictReduce(scene.problem, scene.permutation, w2),
                               *scene.output);
  }

  Numerics numerics_;
  std::vector<OrderClass> w13_;
  std::vector<OrderClass> w2_;
};

}  // namespace

TacticMatches FindTactics(const Problem& problem, const ObservedStage& outputs, Numerics numerics) {
  TacticMatches matches;
  const bool later = !outputs.w2.empty() || !outputs.output.empty();
  matches.w2.looked_for = later && numerics != Numerics::kSm90;
  matches.w13.looked_for =
      (later || !outputs.w13.empty() || !outputs.silu.empty()) && numerics != Numerics::kSm90;
  if (!matches.w13.looked_for) {
    return matches;
  }
  const Search search(problem.c, numerics);
  const Scene whole = WholeScene(problem, outputs);
  Survivors survivors = search.Narrow(FirstToken(whole), search.All());
  if (problem.c.shape.tokens > 1 && !(survivors.w13.empty() && survivors.w2.empty())) {
    survivors = search.Narrow(whole, survivors);
  }
  matches.w13.tactics = Search::Tactics(search.w13(), survivors.w13);
  matches.w2.tactics = Search::Tactics(search.w2(), survivors.w2);
  return matches;
}

}  // namespace voltcheck::verify
