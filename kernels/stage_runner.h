#ifndef VOLTCHECK_KERNELS_STAGE_RUNNER_H_
#define VOLTCHECK_KERNELS_STAGE_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/kernel_set.h"
#include "kernels/plan.h"

namespace voltcheck::kernels {

/// What outputs, indices made by launches and workspaces hold before the launches; a correct
/// kernel's result does not depend on it.
enum class Poison {
  kUnwritten,  ///< the simulator's never-written memory, which its checker reports when read; else
               ///< as kNan
  kNan,        ///< NaN as half and as float
  kOnes,       ///< 0xff in every byte
  kPrevious,   ///< what a run of the same launches, before the first one that counts, left there
};

struct RunOptions {
  Poison poison = Poison::kUnwritten;
  int repeats = 1;  ///< run the launches this often on the same buffers; results must be bit-equal
  /// Canary bytes before and behind every buffer, on a GPU, where nothing else shows a small
  /// overrun. The simulator knows each allocation's exact bounds, so there buffers are allocated
  /// bare.
  int guard_bytes = 256;
  /// Called when the device has done all up to the launches behind the repacking, and when it has
  /// done those, each time that the launches run. For timing; may be empty.
  std::function<void()> before_stage;
  std::function<void()> after_stage;
};

/// What the device produced, as raw bits, rows in permuted slot order, W13 columns in the layout of
/// the case. A stage that the plan does not run is empty, and so are offsets and segment_expert on
/// paths that build no segments (the dense loop, and the single-token route, whose every row is a
/// segment). Rows that are not computed (slots that are not local or out of range) are +0 here,
/// whatever the buffer held.
struct ObservedStage {
  std::vector<std::uint16_t> w13;            ///< [S, 2I]
  std::vector<std::uint16_t> silu;           ///< [S, I]
  std::vector<std::uint16_t> w2;             ///< [S, H]
  std::vector<std::uint16_t> output;         ///< [T, H]
  std::vector<std::int32_t> source;          ///< [S] permuted row -> token*k + route
  std::vector<std::int32_t> expert;          ///< [S] expert of each permuted row
  std::vector<std::int32_t> offsets;         ///< [S + 1]
  std::vector<std::int32_t> segment_expert;  ///< [S]
  int rows = 0;  ///< number of computed rows, as the device counted them
  /// Broken promises, one sentence each: a canary overwritten, an input changed, a lock left dirty,
  /// repeats that differ.
  std::vector<std::string> violations;
  std::vector<Finding> findings;
  Counters counters;
  bool crashed = false;  ///< the device faulted; outputs are what it left, empty when it gives none
};

/// Runs a plan on a device: allocates, uploads, launches, downloads, checks the promises, frees.
ObservedStage RunPlan(Device& device, KernelSet& kernels, const Plan& plan, const Shape& shape,
                      const RunOptions& options);

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_STAGE_RUNNER_H_
