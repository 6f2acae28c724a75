// What a finished case costs in a sweep: its entry in the journal and its row in the run file.
#include <benchmark/benchmark.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include <fstream>

#include "fixtures/case/descriptor.h"
#include "temporary_folder.h"
#include "verify/journal/identity.h"
#include "verify/journal/run_journal.h"
#include "verify/run_file.h"
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

// Starts the count of the largest resident set anew.
void ForgetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

double PeakMegabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      double kilobytes = 0;
      status >> kilobytes;
      return kilobytes / 1024;
    }
  }
  return 0;
}

// A sweep's pipeline (verify/sweep.cpp) without the cases' own work: records go into the journal
// as they finish, on any thread, and into the run file in the order of the cases.
void AppendAll(const std::string& out, std::uint64_t count, int jobs) {
  namespace tbb = oneapi::tbb;
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(jobs));
  RunProvenance provenance;
  provenance.planned = count;
  RunFileWriter writer(out, provenance);
  RunJournal journal(out, IdentityText(provenance, "bench"), count, false);
  std::uint64_t next = 0;
  using Pointer = std::shared_ptr<CaseRecord>;
  tbb::parallel_pipeline(
      static_cast<std::size_t>(jobs) + 1,
      tbb::make_filter<void, Pointer>(tbb::filter_mode::serial_in_order,
                                      [&](tbb::flow_control& control) -> Pointer {
                                        if (next == count) {
                                          control.stop();
                                          return nullptr;
                                        }
                                        auto record = std::make_shared<CaseRecord>(
                                            Pool()[next % Pool().size()]);
                                        record->index = next++;
                                        return record;
                                      }) &
          tbb::make_filter<Pointer, Pointer>(tbb::filter_mode::parallel,
                                             [&](const Pointer& record) {
                                               journal.Append(*record);
                                               return record;
                                             }) &
          tbb::make_filter<Pointer, void>(
              tbb::filter_mode::serial_in_order,
              [&](const Pointer& record) { writer.Append(*record, record->index); }));
  writer.Finish(true);
  journal.Remove();
}

void RunFile(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  const TemporaryFolder folder;
  const std::string out = folder / "run.h5";
  Pool();
  ForgetPeak();
  const double before = PeakMegabytes();
  for (auto _ : state) {
    AppendAll(out, count, static_cast<int>(state.range(1)));
  }
  const auto bytes = static_cast<double>(std::filesystem::file_size(out));
  state.counters["cases/s"] =
      benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["file_MB"] = bytes / 1e6;
  state.counters["file_B/case"] = bytes / static_cast<double>(count);
  state.counters["peak_MB"] = PeakMegabytes();
  state.counters["before_MB"] = before;  // the pool of records and the program
}
BENCHMARK(RunFile)
    ->ArgNames({"cases", "jobs"})
    ->ArgsProduct({{10'000, 100'000}, {1, 2}})
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kSecond)
    ->Iterations(1);

}  // namespace
}  // namespace voltcheck::verify

BENCHMARK_MAIN();
