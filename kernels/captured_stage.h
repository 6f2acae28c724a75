#ifndef VOLTCHECK_KERNELS_CAPTURED_STAGE_H_
#define VOLTCHECK_KERNELS_CAPTURED_STAGE_H_

#include <memory>

#include "kernels/plan_memory.h"
#include "kernels/stage_runner.h"

namespace voltcheck::kernels {

/// One stage at fixed addresses: weights are repacked once, the launches of the stage are captured
/// once (a real CUDA graph on a GPU), and replayed for other routings and activations.
class CapturedStage {
 public:
  /// `problem` fixes shape, path, tactics and the experts that are held. Throws what MakePlan
  /// throws.
  CapturedStage(Device& device, KernelSet& kernels, const Problem& problem,
                const RunOptions& options);
  /// The same with a plan for the problem that somebody else made.
  CapturedStage(Device& device, KernelSet& kernels, const Problem& problem, Plan plan,
                const RunOptions& options);

  /// Replays the capture for the activations and routing of `next`, which must agree with the first
  /// problem in all that fixes the launches and name no expert that is not held: Error (status 2)
  /// otherwise.
  ObservedStage Replay(const Problem& next);
  /// The same on the same buffers, launch by launch, without the capture.
  ObservedStage RunEager(const Problem& next);

 private:
  ObservedStage Observe(const Problem& next, bool captured);

  Device& device_;
  Case case_;
  Plan plan_;
  PlanMemory memory_;
  std::vector<int> held_;  ///< ids of the experts whose weights are on the device
  std::vector<Launch> launches_;
  std::unique_ptr<LaunchSequence> sequence_;
};

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_CAPTURED_STAGE_H_
