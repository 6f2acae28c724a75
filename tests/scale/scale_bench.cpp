// What limits large sweeps: the run file, the journal, and rank 0 of an MPI run.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "deal_simulation.h"
#include "fixtures/case/descriptor.h"
#include "verify/journal/identity.h"
#include "verify/journal/record_codec.h"
#include "verify/journal/run_journal.h"
#include "verify/run_file.h"
#include "verify/scale/cost_model.h"
#include "verify/sweep.h"

namespace voltcheck::verify {
namespace {

// Records of real cases, as many as a chunk of the run file holds rows, so that they deflate as
// those of a real sweep do.
const std::vector<CaseRecord>& Pool() {
  static const std::vector<CaseRecord> kPool = [] {
    const std::vector<Case> cases = ParseGrid("h=64;i=32;e=4;k=2;g=32;t=1..4;seed=1..256");
    std::vector<CaseRecord> records;
    const ProblemSource source("");
    RunCases(
        cases, source, SweepOptions{}, [&](const CaseRecord& r) { records.push_back(r); },
        [] { return false; });
    return records;
  }();
  return kPool;
}

std::string Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "voltcheck-bench-XXXXXX").string();
  return mkdtemp(name.data()) == nullptr ? "" : name;
}

double PeakMegabytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Cases finished into the journal and then the run file made of them, as a sweep does.
void RunFile(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  const std::string folder = Folder();
  const std::string out = folder + "/run.h5";
  const std::vector<CaseRecord>& pool = Pool();
  RunProvenance provenance;
  provenance.planned = count;
  std::uint64_t journal_bytes = 0;
  for (auto _ : state) {
    RunJournal journal(out, IdentityText(provenance, "bench"), count, false);
    CaseRecord record;
    for (std::uint64_t i = 0; i < count; ++i) {
      record = pool[i % pool.size()];
      record.index = i;
      journal.Append(record);
    }
    RunFileWriter writer(out, provenance);
    for (std::uint64_t i = 0; i < count; ++i) {
      writer.Append(journal.Read(i), i);
    }
    writer.Finish(true);
    journal_bytes = std::filesystem::file_size(JournalPath(out));
    journal.Remove();
  }
  const auto bytes = static_cast<double>(std::filesystem::file_size(out));
  state.counters["cases/s"] =
      benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["file_MB"] = bytes / 1e6;
  state.counters["file_B/case"] = bytes / static_cast<double>(count);
  state.counters["journal_B/case"] =
      static_cast<double>(journal_bytes) / static_cast<double>(count);
  state.counters["peak_MB"] = PeakMegabytes();  // of the process so far: ascending sizes tell
  std::filesystem::remove_all(folder);
}
BENCHMARK(RunFile)->Arg(1000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kSecond)->Iterations(1);

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
