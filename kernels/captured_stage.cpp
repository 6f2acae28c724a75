#include "kernels/captured_stage.h"

#include <algorithm>

#include "fixtures/case/error.h"
#include "kernels/plan_parts.h"
#include "kernels/stage_outputs.h"

namespace voltcheck::kernels {
namespace {

/// What fixes the launches: everything but how the tensors came about.
Case LaunchPart(Case c) {
  const Case neutral;
  c.routing = neutral.routing;
  c.data = neutral.data;
  c.fixture = neutral.fixture;
  c.fixture_hash = neutral.fixture_hash;
  c.seed = neutral.seed;
  return c;
}

}  // namespace

CapturedStage::CapturedStage(Device& device, KernelSet& kernels, const Problem& problem,
                             const RunOptions& options)
    : CapturedStage(device, kernels, problem, MakePlan(problem), options) {}

CapturedStage::CapturedStage(Device& device, KernelSet& kernels, const Problem& problem, Plan plan,
                             const RunOptions& options)
    : device_(device),
      case_(problem.c),
      plan_(std::move(plan)),
      memory_(device, plan_, device.Describe().kind == "simulator" ? 0 : options.guard_bytes) {
  for (const auto& expert : problem.experts) {
    held_.push_back(expert->id);
  }
  memory_.Upload();
  if (device.Describe().kind != "simulator" || options.poison != Poison::kUnwritten) {
    memory_.Poison(options.poison == Poison::kOnes ? kOnesPattern : kNanPattern);
  }
  for (const PlanLaunch& launch : plan_.launches) {
    if (launch.stage == PlanStage::kRepack) {
      device.Run(memory_.Bind(launch, kernels));
    }
  }
  for (const PlanLaunch& launch : plan_.StageLaunches()) {
    launches_.push_back(memory_.Bind(launch, kernels));
  }
  sequence_ = device.Capture(launches_);
}

ObservedStage CapturedStage::Replay(const Problem& next) { return Observe(next, true); }

ObservedStage CapturedStage::RunEager(const Problem& next) { return Observe(next, false); }

ObservedStage CapturedStage::Observe(const Problem& next, bool captured) {
  if (LaunchPart(next.c) != LaunchPart(case_)) {
    throw BadInput("replay", "the case differs from the captured one in what fixes the launches",
                   "capture it anew");
  }
  for (const auto& expert : next.experts) {
    if (std::find(held_.begin(), held_.end(), expert->id) == held_.end()) {
      throw BadInput("replay",
                     "expert " + std::to_string(expert->id) + " is not held on the device",
                     "capture with every expert that a replay names");
    }
  }
  memory_.Replace("hidden", ContentsOf(next.hidden));
  memory_.Replace("topk_ids", ContentsOf(next.topk_ids));
  memory_.Replace("topk_weights", ContentsOf(next.topk_weights));
  if (case_.layout == SlotLayout::kShuffled) {
    memory_.Replace("slot_order", ContentsOf(next.slot_order));
  }
  if (captured) {
    sequence_->Replay();
  } else {
    for (const Launch& launch : launches_) {
      device_.Run(launch);
    }
  }
  device_.Synchronize();

  ObservedStage observed;
  observed.crashed = device_.faulted();
  if (!observed.crashed) {
    DownloadOutputs(memory_, plan_, case_.shape, observed);
    observed.violations = memory_.BrokenPromises();
  }
  observed.findings = device_.TakeFindings();
  observed.counters = device_.TakeCounters();
  return observed;
}

}  // namespace voltcheck::kernels
