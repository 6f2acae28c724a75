// How one output of W13 or W2 came about.
#include <algorithm>
#include <array>
#include <set>

#include "fixtures/case/error.h"
#include "reference/arith/fused_dot_add.h"
#include "reference/arith/half.h"
#include "reference/awq.h"
#include "reference/budget.h"
#include "reference/order_model.h"
#include "verify/departure.h"
#include "verify/explain/parts.h"
#include "verify/observed_halves.h"
#include "verify/shortened_runs.h"

namespace voltcheck::explain {
namespace {

using reference::Gemm;
using reference::HalfMatrix;

constexpr int kStepRows = 4;

double Value(std::uint16_t half) { return static_cast<double>(arith::HalfToFloat(half)); }

// The weights of one column and what they are made of.
std::vector<Factor> Factors(const AwqMatrix& m, std::span<const std::uint16_t> input, int col) {
  std::vector<Factor> factors;
  for (int k = 0; k < m.k; ++k) {
    Factor f;
    f.k = k;
    f.activation = Value(input[static_cast<std::size_t>(k)]);
    f.group = k / m.group;
    f.nibble = reference::AwqNibble(m.qweight.data(), m.n, k, col);
    f.zero = reference::AwqNibble(m.qzeros.data(), m.n, f.group, col);
    const std::uint16_t scale =
        m.scales[static_cast<std::size_t>(f.group) * static_cast<std::size_t>(m.n) +
                 static_cast<std::size_t>(col)];
    f.scale = Value(scale);
    f.weight = Value(reference::ContractWeight(f.nibble, f.zero, scale));
    f.word = col / reference::kWordColumns;
    f.place = reference::NibbleOfColumn(col % reference::kWordColumns);
    factors.push_back(f);
  }
  return factors;
}

// The sums after each k-step: the model's in the order and arithmetic of the device, the
// references' over ascending k.
std::vector<Step> Sums(const std::vector<Factor>& factors, const Tactic& tactic, int group,
                       Numerics numerics) {
  std::vector<Step> steps;
  float fp32 = 0;
  double fp64 = 0;
  float finished = 0;
  const auto k_total = static_cast<int>(factors.size());
  for (int split = 0; split < tactic.splits; ++split) {
    const SplitRange range = SplitRows(tactic, split, k_total, group);
    float partial = 0;
    for (int k = range.begin; k < range.end; k += kStepRows) {
      std::array<std::uint16_t, kStepRows> a{};
      std::array<std::uint16_t, kStepRows> w{};
      for (int i = 0; i < kStepRows; ++i) {
        const Factor& f = factors[static_cast<std::size_t>(k + i)];
        a[static_cast<std::size_t>(i)] = arith::DoubleToHalf(f.activation);
        w[static_cast<std::size_t>(i)] = arith::DoubleToHalf(f.weight);
        fp32 += static_cast<float>(f.activation) * static_cast<float>(f.weight);
        fp64 += f.activation * f.weight;
      }
      Step step;
      step.label = "k " + std::to_string(k) + ".." + std::to_string(k + kStepRows - 1);
      step.split = split;
      step.k = k;
      step.sum.fp32 = static_cast<double>(fp32);
      step.sum.fp64 = fp64;
      arith::DotChain(reference::StepArithmeticOf(numerics), a.data(), w.data(), kStepRows,
                      &partial, 1, 1);
      const float sum = split == 0 ? partial : finished + partial;
      step.sum.model = static_cast<double>(sum);
      step.model_half = Value(arith::FloatToHalf(sum));
      steps.push_back(step);
    }
    finished = split == 0 ? partial : finished + partial;
  }
  return steps;
}

bool Same(double a, double b) { return a == b || (a != a && b != b); }

// The steps at which the device is asked: the ends of splits, and the rest spread evenly.
std::set<std::size_t> Chosen(const std::vector<Step>& steps, int wanted) {
  std::set<std::size_t> chosen;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    if (steps[i].split != steps[i + 1].split) {
      chosen.insert(i);
    }
  }
  for (int i = 1; i <= wanted && chosen.size() < static_cast<std::size_t>(wanted); ++i) {
    chosen.insert(steps.size() * static_cast<std::size_t>(i) / static_cast<std::size_t>(wanted) -
                  1);
  }
  return chosen;
}

class DeviceSums {
 public:
  DeviceSums(const Ran& ran, Gemm gemm, Explanation& e)
      : runs_(ran.problem, ran.options.device, ran.observed), gemm_(gemm), e_(e) {}

  // The device's output for an input that ends with this step; nothing when it gives none.
  void Ask(std::size_t index) {
    Step& step = e_.steps[index];
    if (step.sum.device) {
      return;
    }
    const HalfMatrix out = runs_.Run(gemm_, step.k + kStepRows);
    if (out.rows > e_.row && out.cols > e_.col) {
      step.sum.device = Value(out.row(e_.row)[static_cast<std::size_t>(e_.col)]);
      step.differs = step.model_half && !Same(*step.sum.device, *step.model_half);
    }
  }
  const verify::ShortenedRuns& runs() const { return runs_; }

  // The first step at which the device was asked and differs; the number of steps: none.
  std::size_t FirstDifference() const {
    std::size_t i = 0;
    while (i < e_.steps.size() && !(e_.steps[i].sum.device && e_.steps[i].differs)) {
      ++i;
    }
    return i;
  }
  // Halves what lies between that step and the one asked before it, which agrees.
  std::size_t Narrow(std::size_t differs) {
    std::size_t agrees = differs;  // steps [0, agrees) hold the one that agrees, if any does
    while (agrees > 0 && !e_.steps[agrees - 1].sum.device) {
      --agrees;
    }
    while (differs > agrees) {
      const std::size_t middle = (agrees + differs) / 2;
      Ask(middle);
      if (e_.steps[middle].differs) {
        differs = middle;
      } else {
        agrees = middle + 1;
      }
    }
    return differs;
  }

 private:
  verify::ShortenedRuns runs_;
  Gemm gemm_;
  Explanation& e_;
};

void FindWhereTheyPart(const Ran& ran, Gemm gemm, const HalfMatrix& input, const Tactic& tactic,
                       DeviceSums& sums, Explanation& e) {
  const verify::Departure d =
      verify::FindDeparture(ran.problem, ran.permutation, gemm, input, tactic, ran.numerics, e.row,
                            e.col, [&sums](Gemm g, int kept) { return sums.runs().Run(g, kept); });
  if (d.k < 0) {
    e.notes.push_back(
        "the device's result differs from the model's, but not on shortened inputs: the step "
        "cannot "
        "be told");
    return;
  }
  // Steps of uneven splits are in ascending k, like the departure.
  const auto at =
      std::find_if(e.steps.begin(), e.steps.end(), [&](const Step& step) { return step.k == d.k; });
  sums.Ask(static_cast<std::size_t>(at - e.steps.begin()));
  // An error that comes and goes (a rounding) may have shown before the step that a bisection
  // finds: nothing that was asked in front of what is told may differ.
  std::size_t known = e.steps.size();
  for (std::size_t first = sums.FirstDifference(); first < known; first = sums.FirstDifference()) {
    known = sums.Narrow(first);
    for (std::size_t i = known < 2 ? 0 : known - 2; i < std::min(known + 3, e.steps.size()); ++i) {
      sums.Ask(i);
    }
  }
  e.departure = known == e.steps.size() ? -1 : static_cast<int>(known);
}

// One row of W13 or W2 on its own, so that its bound costs one row.
std::optional<double> Budget(const Ran& ran, Gemm gemm, const HalfMatrix& input,
                             const Tactic& tactic, int row, int col) {
  Problem one = ran.problem;
  reference::Permutation p = ran.permutation;
  HalfMatrix a{1, input.cols, {input.row(row).begin(), input.row(row).end()}};
  p.expert = {p.expert[static_cast<std::size_t>(row)]};
  p.rows = 1;
  const reference::Bounded bound =
      reference::BoundGemm(one, p, gemm, verify::Doubles(a), nullptr, tactic, ran.numerics);
  return bound.budget(0, col);
}

}  // namespace

void ExplainGemm(const Ran& ran, Gemm gemm, Explanation& e) {
  const Case& c = ran.problem.c;
  const bool is_w13 = gemm == Gemm::kW13;
  const HalfMatrix input = is_w13 ? verify::PermutedBits(ran.problem, ran.permutation) : ran.silu;
  const HalfMatrix& got = is_w13 ? ran.w13 : ran.w2;
  const Tactic& tactic = is_w13 ? c.w13 : c.w2;
  const int width = is_w13 ? c.w13_n() : c.w2_n();
  if (input.rows == 0) {
    throw BadInput("--stage w2", "is not reached by the case", "leave stage= out of the case");
  }
  Ran::CheckElement(e.row, e.col, ran.permutation.rows, width);
  e.routes = {RouteOfRow(ran, e.row)};
  e.tactic = ToString(tactic);
  const int half = c.shape.intermediate;
  e.what = is_w13 ? (e.col < half ? "gate " + std::to_string(e.col)
                                  : "up " + std::to_string(e.col - half))
                  : "channel " + std::to_string(e.col);
  const AwqMatrix& m = reference::WeightsOf(ran.problem, e.routes[0].expert, gemm);
  e.factors = Factors(m, input.row(e.row), e.col);
  e.steps = Sums(e.factors, tactic, c.shape.group, ran.numerics);
  const Step& last = e.steps.back();
  e.result = {std::nullopt, last.model_half,
              Value(arith::FloatToHalf(static_cast<float>(last.sum.fp32))), last.sum.fp64};
  e.budget = Budget(ran, gemm, input, tactic, e.row, e.col);
  if (got.rows == 0) {
    e.notes.push_back(
        "the device does not store this stage (its epilogue goes on), so it tells no "
        "value of it");
    return;
  }
  e.result.device = Value(got.row(e.row)[static_cast<std::size_t>(e.col)]);
  DeviceSums sums(ran, gemm, e);
  for (const std::size_t i : Chosen(e.steps, ran.options.device_steps)) {
    sums.Ask(i);
  }
  if (e.result.model && !Same(*e.result.device, *e.result.model)) {
    FindWhereTheyPart(ran, gemm, input, tactic, sums, e);
  }
}

}  // namespace voltcheck::explain
