#include "verify/mutation/trial.h"

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "fixtures/generate.h"
#include "verify/case_runner.h"

namespace voltcheck::mutation {
namespace {

constexpr std::size_t kExamples = 10;
// Three times what the largest honest launch of all killers takes.
constexpr std::uint64_t kInstructionLimit = std::uint64_t{1} << 26;

}  // namespace

Trial Bench::RunWith(const Killer& killer, verify::DeviceOptions options) const {
  options.schedule = killer.schedule;
  options.jobs = 1;
  options.all_checks = judging_.all_checks;
  verify::JudgeOptions judge;
  judge.policy = judging_.policy;
  Trial trial;
  options.hooks.output = [&trial](std::span<const std::uint16_t> got, std::span<const float> want) {
    trial.has_output = true;
    for (std::size_t i = 0; i < kPolicies; ++i) {
      trial.accepted[i] = TolerancePolicies()[i].accepts(got, want);
    }
  };
  trial.record = verify::RunCase(fixtures::Generate(killer.c), options, judge);
  return trial;
}

Trial Bench::RunHonest(const Killer& killer) const {
  verify::DeviceOptions options;
  options.overrides = overrides_;
  return RunWith(killer, options);
}

const Trial& Bench::Honest(const Killer& killer) {
  const std::pair key(ToDescriptor(killer.c), killer.schedule);
  {
    const std::lock_guard lock(mutex_);
    const auto known = honest_.find(key);
    if (known != honest_.end()) {
      return *known->second;
    }
  }
  auto trial = std::make_unique<Trial>(RunHonest(killer));
  trial->record.failures.clear();
  const std::lock_guard lock(mutex_);
  return *honest_.emplace(key, std::move(trial)).first->second;
}

HonestFigures Bench::Figures() const {
  HonestFigures figures;
  for (const auto& [key, trial] : honest_) {
    figures.Add(*trial);
  }
  return figures;
}

void HonestFigures::Add(const Trial& trial) {
  ++cases;
  if (!trial.passed()) {
    ++alarms;
    if (examples.size() < kExamples) {
      examples.push_back(trial.record.reproduction + "  # " + trial.record.reason);
    }
  }
  for (std::size_t i = 0; i < kPolicies; ++i) {
    policy_alarms[i] += trial.has_output && !trial.accepted[i] ? 1 : 0;
  }
}

void HonestFigures::Add(const HonestFigures& more) {
  cases += more.cases;
  alarms += more.alarms;
  for (std::size_t i = 0; i < kPolicies; ++i) {
    policy_alarms[i] += more.policy_alarms[i];
  }
  for (const std::string& example : more.examples) {
    if (examples.size() < kExamples) {
      examples.push_back(example);
    }
  }
}

Trial Bench::Run(const Mutant& mutant, const kernels::ModuleImage& image, const Killer& killer) {
  verify::DeviceOptions options;
  options.overrides = overrides_;
  options.instruction_limit = kInstructionLimit;
  if (mutant.in_kernel()) {
    options.overrides.push_back(image);
    return RunWith(killer, options);
  }
  bool applicable = false;
  options.hooks.plan = [&](kernels::Plan& plan) { applicable = mutant.plant(plan); };
  Trial trial;
  try {
    trial = RunWith(killer, options);
  } catch (const Error& error) {
    // A launch that the device refuses, as a driver would.
    trial.record.c = killer.c;
    trial.record.descriptor = ToDescriptor(killer.c);
    trial.record.verdict = verify::Verdict::kCrashed;
    trial.record.reason = error.what();
  }
  trial.applicable = applicable;
  return trial;
}

}  // namespace voltcheck::mutation
