#include "kernels/stage_runner.h"

#include <algorithm>

#include "fixtures/case/error.h"
#include "kernels/plan_memory.h"
#include "kernels/stage_outputs.h"

namespace voltcheck::kernels {
namespace {

void Tell(Device& device, const std::function<void()>& listener) {
  if (listener) {
    device.Synchronize();
    listener();
  }
}

/// Runs the launches in order, of which the first `repacking` repack; false when the device
/// faulted.
bool RunAll(Device& device, const std::vector<Launch>& launches, std::size_t repacking,
            const RunOptions& options) {
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (i == repacking) {
      Tell(device, options.before_stage);
    }
    device.Run(launches[i]);
    if (device.faulted()) {
      return false;
    }
  }
  device.Synchronize();
  Tell(device, options.after_stage);
  return !device.faulted();
}

}  // namespace

ObservedStage RunPlan(Device& device, KernelSet& kernels, const Plan& plan, const Shape& shape,
                      const RunOptions& options) {
  const bool simulated = device.Describe().kind == "simulator";
  PlanMemory memory(device, plan, simulated ? 0 : options.guard_bytes);
  memory.Upload();
  if (options.poison != Poison::kUnwritten || !simulated) {
    memory.Poison(options.poison == Poison::kOnes ? kOnesPattern : kNanPattern);
  }
  std::vector<Launch> launches;
  launches.reserve(plan.launches.size());
  for (const PlanLaunch& launch : plan.launches) {
    launches.push_back(memory.Bind(launch, kernels));
  }

  const auto stage_begin =
      std::find_if(plan.launches.begin(), plan.launches.end(),
                   [](const PlanLaunch& l) { return l.stage != PlanStage::kRepack; });
  const auto repacking = static_cast<std::size_t>(stage_begin - plan.launches.begin());
  const auto run = [&] { return RunAll(device, launches, repacking, options); };

  ObservedStage observed;
  observed.crashed = options.poison == Poison::kPrevious && !run();
  for (int repeat = 1; repeat <= options.repeats && !observed.crashed; ++repeat) {
    observed.crashed = !run();
    if (observed.crashed) {
      break;
    }
    if (repeat == 1) {
      DownloadOutputs(memory, plan, shape, observed);
    } else {
      ObservedStage again;
      DownloadOutputs(memory, plan, shape, again);
      const std::vector<std::string> differences =
          DifferencesBetween(observed, again, "run 1", "run " + std::to_string(repeat));
      observed.violations.insert(observed.violations.end(), differences.begin(), differences.end());
    }
  }
  if (observed.crashed) {
    try {
      DownloadOutputs(memory, plan, shape, observed);
    } catch (const Error&) {
      observed.crashed = true;  // a GPU that has faulted gives nothing back
    }
  } else {
    const std::vector<std::string> broken = memory.BrokenPromises();
    observed.violations.insert(observed.violations.end(), broken.begin(), broken.end());
  }
  observed.findings = device.TakeFindings();
  observed.counters = device.TakeCounters();
  return observed;
}

}  // namespace voltcheck::kernels
