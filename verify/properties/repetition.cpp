// The same launches again: on the same buffers, under other schedules, after another batch, from a
// captured sequence.
#include <set>

#include "fixtures/generate.h"
#include "kernels/captured_stage.h"
#include "kernels/stage_outputs.h"
#include "verify/properties/breach.h"
#include "verify/properties/checks.h"
#include "verify/properties/edits.h"
#include "verify/properties/sameness.h"

namespace voltcheck::properties {
namespace {

constexpr int kRuns = 20;  // three runs have missed real races

void ExpectSameIndices(const StageRun& want, const StageRun& got, const std::string& want_name,
                       const std::string& got_name) {
  const std::vector<std::string> differences =
      kernels::DifferencesBetween(want.out, got.out, want_name, got_name);
  if (!differences.empty()) {
    throw Breach{differences.front()};
  }
}

/// A batch of the same size, with activations and routes of its own, on the same weights.
Problem OtherBatch(const Problem& problem) {
  Case drawn = problem.c;
  drawn.seed = ~problem.c.seed;
  if (drawn.routing.kind == RoutingKind::kOne) {
    drawn.routing.expert = (drawn.routing.expert + 1) % drawn.shape.experts;
  }
  Problem other = problem;
  other.hidden = fixtures::GenerateHidden(drawn);
  fixtures::RoutedTokens routed = fixtures::GenerateRouting(drawn);
  other.topk_ids = std::move(routed.ids);
  other.topk_weights = std::move(routed.weights);
  LayOutSlots(other);
  other.experts.clear();
  for (const std::int32_t id :
       std::set<std::int32_t>(other.topk_ids.begin(), other.topk_ids.end())) {
    if (id >= 0 && id < drawn.shape.experts) {
      const ExpertWeights* held = problem.FindExpert(id);
      other.experts.push_back(held == nullptr ? fixtures::GenerateExpert(problem.c, id)
                                              : std::make_shared<ExpertWeights>(*held));
    }
  }
  return other;
}

/// The batch with the weights of both on the device.
Problem HoldingBoth(const Problem& one, const Problem& two) {
  Problem both = one;
  std::map<int, std::shared_ptr<const ExpertWeights>> experts;
  for (const Problem* problem : {&one, &two}) {
    for (const auto& expert : problem->experts) {
      experts.emplace(expert->id, expert);
    }
  }
  both.experts.clear();
  for (const auto& [id, expert] : experts) {
    both.experts.push_back(expert);
  }
  return both;
}

/// Runs batches one after the other on one set of buffers, and each alone on fresh ones.
void ExpectHistoryForgotten(const Problem& problem, bool captured, Bench& bench) {
  const Problem other = OtherBatch(problem);
  const StageRun alone = bench.Run(problem);
  const StageRun other_alone = bench.Run(other);
  Station& station = bench.At(problem.c.numerics);
  const Problem both = HoldingBoth(problem, other);
  kernels::CapturedStage stage(*station.device, *station.kernels, both, bench.MakePlan(both), {});
  const std::string how = captured ? "a replay" : "a run";
  int step = 0;
  for (const bool is_other : {false, true, true, false}) {
    const Problem& next = is_other ? other : problem;
    const StageRun run{next.c, captured ? stage.Replay(next) : stage.RunEager(next)};
    if (!run.out.findings.empty() || run.out.crashed || !run.out.violations.empty()) {
      throw Breach{run.out.crashed            ? "the device faulted"
                   : run.out.findings.empty() ? run.out.violations.front()
                                              : run.out.findings.front().message};
    }
    ++step;
    const std::string why = "the bits of a fresh run; this is " + how + " number " +
                            std::to_string(step) + " on the same buffers";
    const StageRun& want = is_other ? other_alone : alone;
    ExpectSameIndices(want, run, "a fresh run", how + " number " + std::to_string(step));
    ExpectSameStage(want, run, why);
  }
}

}  // namespace

void Repeats(const Problem& problem, Bench& bench) {
  kernels::RunOptions options;
  options.repeats = kRuns;
  bench.Run(problem, options);  // a difference is a broken promise of the run
}

void Schedules(const Problem& problem, Bench& bench) {
  const StageRun base = bench.Run(problem);
  for (std::uint64_t schedule = 1; schedule <= kRuns; ++schedule) {
    const StageRun other = bench.RunScheduled(problem, schedule);
    const std::string name = "schedule " + std::to_string(schedule);
    ExpectSameStage(base, other, "the bits of the natural schedule; this is " + name);
    ExpectSameIndices(base, other, "the natural schedule", name);
  }
}

void BackToBack(const Problem& problem, Bench& bench) {
  ExpectHistoryForgotten(problem, false, bench);
}

void ReplayOtherRoutes(const Problem& problem, Bench& bench) {
  ExpectHistoryForgotten(problem, true, bench);
}

}  // namespace voltcheck::properties
