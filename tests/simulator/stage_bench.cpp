// The MoE stage at the contract shape, permutation to reduction: the simulator beside the FP32
// Eigen reference, both in one process, one core each. Repacking the weights, which happens once
// when they are loaded, is not part of it.
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <string>

#include "fixtures/case/descriptor.h"
#include "fixtures/generate.h"
#include "kernels/kernel_set.h"
#include "kernels/plan.h"
#include "kernels/simulator/simulator.h"
#include "kernels/stage_runner.h"
#include "reference/routing.h"
#include "reference/stage.h"

namespace voltcheck {
namespace {

// Arguments: T, and the rows of W13's tile.
Problem ContractProblem(const benchmark::State& state) {
  const std::string tile = state.range(1) == 8 ? "8x256x64/1" : "16x128x32/1";
  return fixtures::Generate(
      ParseDescriptor("h=2560,i=160,e=512,k=10,g=32,t=" + std::to_string(state.range(0)) +
                      ",w13=" + tile + ",w2=16x128x32/1"));
}

void PlainReference(benchmark::State& state) {
  const Problem problem = ContractProblem(state);
  for (auto _ : state) {
    const reference::Permutation permutation = reference::Permute(problem);
    benchmark::DoNotOptimize(reference::RunStage<float>(problem, permutation, {}));
  }
}

void RunStage(benchmark::State& state, const simulator::Checks& checks) {
  const Problem problem = ContractProblem(state);
  simulator::Options options;
  options.jobs = 1;
  options.checks = checks;
  kernels::Counters counters;
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin;
  kernels::RunOptions run;
  for (auto _ : state) {
    const std::unique_ptr<kernels::Device> device = simulator::MakeSimulator(options);
    kernels::KernelSet set(*device, {});
    run.before_stage = [&] {
      begin = Clock::now();
      device->TakeCounters();
    };
    run.after_stage = [&] {
      state.SetIterationTime(std::chrono::duration<double>(Clock::now() - begin).count());
    };
    const kernels::ObservedStage observed =
        kernels::RunPlan(*device, set, kernels::MakePlan(problem), problem.c.shape, run);
    counters = observed.counters;
    if (observed.crashed || !observed.findings.empty())
      state.SkipWithError("the stage has findings");
  }
  const auto runs = static_cast<double>(state.iterations());
  const auto rate = [&](std::uint64_t count) {
    return benchmark::Counter(static_cast<double>(count) * runs, benchmark::Counter::kIsRate);
  };
  state.counters["lane/s"] = rate(counters.lane_instructions);
  state.counters["warp/s"] = rate(counters.warp_instructions);
  state.counters["mma/s"] = rate(counters.mma);
  state.counters["mma"] = static_cast<double>(counters.mma);
}

void Stage(benchmark::State& state) { RunStage(state, {}); }
void StageAllChecks(benchmark::State& state) { RunStage(state, simulator::Checks::All()); }

void Cases(benchmark::internal::Benchmark* b) {
  b->ArgNames({"T", "tile"})->Unit(benchmark::kMillisecond);
  for (const int tokens : {8, 128}) {
    for (const int tile : {8, 16}) b->Args({tokens, tile});
  }
}

BENCHMARK(PlainReference)->Apply(Cases);
BENCHMARK(Stage)->Apply(Cases)->UseManualTime();
BENCHMARK(StageAllChecks)->Apply(Cases)->UseManualTime();

}  // namespace
}  // namespace voltcheck

BENCHMARK_MAIN();
