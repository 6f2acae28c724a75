#include "kernels/foreign_plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include "kernels/plan_parts.h"

namespace voltcheck::kernels {
namespace {

constexpr std::array<PlanStage, kParts> kStages{PlanStage::kW13, PlanStage::kSilu, PlanStage::kW2,
                                                PlanStage::kReduce};
constexpr std::array<const char*, kParts> kTensors{"w13", "silu", "w2", "output"};

PlanStage StageOf(Part part) { return kStages[static_cast<std::size_t>(part)]; }
const char* TensorOf(Part part) { return kTensors[static_cast<std::size_t>(part)]; }

/// The last part that a case runs.
Part LastPart(StageSelection stage) {
  switch (stage) {
    case StageSelection::kW13:
      return Part::kW13;
    case StageSelection::kSilu:
      return Part::kSilu;
    case StageSelection::kW2:
      return Part::kW2;
    case StageSelection::kAll:
    case StageSelection::kOutput:
      break;
  }
  return Part::kOutput;
}

std::vector<std::int32_t> ExpertSlots(const Problem& problem, const Plan& plan) {
  std::vector<std::int32_t> slots(static_cast<std::size_t>(problem.c.shape.experts), -1);
  // Experts of another rank have no place: the built-in plan leaves their weights out.
  std::int32_t next = 0;
  const BufferSpec* held = plan.FindBuffer("w13.scales");
  for (const auto& expert : problem.experts) {
    const int begin = problem.c.shape.experts * problem.c.ep_rank / problem.c.ep_ranks;
    const int end = problem.c.shape.experts * (problem.c.ep_rank + 1) / problem.c.ep_ranks;
    if (held != nullptr && expert->id >= begin && expert->id < end) {
      slots[static_cast<std::size_t>(expert->id)] = next++;
    }
  }
  return slots;
}

}  // namespace

Part ForeignStep::first() const { return static_cast<Part>(std::countr_zero(computes)); }
Part ForeignStep::last() const { return static_cast<Part>(std::bit_width(computes) - 1); }

std::string WhyNoSteps(std::span<const ForeignStep> steps) {
  unsigned behind = 0;  // parts up to the last step's end
  if (steps.empty()) {
    return "there is none";
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const ForeignStep& step = steps[i];
    const std::string which = "step " + std::to_string(i);
    if (step.computes == 0 || step.computes >= 1U << kParts) {
      return which + " computes no part of the stage";
    }
    const unsigned shifted = step.computes >> std::countr_zero(step.computes);
    if ((shifted & (shifted + 1)) != 0) {
      return which + " leaves out a part between those that it computes";
    }
    if ((step.writes & ~step.computes) != 0) {
      return which + " writes what it does not compute";
    }
    if ((step.writes & Bit(step.last())) == 0) {
      return which + " does not write the last part that it computes";
    }
    if (Bit(step.first()) <= behind) {
      return which + " does not come behind the steps before it";
    }
    behind = Bit(step.last());
  }
  return "";
}

bool Runs(const ForeignStep& step, StageSelection stage) { return step.first() <= LastPart(stage); }

Plan MakeForeignPlan(const Problem& problem, std::span<const ForeignStep> steps,
                     const std::string& who) {
  const Case& c = problem.c;
  for (const ForeignStep& step : steps) {
    if (Runs(step, c.stage) && step.last() > LastPart(c.stage)) {
      throw Declined(who, "the case ends inside a step that computes several parts at once");
    }
  }
  Plan plan;
  if (c.path == Path::kOffset) {
    plan = kernels::MakePlan(problem);
  } else {
    Problem batch = problem;
    batch.c.path = Path::kOffset;
    try {
      plan = kernels::MakePlan(batch);
    } catch (const Error& error) {  // ids out of range, which the single-token route leaves out
      throw Declined(who, error.what());
    }
  }
  for (const ForeignStep& step : steps) {
    for (int i = 0; i < kParts; ++i) {
      const auto part = static_cast<Part>(i);
      if ((step.computes & Bit(part)) == 0) {
        continue;
      }
      const std::string tensor = TensorOf(part);
      std::erase_if(plan.launches,
                    [&](const PlanLaunch& launch) { return launch.stage == StageOf(part); });
      std::erase_if(plan.buffers, [&](const BufferSpec& buffer) {
        return buffer.name == tensor + ".partials" || buffer.name == tensor + ".locks" ||
               (buffer.name == tensor && (step.writes & Bit(part)) == 0);
      });
    }
  }
  const std::vector<std::int32_t> slots = ExpertSlots(problem, plan);
  plan.buffers.push_back({"expert_slot", slots.size() * sizeof(std::int32_t),
                          BufferSpec::Role::kInput, ContentsOf(slots)});
  return plan;
}

void InsertStep(const ForeignStep& step, std::vector<PlanLaunch> launches, Plan& plan) {
  for (PlanLaunch& launch : launches) {
    launch.stage = StageOf(step.last());
  }
  // The gather comes behind the segments although it belongs to the permutation.
  auto at = plan.launches.end();
  while (at != plan.launches.begin() && std::prev(at)->stage > StageOf(step.last())) {
    --at;
  }
  plan.launches.insert(at, std::make_move_iterator(launches.begin()),
                       std::make_move_iterator(launches.end()));
}

void InsertPreparation(std::vector<PlanLaunch> launches, Plan& plan) {
  for (PlanLaunch& launch : launches) {
    launch.stage = PlanStage::kRepack;
  }
  const auto at = std::find_if(plan.launches.begin(), plan.launches.end(),
                               [](const PlanLaunch& l) { return l.stage != PlanStage::kRepack; });
  plan.launches.insert(at, std::make_move_iterator(launches.begin()),
                       std::make_move_iterator(launches.end()));
}

}  // namespace voltcheck::kernels
