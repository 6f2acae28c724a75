#ifndef VOLTCHECK_KERNELS_STAGE_RUNNER_H_
#define VOLTCHECK_KERNELS_STAGE_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/kernel_set.h"
#include "kernels/plan.h"

namespace voltcheck::kernels {

/// What outputs and workspaces hold before the launches; a correct kernel's result does not depend on it.
enum class Poison { kNan, kOnes, kPrevious };

struct RunOptions {
  Poison poison = Poison::kNan;
  int repeats = 1;          ///< run the launches this often on the same buffers; results must be bit-equal
  int guard_bytes = 256;    ///< canary bytes before and behind every buffer
};

/// What the device produced, as raw bits, rows in permuted slot order, W13 columns in the layout of the
/// case. A stage that the plan does not run is empty.
struct ObservedStage {
  std::vector<std::uint16_t> w13;     ///< [S, 2I]
  std::vector<std::uint16_t> silu;    ///< [S, I]
  std::vector<std::uint16_t> w2;      ///< [S, H]
  std::vector<std::uint16_t> output;  ///< [T, H]
  std::vector<std::int32_t> source;   ///< [S] permuted row -> token*k + route
  std::vector<std::int32_t> expert;   ///< [S] expert of each permuted row
  std::vector<std::int32_t> offsets;  ///< [S + 1]
  std::vector<std::int32_t> segment_expert;  ///< [S]
  /// Broken promises, one sentence each: a canary overwritten, an input changed, a lock left dirty, repeats
  /// that differ.
  std::vector<std::string> violations;
  std::vector<Finding> findings;
  Counters counters;
  bool crashed = false;  ///< the device faulted; outputs are what it left
};

/// Runs a plan on a device: allocates, uploads, launches, downloads, checks the promises, frees.
ObservedStage RunPlan(Device& device, KernelSet& kernels, const Plan& plan, const Shape& shape,
                      const RunOptions& options);

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_STAGE_RUNNER_H_
