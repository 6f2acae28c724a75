#include "verify/properties/bench.h"

#include "verify/properties/breach.h"

namespace voltcheck::properties {
namespace {

std::string Describe(const kernels::Finding& finding) {
  std::string text = finding.checker + ": " + finding.message;
  if (!finding.kernel.empty()) {
    text += " (" + finding.kernel;
    text += finding.source.empty() ? " " + finding.file + ":" + std::to_string(finding.line)
                                   : " " + finding.source;
    text += ")";
  }
  return text;
}

// Lane instructions of a launch after which it counts as a loop without an end: drawn cases are
// small.
constexpr std::uint64_t kInstructionLimit = std::uint64_t{1} << 33;

}  // namespace

Bench::Bench(MakeDevice make, std::vector<kernels::ModuleImage> overrides, std::uint64_t schedule)
    : make_(std::move(make)), overrides_(std::move(overrides)), schedule_(schedule) {}

Bench::Bench(const verify::DeviceOptions& options)
    : Bench(
          [options](const Wish& wish) {
            verify::DeviceOptions wanted = options;
            wanted.schedule = wish.schedule;
            if (wanted.instruction_limit == 0) {
              wanted.instruction_limit = kInstructionLimit;
            }
            wanted.all_checks = options.all_checks && wish.all_checks;
            return verify::MakeDevice(wanted, wish.numerics);
          },
          options.modules(), options.schedule) {
  implementation_ = options.implementation;
}

kernels::Plan Bench::MakePlan(const Problem& problem) const {
  return implementation_ == nullptr ? kernels::MakePlan(problem)
                                    : implementation_->MakePlan(problem);
}

Station& Bench::At(Wish wish) {
  if (is_simulator_ == 0) {
    wish = {};  // a GPU is what it is, whatever is asked for
  }
  DropFaulted();
  Station& station = stations_[wish];
  if (station.device == nullptr) {
    station.device = make_(wish);
    station.kernels = std::make_unique<kernels::KernelSet>(*station.device, overrides_);
    is_simulator_ = station.device->Describe().kind == "simulator" ? 1 : 0;
  }
  return station;
}

void Bench::DropFaulted() {
  std::erase_if(stations_, [](const auto& entry) {
    return entry.second.device == nullptr || entry.second.device->faulted();
  });
}

bool Bench::IsSimulator() {
  if (is_simulator_ < 0) {
    At(Numerics::kV100);
  }
  return is_simulator_ == 1;
}

void Bench::ExpectClean(Station& station) {
  const std::vector<kernels::Finding> findings = station.device->TakeFindings();
  if (!findings.empty()) {
    throw Breach{Describe(findings.front())};
  }
  if (station.device->faulted()) {
    throw Breach{"the device faulted"};
  }
}

StageRun Bench::RunAt(Station& station, const kernels::Plan& plan, const Case& c,
                      const kernels::RunOptions& options) {
  StageRun run{c, kernels::RunPlan(*station.device, *station.kernels, plan, c.shape, options)};
  if (!run.out.findings.empty()) {
    throw Breach{Describe(run.out.findings.front())};
  }
  if (run.out.crashed) {
    throw Breach{"the device faulted"};
  }
  if (!run.out.violations.empty()) {
    throw Breach{run.out.violations.front()};
  }
  return run;
}

StageRun Bench::Run(const Problem& problem, const kernels::RunOptions& options) {
  return Run(MakePlan(problem), problem.c, options);
}

StageRun Bench::Run(const kernels::Plan& plan, const Case& c, const kernels::RunOptions& options) {
  return RunAt(At(c.numerics), plan, c, options);
}

StageRun Bench::RunScheduled(const Problem& problem, std::uint64_t schedule) {
  return RunAt(At({problem.c.numerics, schedule, true}), MakePlan(problem), problem.c, {});
}

}  // namespace voltcheck::properties
