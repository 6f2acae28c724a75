// What may be read and what may be written.
#include <algorithm>
#include <cstring>
#include <map>

#include "kernels/plan_memory.h"
#include "kernels/stage_outputs.h"
#include "verify/properties/breach.h"
#include "verify/properties/checks.h"
#include "verify/properties/edits.h"
#include "verify/properties/sameness.h"

namespace voltcheck::properties {
namespace {

using kernels::BufferSpec;
using kernels::PlanStage;

/// Runs the launches of a plan that `chosen` picks, in order. Throws Breach when that goes wrong.
template <typename Chosen>
void RunLaunches(Bench& bench, Station& station, const kernels::Plan& plan,
                 const kernels::PlanMemory& memory, Chosen chosen) {
  for (const kernels::PlanLaunch& launch : plan.launches) {
    if (chosen(launch.stage)) {
      station.device->Run(memory.Bind(launch, *station.kernels));
    }
  }
  station.device->Synchronize();
  bench.ExpectClean(station);
}

/// Rows of `buffer` from `first` on must still hold the pattern.
void ExpectRowsUntouched(const kernels::PlanMemory& memory, const kernels::Plan& plan,
                         const char* buffer, int first, int slots) {
  const BufferSpec* spec = plan.FindBuffer(buffer);
  if (spec == nullptr || first >= slots) {
    return;
  }
  const std::vector<std::byte> bytes = memory.Download(buffer);
  const std::size_t row_bytes = spec->bytes / static_cast<std::size_t>(slots);
  for (std::size_t at = static_cast<std::size_t>(first) * row_bytes; at < bytes.size(); ++at) {
    const auto want = static_cast<std::byte>(kernels::kOnesPattern >> (8 * (at % 4)));
    if (bytes[at] != want) {
      throw Breach{std::string(buffer) + " row " + std::to_string(at / row_bytes) + ", byte " +
                       std::to_string(at % row_bytes) + " was written, but only " +
                       std::to_string(first) + " rows are computed",
                   buffer, static_cast<int>(at / row_bytes), static_cast<int>(at % row_bytes)};
    }
  }
}

void ExpectNoBrokenPromise(const kernels::PlanMemory& memory) {
  const std::vector<std::string> broken = memory.BrokenPromises();
  if (!broken.empty()) {
    throw Breach{broken.front()};
  }
}

}  // namespace

void UnusedExperts(const Problem& problem, Bench& bench) {
  kernels::Plan plan = bench.MakePlan(problem);  // NaN in their place
  const StageRun with_nan = bench.Run(plan, problem.c);
  for (const char* buffer :
       {"w13.unused_packed", "w13.unused_metadata", "w2.unused_packed", "w2.unused_metadata"}) {
    std::fill(BufferOf(plan, buffer).contents.begin(), BufferOf(plan, buffer).contents.end(),
              std::byte{0});
  }
  ExpectSameStage(bench.Run(plan, problem.c), with_nan,
                  "the bits that the slot has when unused experts are zero instead of NaN");
}

void UntouchedMemory(const Problem& problem, Bench& bench) {
  const Shape& shape = problem.c.shape;
  const kernels::Plan plan = bench.MakePlan(problem);
  Station& station = bench.At(problem.c.numerics);
  // Before and behind every buffer as much room as the largest tile's rows need, so that a row too
  // many lands in a canary and not beyond it.
  constexpr int kTileRows = 128;
  const int widest = std::max(shape.hidden, 2 * shape.intermediate);
  kernels::PlanMemory memory(*station.device, plan,
                             kTileRows * widest * static_cast<int>(sizeof(float)));
  memory.Upload();
  // Not the NaN that arithmetic gives: a row computed from NaN would look untouched.
  memory.Poison(kernels::kOnesPattern);
  RunLaunches(bench, station, plan, memory, [](PlanStage) { return true; });
  ExpectNoBrokenPromise(memory);
  kernels::ObservedStage observed;
  kernels::DownloadOutputs(memory, plan, shape, observed);
  if (observed.rows < 0 || observed.rows > shape.slots()) {
    throw Breach{"the device counts " + std::to_string(observed.rows) + " rows"};
  }
  for (const char* buffer : {"permuted", "w13", "silu", "w2"}) {
    ExpectRowsUntouched(memory, plan, buffer, observed.rows, shape.slots());
  }
}

void InputsUnchanged(const Problem& problem, Bench& bench) {
  const kernels::Plan plan = bench.MakePlan(problem);
  Station& station = bench.At(problem.c.numerics);
  kernels::PlanMemory memory(*station.device, plan, 0);
  memory.Upload();
  memory.Poison(kernels::kNanPattern);
  const auto prepares = [](PlanStage stage) {
    return stage == PlanStage::kRepack || stage == PlanStage::kPermute ||
           stage == PlanStage::kSegments;
  };
  RunLaunches(bench, station, plan, memory, prepares);
  // From here on the weights and the indices are inputs too, all but the two index buffers that the
  // operator declares as mutated.
  std::map<std::string, std::vector<std::byte>> prepared;
  for (const BufferSpec& buffer : plan.buffers) {
    const bool weights = buffer.name.ends_with(".packed") || buffer.name.ends_with(".metadata");
    const bool declared = buffer.name.ends_with("offsets") || buffer.name == "segment_expert" ||
                          buffer.name == "slot_expert";
    if (weights || buffer.name == "permuted" ||
        (buffer.role == BufferSpec::Role::kIndex && !declared)) {
      prepared[buffer.name] = memory.Download(buffer.name);
    }
  }
  RunLaunches(bench, station, plan, memory, [&](PlanStage stage) { return !prepares(stage); });
  ExpectNoBrokenPromise(memory);
  for (const auto& [name, before] : prepared) {
    const std::vector<std::byte> now = memory.Download(name);
    const auto change = std::mismatch(before.begin(), before.end(), now.begin());
    if (change.first != before.end()) {
      throw Breach{name + " was changed at byte " + std::to_string(change.first - before.begin()) +
                   " by a launch that only reads it"};
    }
  }
}

void PoisonChangesNothing(const Problem& problem, Bench& bench) {
  const StageRun base = bench.Run(problem);
  struct Filling {
    kernels::Poison poison;
    const char* name;
  };
  for (const Filling& filling :
       {Filling{kernels::Poison::kNan, "NaN"}, Filling{kernels::Poison::kOnes, "0xff"},
        Filling{kernels::Poison::kPrevious, "the previous result"}}) {
    kernels::RunOptions options;
    options.poison = filling.poison;
    const StageRun poisoned = bench.Run(problem, options);
    const std::string why =
        std::string("the bits when outputs and workspaces hold something else than ") +
        filling.name + " before";
    ExpectSameStage(base, poisoned, why);
    const std::vector<std::string> differences =
        kernels::DifferencesBetween(base.out, poisoned.out, "a clean run", filling.name);
    if (!differences.empty()) {
      throw Breach{differences.front()};
    }
  }
}

}  // namespace voltcheck::properties
