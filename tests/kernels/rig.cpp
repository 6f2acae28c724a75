#include "rig.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "host_model.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/simulator/simulator.h"
#include "small_problem.h"

namespace voltcheck::kernels::testing {

std::unique_ptr<Device> MakeTestDevice(Numerics numerics, std::uint64_t schedule) {
  const char* device = std::getenv("VOLTCHECK_TEST_DEVICE");
  if (device != nullptr && std::strcmp(device, "cuda") == 0) {
    return cuda::MakeCudaDevice(0);
  }
  simulator::Options options;
  options.numerics = numerics;
  options.schedule = schedule;
  options.checks = simulator::Checks::All();
  return simulator::MakeSimulator(options);
}

arith::StepArithmetic ArithmeticOf(const Device& device) {
  const std::string numerics = device.Describe().numerics;
  if (numerics == "sm75") {
    return arith::StepArithmetic::kSm75;
  }
  return numerics == "v100" ? arith::StepArithmetic::kV100 : arith::StepArithmetic::kSm80Software;
}

ObservedStage Observe(const Problem& problem, const RunOptions& options, std::uint64_t schedule) {
  const auto device = MakeTestDevice(problem.c.numerics, schedule);
  KernelSet kernels(*device, {});
  ObservedStage observed = RunPlan(*device, kernels, MakePlan(problem), problem.c.shape, options);
  for (const std::string& violation : observed.violations) {
    ADD_FAILURE() << violation;
  }
  for (const Finding& finding : observed.findings) {
    ADD_FAILURE() << finding.checker << " in " << finding.kernel << " at " << finding.source << ": "
                  << finding.message;
  }
  EXPECT_FALSE(observed.crashed);
  return observed;
}

Rig::Rig(Device& device, Plan plan)
    : plan_(std::move(plan)),
      memory_(device, plan_, device.Describe().kind == "simulator" ? 0 : 256) {
  KernelSet kernels(device, {});
  memory_.Upload();
  if (device.Describe().kind != "simulator") {
    memory_.Poison(0x7fff7fffU);
  }
  for (const PlanLaunch& launch : plan_.launches) {
    device.Run(memory_.Bind(launch, kernels));
  }
  device.Synchronize();
  for (const Finding& finding : device.TakeFindings()) {
    complaints_ += finding.checker + " in " + finding.kernel + " at " + finding.source + " (" +
                   finding.file + ":" + std::to_string(finding.line) + "): " + finding.message +
                   "\n";
  }
  if (!device.faulted()) {
    for (const std::string& promise : memory_.BrokenPromises()) {
      complaints_ += promise + "\n";
    }
  }
  counters_ = device.TakeCounters();
}

GemmProblem MakeGemm(const GemmCase& c, std::uint64_t seed) {
  GemmProblem problem;
  TestBits bits(seed);
  std::vector<std::int32_t> offsets{0};
  for (std::size_t s = 0; s < c.lengths.size(); ++s) {
    offsets.push_back(offsets.back() + c.lengths[s]);
    problem.row_expert.insert(problem.row_expert.end(), static_cast<std::size_t>(c.lengths[s]),
                              c.ids[s]);
  }
  const int rows = offsets.back();
  for (int i = 0; i < rows * c.k; ++i) {
    problem.input.push_back(bits.Activation());
  }
  const int experts = *std::max_element(c.ids.begin(), c.ids.end()) + 1;
  for (int e = 0; e < experts; ++e) {
    problem.experts.push_back(RandomMatrix(c.k, c.n, c.group, bits));
  }

  Plan& plan = problem.plan;
  WeightPart weights{"gemm", {}, {}, experts, c.k, c.n, c.group, false, c.metadata};
  for (int e = 0; e < experts; ++e) {
    weights.ids.push_back(e);
    weights.matrices.push_back(&problem.experts[static_cast<std::size_t>(e)]);
  }
  AddWeights(weights, plan);
  const auto add = [&](const char* name, std::vector<std::byte> contents) {
    plan.buffers.push_back({name, contents.size(), BufferSpec::Role::kInput, std::move(contents)});
  };
  add("input", ContentsOf(problem.input));
  add("offsets", ContentsOf(offsets));
  add("segment_expert", ContentsOf(c.ids));
  const int out_columns = c.fuse_silu ? c.n / 2 : c.n;
  plan.buffers.push_back(
      {"out", static_cast<std::size_t>(2 * rows * out_columns), BufferSpec::Role::kOutput, {}});
  GemmPart gemm;
  gemm.name = "gemm";
  gemm.schedule = c.schedule;
  gemm.tactic = c.tactic;
  gemm.metadata = c.metadata;
  gemm.k = c.k;
  gemm.n = c.n;
  gemm.group = c.group;
  gemm.slots = rows;
  gemm.segments = static_cast<int>(c.lengths.size());
  gemm.input = "input";
  gemm.output = "out";
  gemm.offsets = "offsets";
  gemm.segment_expert = "segment_expert";
  gemm.fuse_silu = c.fuse_silu;
  AddGemm(gemm, plan);
  return problem;
}

std::vector<std::uint16_t> ExpectedGemm(const GemmCase& c, const GemmProblem& problem,
                                        arith::StepArithmetic arithmetic) {
  std::vector<std::uint16_t> expected;
  for (std::size_t row = 0; row < problem.row_expert.size(); ++row) {
    const Halves one = GemmRow(problem.input.data() + row * static_cast<std::size_t>(c.k),
                               problem.experts[static_cast<std::size_t>(problem.row_expert[row])],
                               c.tactic.splits, std::max(c.tactic.tile.k, c.group), arithmetic);
    expected.insert(expected.end(), one.begin(), one.end());
  }
  return expected;
}

}  // namespace voltcheck::kernels::testing
