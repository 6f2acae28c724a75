// What limits large sweeps: rank 0 of an MPI run. The run file is measured in tests/verify/.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "deal_simulation.h"
#include "verify/scale/cost_model.h"

namespace voltcheck::verify {
namespace {

// Rank 0's work for one request of a worker, but for MPI's own.
void Deal(benchmark::State& state) {
  const std::vector<std::uint64_t> costs(10'000'000, 50'000);
  const std::vector<std::size_t> order = CostliestFirst(costs);
  Dealer dealer(order, costs, 10'000);
  std::size_t worker = 0;
  std::uint64_t cases = 0;
  for (auto _ : state) {
    std::vector<std::uint64_t> chunk = dealer.Deal(worker);
    for (const std::uint64_t number : chunk) {
      dealer.Finished(worker, number);
    }
    cases += chunk.size();
    worker = (worker + 1) % 10'000;
  }
  state.counters["cases/request"] =
      static_cast<double>(cases) / static_cast<double>(state.iterations());
}
BENCHMARK(Deal)->Unit(benchmark::kMicrosecond)->Iterations(30'000);

void HandOut(benchmark::State& state) {
  DealSimulation simulation;
  simulation.ranks = static_cast<std::size_t>(state.range(0));
  simulation.cases = simulation.ranks * static_cast<std::size_t>(state.range(1));
  DealOutcome outcome;
  for (auto _ : state) {
    outcome = Simulate(simulation);
  }
  state.counters["idle_%"] = 100 * outcome.idle;
  state.counters["leader_%"] = 100 * outcome.busy_leader;
  state.counters["sweep_s"] = outcome.seconds;
  state.counters["requests"] = static_cast<double>(outcome.requests);
}
BENCHMARK(HandOut)
    ->Args({100, 1000})
    ->Args({1000, 1000})
    ->Args({10'000, 100})
    ->Args({10'000, 300})
    ->Args({10'000, 1000})
    ->Unit(benchmark::kSecond)
    ->Iterations(1);

}  // namespace
}  // namespace voltcheck::verify

BENCHMARK_MAIN();
