#include "verify/case_runner.h"

#include <memory>
#include <set>
#include <span>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "kernels/kernel_set.h"
#include "kernels/plan.h"
#include "kernels/stage_runner.h"
#include "verify/case_judge.h"
#include "verify/expected.h"
#include "verify/filter.h"
#include "verify/promises.h"
#include "verify/shortened_runs.h"
#include "verify/stopwatch.h"

namespace voltcheck::verify {
namespace {

using kernels::ObservedStage;
using reference::Gemm;

std::string FindingReason(const kernels::Finding& finding) {
  std::string reason = finding.checker + ": " + finding.message;
  if (!finding.kernel.empty()) {
    reason += " (" + finding.kernel;
    reason += finding.source.empty() ? " " + finding.file + ":" + std::to_string(finding.line)
                                     : " " + finding.source;
    reason += ")";
  }
  return reason;
}

std::vector<std::string> KernelsOf(const kernels::Plan& plan) {
  std::set<std::string> names;
  for (const kernels::PlanLaunch& launch : plan.launches) {
    names.insert(launch.kernel);
  }
  return {names.begin(), names.end()};
}

// The case's verdict is its gravest one. A crash or a checker's finding comes before wrong values,
// because it names the cause of which wrong values are the symptom.
void Conclude(const ObservedStage& observed, const std::vector<kernels::Finding>& promises,
              CaseRecord& record) {
  const auto conclude = [&record](Verdict verdict, const std::string& reason) {
    record.verdict = verdict;
    record.reason = reason;
  };
  if (observed.crashed) {
    return conclude(Verdict::kCrashed, observed.findings.empty()
                                           ? "the device faulted"
                                           : FindingReason(observed.findings.front()));
  }
  if (!observed.findings.empty()) {
    return conclude(Verdict::kChecker, FindingReason(observed.findings.front()));
  }
  if (!promises.empty()) {
    return conclude(PromiseVerdict(promises), promises.front().message);
  }
  ConcludeFromStages(record);
}

}  // namespace

std::string ReproductionLine(const std::string& descriptor, const DeviceOptions& options,
                             const JudgeOptions& judge) {
  std::string line = "voltcheck replay --case '" + descriptor + "' --device " + options.kind;
  if (options.kind == "simulator") {
    line += " --schedule " + std::to_string(options.schedule);
  }
  return line + CommandLine(judge);
}

CaseRecord RunCase(const Problem& problem, const DeviceOptions& options,
                   const JudgeOptions& judge) {
  CaseRecord record;
  record.c = problem.c;
  record.descriptor = ToDescriptor(problem.c);
  record.reproduction = ReproductionLine(record.descriptor, options, judge);
  record.active_experts = static_cast<int>(problem.experts.size());

  const std::unique_ptr<kernels::Device> device = MakeDeviceFor(options, problem.c);
  record.device = device->Describe();
  DeviceUnderTest under_test;
  // A GPU has the arithmetic it has, whatever the case asks for.
  under_test.numerics = ParseNumerics(record.device.numerics);
  // On a real SM70 the exp table is unknown, so where the documented bound leaves two halves open,
  // both are right.
  under_test.knows_exp =
      record.device.kind == "simulator" || under_test.numerics != Numerics::kV100;

  const Stopwatch expected_watch;
  // Budgets from the case's inputs hold for any order where one of the parts is somebody else's.
  const bool foreign = options.implementation != nullptr;
  const Expected expected =
      Expect(problem, under_test.numerics,
             foreign ? reference::AccumulationOrder::kUndeclared : judge.order);
  record.seconds.reference = expected.fp32_seconds;
  record.seconds.oracle = expected_watch.Seconds() - expected.fp32_seconds;

  kernels::Plan plan;
  try {
    plan = options.MakePlan(problem);
  } catch (const kernels::Contradiction&) {
    throw;
  } catch (const Error& error) {
    if (judge.plan_or_throw || error.status() != ExitStatus::kBadInput) {
      throw;
    }
    record.verdict = Verdict::kSkipped;
    const bool declined = dynamic_cast<const kernels::Declined*>(&error) != nullptr;
    record.reason = (declined ? kDeclinedPrefix : "no plan: ") + std::string(error.what());
    return record;
  }
  record.kernels = KernelsOf(plan);
  if (options.hooks.plan) {
    options.hooks.plan(plan);
  }

  const Stopwatch device_watch;
  kernels::KernelSet set(*device, options.modules());
  double stage_begin = 0;
  kernels::RunOptions run;
  run.before_stage = [&] { stage_begin = device_watch.Seconds(); };
  run.after_stage = [&] { record.seconds.device = device_watch.Seconds() - stage_begin; };
  const ObservedStage observed = kernels::RunPlan(*device, set, plan, problem.c.shape, run);
  record.seconds.prepare = stage_begin;
  record.counters = observed.counters;
  record.findings = observed.findings;
  const std::vector<kernels::Finding> promises =
      CheckPromises(problem, expected.permutation, observed);
  record.findings.insert(record.findings.end(), promises.begin(), promises.end());

  if (options.hooks.output && !observed.crashed && !observed.output.empty()) {
    const reference::Matrix<float>& want = expected.fp32.output;
    options.hooks.output(observed.output, {want.data(), static_cast<std::size_t>(want.size())});
  }
  const ShortenedRuns runs(problem, options, observed);
  if (foreign) {
    for (int i = 0; i < kernels::kParts; ++i) {
      const auto part = static_cast<kernels::Part>(i);
      under_test.parts[static_cast<std::size_t>(i)] = {
          options.implementation->Computes(part), options.implementation->OrderOf(problem.c, part)};
    }
  } else {
    under_test.run_gemm = [&runs](Gemm gemm, int kept) { return runs.Run(gemm, kept); };
  }
  JudgeCase(problem, expected, observed, under_test, judge, record);
  Conclude(observed, promises, record);
  return record;
}

}  // namespace voltcheck::verify
