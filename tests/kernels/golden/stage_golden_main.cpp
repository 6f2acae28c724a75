// Records what a device gives for every case of a suite, or compares a device with such a record:
//
//   voltcheck_stage_golden record  DEVICE FILE SUITE
//   voltcheck_stage_golden compare DEVICE FILE SUITE [SHARD/SHARDS]
//
// DEVICE is simulator or cuda. The cases run in numerics sm80-software, the arithmetic that a GPU
// newer than SM75 has for m8n8k4. Status 0: recorded, or every bit equal. Status 1: some case
// differs, or more than a tenth of the cases are not in the record: a suite may grow on machines
// without a GPU, but not out of the record's reach.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/kernel_set.h"
#include "kernels/plan.h"
#include "kernels/simulator/simulator.h"
#include "stage_golden.h"
#include "verify/suite.h"

namespace voltcheck::kernels::testing {
namespace {

/// A device with its loaded kernels: for one case on the simulator, for all cases of a thread on a
/// GPU.
struct Station {
  explicit Station(bool cuda) {
    if (cuda) {
      device = cuda::MakeCudaDevice(0);
    } else {
      simulator::Options options;
      options.numerics = Numerics::kSm80Software;
      options.jobs = 1;
      device = simulator::MakeSimulator(options);
    }
    kernels = std::make_unique<KernelSet>(*device, std::vector<ModuleImage>());
  }
  std::unique_ptr<Device> device;
  std::unique_ptr<KernelSet> kernels;
};

StageHashes RunOne(const Problem& problem, Station& station) {
  const ObservedStage observed =
      RunPlan(*station.device, *station.kernels, MakePlan(problem), problem.c.shape, {});
  std::string trouble = observed.violations.empty() ? "" : observed.violations.front();
  if (!observed.findings.empty()) {
    trouble = observed.findings.front().checker + ": " + observed.findings.front().message;
  }
  if (observed.crashed || !trouble.empty()) {
    throw Error(ExitStatus::kFailed, ToDescriptor(problem.c) + ": " +
                                         (trouble.empty() ? "the device faulted" : trouble));
  }
  return HashStages(observed);
}

std::vector<StageHashes> RunAll(const std::vector<Case>& cases, const verify::ProblemSource& source,
                                bool cuda) {
  std::vector<StageHashes> hashes(cases.size());
  std::atomic<std::size_t> next = 0;
  const int threads = oneapi::tbb::global_control::active_value(
      oneapi::tbb::global_control::max_allowed_parallelism);
  oneapi::tbb::parallel_for(0, threads, [&](int) {
    std::unique_ptr<Station> station;
    for (std::size_t i = next++; i < cases.size(); i = next++) {
      if (!station || !cuda) {
        station = std::make_unique<Station>(cuda);
      }
      hashes[i] = RunOne(source.Make(cases[i]), *station);
    }
  });
  return hashes;
}

/// Every SHARDS-th case from SHARD on.
std::vector<Case> Shard(const std::vector<Case>& cases, const std::string& text) {
  std::size_t shard = 0;
  std::size_t shards = 1;
  if (std::sscanf(text.c_str(), "%zu/%zu", &shard, &shards) != 2 || shard >= shards) {
    throw BadInput(text, "is no shard", "write SHARD/SHARDS, from 0 on");
  }
  std::vector<Case> part;
  for (std::size_t i = shard; i < cases.size(); i += shards) {
    part.push_back(cases[i]);
  }
  return part;
}

int Record(const std::vector<Case>& cases, const std::vector<StageHashes>& hashes, bool cuda,
           const std::string& suite, const std::string& file) {
  const Station station(cuda);
  const DeviceDescription description = station.device->Describe();
  StageGolden golden;
  golden.origin = {{"device", description.name},
                   {"driver", description.driver},
                   {"numerics", ToString(Numerics::kSm80Software)},
                   {"kernels", station.kernels->hash()},
                   {"suite", suite},
                   {"cases", std::to_string(cases.size())}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    golden.cases[CaseKey(ToDescriptor(cases[i]))] = hashes[i];
  }
  std::ofstream out(file);
  Write(golden, out);
  if (!out.flush()) {
    throw BadInput(file, "cannot be written", "name another file");
  }
  std::printf("recorded %zu cases of %s\n", cases.size(), description.name.c_str());
  return 0;
}

int Compare(const std::vector<Case>& cases, const std::vector<StageHashes>& hashes,
            const std::string& file) {
  std::ifstream in(file);
  const StageGolden golden = Read(file, in);
  std::size_t bad = 0;
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string descriptor = ToDescriptor(cases[i]);
    const auto found = golden.cases.find(CaseKey(descriptor));
    if (found == golden.cases.end()) {
      std::printf("not recorded: %s\n", descriptor.c_str());
      ++unknown;
      continue;
    }
    bool differs = false;
    for (std::size_t s = 0; s < kGoldenStages.size(); ++s) {
      if (found->second[s] != hashes[i][s]) {
        std::printf("%s differs: %s\n", std::string(kGoldenStages[s]).c_str(), descriptor.c_str());
        differs = true;
      }
    }
    bad += differs ? 1 : 0;
  }
  std::printf("%zu cases, %zu of them recorded, %zu differ from %s (driver %s)\n", cases.size(),
              cases.size() - unknown, bad, golden.origin.at("device").c_str(),
              golden.origin.at("driver").c_str());
  return bad == 0 && !cases.empty() && 10 * unknown <= cases.size() ? 0 : 1;
}

int Main(const std::vector<std::string>& words) {
  const bool records = !words.empty() && words[0] == "record";
  if (words.size() < 4 || words.size() > 5 || (!records && words[0] != "compare") ||
      (words[1] != "simulator" && words[1] != "cuda")) {
    throw BadInput("voltcheck_stage_golden", "wrong use",
                   "record|compare simulator|cuda FILE SUITE [SHARD/SHARDS]");
  }
  const std::string fixtures = VOLTCHECK_FIXTURES_DIR;
  verify::ProblemSource source(fixtures);
  std::vector<Case> cases = verify::SuiteCases(words[3], 0, fixtures, source);
  for (Case& c : cases) {
    c.numerics = Numerics::kSm80Software;
  }
  if (words.size() == 5) {
    cases = Shard(cases, words[4]);
  }
  source.Preload(cases);
  const bool cuda = words[1] == "cuda";
  const std::vector<StageHashes> hashes = RunAll(cases, source, cuda);
  return records ? Record(cases, hashes, cuda, words[3], words[2])
                 : Compare(cases, hashes, words[2]);
}

}  // namespace
}  // namespace voltcheck::kernels::testing

int main(int argc, char** argv) {
  try {
    return voltcheck::kernels::testing::Main({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "voltcheck_stage_golden: %s\n", error.what());
    return 2;
  }
}
