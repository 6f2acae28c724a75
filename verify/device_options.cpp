#include "verify/device_options.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "fixtures/case/error.h"
#include "fixtures/mapped_file.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/isolated_device.h"
#include "kernels/kernel_set.h"
#include "kernels/simulator/simulator.h"

namespace voltcheck::verify {
namespace {

// The entries of the built-in modules, read off their text: loading them all takes seconds.
std::set<std::string> BuiltInEntries() {
  constexpr std::string_view kEntry = ".entry ";
  std::set<std::string> names;
  for (const kernels::ModuleImage& image : kernels::BuiltInModules()) {
    const std::string_view ptx = image.ptx;
    for (std::size_t at = ptx.find(kEntry); at != std::string_view::npos;
         at = ptx.find(kEntry, at)) {
      at += kEntry.size();
      names.emplace(ptx.substr(at, ptx.find_first_of("(\n \t", at) - at));
    }
  }
  return names;
}

// A stage's kernels touch memory every few hundred instructions. Long before the limit of a launch
// is used up, this tells a loop without an end.
constexpr std::uint64_t kMostIdleTrips = std::uint64_t{1} << 16;

// GPUs in turn, for devices that somebody else's child processes hold.
int NextGpu(const DeviceOptions& options) {
  static std::atomic<std::size_t> turn = 0;
  return options.gpus[turn++ % options.gpus.size()];
}

// `in_child`: this process is the device's own, so that nothing need be shielded from a fault.
std::unique_ptr<kernels::Device> MakePlainDevice(const DeviceOptions& options, Numerics numerics,
                                                 bool in_child, int gpu) {
  if (options.kind == "simulator") {
    simulator::Options simulated;
    simulated.numerics = numerics;
    simulated.schedule = options.schedule;
    simulated.jobs = in_child ? 1 : options.jobs;  // a forked process has no pool of threads
    if (options.instruction_limit > 0) {
      simulated.instruction_limit = options.instruction_limit;
    }
    simulated.most_idle_trips = kMostIdleTrips;
    if (options.all_checks) {
      simulated.checks = simulator::Checks::All();
    }
    return simulator::MakeSimulator(simulated);
  }
  if (options.kind == "cuda") {
    return in_child ? cuda::MakeCudaDevice(gpu) : cuda::MakeIsolatedCudaDevice(options.gpus);
  }
  throw BadInput("--device " + options.kind, "no such device", "use simulator or cuda");
}

}  // namespace

std::vector<kernels::ModuleImage> DeviceOptions::modules() const {
  std::vector<kernels::ModuleImage> all = overrides;
  if (implementation != nullptr) {
    const std::vector<kernels::ModuleImage> more = implementation->modules();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

kernels::Plan DeviceOptions::MakePlan(const Problem& problem) const {
  return implementation == nullptr ? kernels::MakePlan(problem) : implementation->MakePlan(problem);
}

std::unique_ptr<kernels::Device> MakeDevice(const DeviceOptions& options, Numerics numerics) {
  if (options.implementation == nullptr) {
    return MakePlainDevice(options, numerics, false, 0);
  }
  const int gpu = NextGpu(options);
  return options.implementation->MakeDevice(
      [options, numerics] { return MakePlainDevice(options, numerics, false, 0); },
      [options, numerics, gpu] { return MakePlainDevice(options, numerics, true, gpu); });
}

std::uint64_t LaunchLimit(const Case& c) {
  const auto slots = static_cast<std::uint64_t>(c.shape.slots());
  const auto experts = static_cast<std::uint64_t>(c.shape.experts);
  const auto tile = static_cast<std::uint64_t>(std::max(c.w13.tile.m, c.w2.tile.m));
  const std::uint64_t weights = std::uint64_t{3} * static_cast<std::uint64_t>(c.shape.hidden) *
                                static_cast<std::uint64_t>(c.shape.intermediate);
  const std::uint64_t rows = slots + std::min(slots, experts) * tile;
  return (std::uint64_t{1} << 31) + 16 * weights * (experts + rows);
}

std::unique_ptr<kernels::Device> MakeDeviceFor(const DeviceOptions& options, const Case& c) {
  DeviceOptions limited = options;
  if (limited.instruction_limit == 0) {
    limited.instruction_limit = LaunchLimit(c);
  }
  return MakeDevice(limited, c.numerics);
}

std::vector<kernels::ModuleImage> ReadOverrides(const std::vector<std::string>& paths) {
  std::vector<kernels::ModuleImage> images;
  for (const std::string& path : paths) {
    constexpr std::size_t kMostBytes = std::size_t{256} << 20;
    const fixtures::MappedFile file(path, kMostBytes);
    std::string text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    images.push_back({std::filesystem::path(path).filename().string(), std::move(text), {}});
  }
  return images;
}

void CheckOverrides(kernels::Device& device, const std::vector<kernels::ModuleImage>& overrides) {
  if (overrides.empty()) {
    return;
  }
  const std::set<std::string> replaceable = BuiltInEntries();
  for (const kernels::ModuleImage& image : overrides) {
    const std::vector<std::string> names = device.KernelNames(device.LoadModule(image));
    std::string listed;
    bool replaces = false;
    for (const std::string& name : names) {
      listed.append(listed.empty() ? "" : ", ").append(name);
      replaces = replaces || replaceable.contains(name);
    }
    if (!replaces) {
      throw BadInput(image.name,
                     listed.empty() ? "replaces no kernel, it has no entry"
                                    : "replaces no kernel, its entries are " + listed,
                     "name entries as 'voltcheck list kernels' does");
    }
  }
}

}  // namespace voltcheck::verify
