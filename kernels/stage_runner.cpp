#include "kernels/stage_runner.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "fixtures/case/error.h"
#include "kernels/plan_memory.h"

namespace voltcheck::kernels {
namespace {

constexpr std::uint32_t kNanPattern =
    0x7fff7fffU;  // NaN as two halves, as a float, and a large integer
constexpr std::uint32_t kOnesPattern = 0xffffffffU;

template <typename T>
std::vector<T> DownloadAs(const PlanMemory& memory, const Plan& plan, std::string_view name) {
  if (plan.FindBuffer(name) == nullptr) {
    return {};
  }
  const std::vector<std::byte> bytes = memory.Download(name);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

/// Rows that the device did not compute hold whatever the buffer held; make them +0.
void ClearRowsFrom(std::vector<std::uint16_t>& values, int rows, int slots) {
  if (rows >= 0 && rows < slots) {
    const std::size_t width = values.size() / static_cast<std::size_t>(slots);
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(width) * rows, values.end(),
              std::uint16_t{0});
  }
}

void DownloadOutputs(const PlanMemory& memory, const Plan& plan, const Shape& shape,
                     ObservedStage& observed) {
  observed.source = DownloadAs<std::int32_t>(memory, plan, "source");
  observed.expert = DownloadAs<std::int32_t>(memory, plan, "row_expert");
  observed.offsets = DownloadAs<std::int32_t>(memory, plan, "offsets");
  observed.segment_expert = DownloadAs<std::int32_t>(memory, plan, "segment_expert");
  observed.rows = DownloadAs<std::int32_t>(
      memory, plan, plan.rows.buffer)[plan.rows.offset / sizeof(std::int32_t)];
  observed.w13 = DownloadAs<std::uint16_t>(memory, plan, "w13");
  observed.silu = DownloadAs<std::uint16_t>(memory, plan, "silu");
  observed.w2 = DownloadAs<std::uint16_t>(memory, plan, "w2");
  observed.output = DownloadAs<std::uint16_t>(memory, plan, "output");
  for (std::vector<std::uint16_t>* stage : {&observed.w13, &observed.silu, &observed.w2}) {
    ClearRowsFrom(*stage, observed.rows, shape.slots());
  }
}

template <typename T>
void CompareRepeat(const char* name, int repeat, const std::vector<T>& first,
                   const std::vector<T>& now, std::vector<std::string>& violations) {
  const auto change = std::mismatch(first.begin(), first.end(), now.begin());
  if (change.first == first.end()) {
    return;
  }
  char text[160];
  std::snprintf(text, sizeof(text),
                "%s differs between run 1 and run %d at element %td: 0x%x, 0x%x", name, repeat,
                change.first - first.begin(), static_cast<unsigned>(*change.first),
                static_cast<unsigned>(*change.second));
  violations.emplace_back(text);
}

void CompareRepeat(int repeat, const ObservedStage& first, const ObservedStage& now,
                   std::vector<std::string>& violations) {
  CompareRepeat("source", repeat, first.source, now.source, violations);
  CompareRepeat("row_expert", repeat, first.expert, now.expert, violations);
  CompareRepeat("offsets", repeat, first.offsets, now.offsets, violations);
  CompareRepeat("segment_expert", repeat, first.segment_expert, now.segment_expert, violations);
  CompareRepeat("w13", repeat, first.w13, now.w13, violations);
  CompareRepeat("silu", repeat, first.silu, now.silu, violations);
  CompareRepeat("w2", repeat, first.w2, now.w2, violations);
  CompareRepeat("output", repeat, first.output, now.output, violations);
}

/// Runs the launches in order; false when the device faulted.
bool RunAll(Device& device, const std::vector<Launch>& launches) {
  for (const Launch& launch : launches) {
    device.Run(launch);
    if (device.faulted()) {
      return false;
    }
  }
  device.Synchronize();
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

  ObservedStage observed;
  observed.crashed = options.poison == Poison::kPrevious && !RunAll(device, launches);
  for (int repeat = 1; repeat <= options.repeats && !observed.crashed; ++repeat) {
    observed.crashed = !RunAll(device, launches);
    if (observed.crashed) {
      break;
    }
    if (repeat == 1) {
      DownloadOutputs(memory, plan, shape, observed);
    } else {
      ObservedStage again;
      DownloadOutputs(memory, plan, shape, again);
      CompareRepeat(repeat, observed, again, observed.violations);
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
