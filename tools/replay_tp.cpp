#include "tools/replay_tp.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "fixtures/case/descriptor.h"
#include "fixtures/sha256.h"
#include "kernels/kernel_set.h"
#include "reference/all_reduce.h"
#include "reference/arith/half.h"
#include "reference/stage.h"
#include "tools/terminal.h"
#include "verify/case_runner.h"
#include "verify/gpu_choice.h"
#include "verify/journal/identity.h"
#include "verify/scale/nccl_sum.h"
#include "verify/scale/ranks.h"

namespace voltcheck::tools {
namespace {

using Json = nlohmann::ordered_json;
using reference::SumType;

constexpr std::size_t kHashDigits = 64;
constexpr int kNoGpu = -1;

// What every rank tells of its slice, of fixed size.
struct Slice {
  char hash[kHashDigits] = {};  // of everything that must be equal on all ranks
  std::uint8_t verdict = 0;
  std::uint8_t has_output = 0;
  double worst_use = 0;
  char reason[200] = {};
};

std::string SetupHash(const Case& c, const SessionOptions& options) {
  const auto device = verify::MakeDevice(options.device, c.numerics);
  fixtures::Sha256 hash;
  hash.Update(verify::HashOfBinary());
  hash.Update(kernels::KernelSet(*device, options.device.modules()).hash());
  hash.Update(ToDescriptor(c) + options.replay);
  return hash.Hex();
}

// How far a sum lies from what it should be.
struct Distance {
  double max = 0;
  double squares = 0;
  std::size_t count = 0;
  void Add(double difference) {
    max = std::max(max, std::abs(difference));
    squares += difference * difference;
    ++count;
  }
  double rms() const { return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count)); }
};

// One of the two sums that the library made.
struct Sum {
  const char* name;
  SumType type;
  std::vector<float> values;
  Distance to_oracle;
  Distance to_exact;
  std::size_t beyond = 0;       // elements farther from the exact sum than any order may come
  std::string equal_orders;     // modelled orders that give the same bits
  std::size_t unexplained = 0;  // elements that no modelled order gives
};

// The orders of the reports, and what MPI libraries add for few bytes: neighbours first.
std::vector<reference::SumOrder> Orders(int ranks) {
  std::vector<reference::SumOrder> orders = reference::AllReduceOrders(ranks);
  if (std::has_single_bit(static_cast<unsigned>(ranks))) {
    reference::SumOrder doubling{"recursive doubling", {}, 0};
    for (int step = 1; step < ranks; step *= 2) {
      for (int to = 0; to < ranks; to += 2 * step) {
        doubling.adds.emplace_back(to, to + step);
      }
    }
    orders.push_back(std::move(doubling));
  }
  return orders;
}

// Recursive sums of n terms in any order lie within (n - 1) u / (1 - (n - 1) u) times the sum of
// magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, 4.2); half's subnormals add
// half a unit of 2^-24 for each sum, of which none is needed: sums of halves are exact there.
double OrderBound(SumType type, std::size_t ranks, double magnitudes) {
  const double u = type == SumType::kHalf ? 0x1p-11 : 0x1p-24;
  const double n = static_cast<double>(ranks) - 1;
  return n * u / (1 - n * u) * magnitudes;
}

void Judge(Sum& sum, const std::vector<std::vector<float>>& outputs,
           const reference::Matrix<double>& oracle) {
  const std::size_t elements = sum.values.size();
  std::vector<std::span<const float>> ranks(outputs.begin(), outputs.end());
  std::vector<bool> explained(elements, false);
  for (const reference::SumOrder& order : Orders(static_cast<int>(ranks.size()))) {
    const std::vector<float> modelled = reference::SumRanks(order, ranks, sum.type);
    bool all = true;
    for (std::size_t i = 0; i < elements; ++i) {
      const bool same = modelled[i] == sum.values[i];
      explained[i] = explained[i] || same;
      all = all && same;
    }
    if (all) {
      sum.equal_orders += (sum.equal_orders.empty() ? "" : ", ") + order.name + " " + order.Text();
    }
  }
  for (std::size_t i = 0; i < elements; ++i) {
    double exact = 0;
    double magnitudes = 0;
    for (const std::vector<float>& output : outputs) {
      exact += static_cast<double>(output[i]);  // exact: halves lie within 53 bits of each other
      magnitudes += std::abs(static_cast<double>(output[i]));
    }
    const double got = static_cast<double>(sum.values[i]);
    sum.to_oracle.Add(got - oracle.data()[i]);
    sum.to_exact.Add(got - exact);
    const bool within = std::abs(got - exact) <= OrderBound(sum.type, outputs.size(), magnitudes) ||
                        (std::isinf(got) && std::abs(exact) > 65000);
    sum.beyond += within ? 0 : 1;
    sum.unexplained += explained[i] ? 0 : 1;
  }
}

Json ToJson(const Sum& sum) {
  return {{"sum", sum.name},
          {"max_abs_to_oracle", sum.to_oracle.max},
          {"rms_to_oracle", sum.to_oracle.rms()},
          {"max_abs_to_exact_sum", sum.to_exact.max},
          {"rms_to_exact_sum", sum.to_exact.rms()},
          {"beyond_any_order", sum.beyond},
          {"equal_orders", sum.equal_orders},
          {"in_no_modelled_order", sum.unexplained}};
}

// What added the ranks' outputs.
struct Library {
  std::string name;
  std::string why_not_nccl;
};

// NCCL where every rank has a GPU, else MPI.
Library AllReduce(verify::Ranks& ranks, const verify::DeviceOptions& device, int own_gpu,
                  std::vector<std::uint16_t>& halves, std::vector<float>& floats) {
  Library library{ranks.library(), "the slices ran on the simulator"};
  if (device.kind == "cuda") {
    library.why_not_nccl.clear();
    if (const auto nccl = verify::OpenNccl(ranks, own_gpu, library.why_not_nccl)) {
      nccl->SumHalves(halves);
      nccl->SumFloats(floats);
      library.name = nccl->name();
      return library;
    }
  }
  ranks.SumHalves(halves);
  ranks.SumFloats(floats);
  return library;
}

void Print(const std::string& descriptor, const std::vector<Slice>& slices,
           const std::vector<Sum>& sums, const Library& library) {
  const bool colour = WantsColour(stdout);
  std::printf("%zu slices of %s\n\n", slices.size(), descriptor.c_str());
  for (std::size_t rank = 0; rank < slices.size(); ++rank) {
    const auto verdict = static_cast<verify::Verdict>(slices[rank].verdict);
    std::printf("rank %zu  %s, largest use of a budget %.3g%s%s\n", rank,
                Paint(verify::ToString(verdict),
                      verdict == verify::Verdict::kPassed ? Colour::kGreen : Colour::kRed, colour)
                    .c_str(),
                slices[rank].worst_use, slices[rank].reason[0] == '\0' ? "" : ": ",
                slices[rank].reason);
  }
  for (const Sum& sum : sums) {
    std::printf("\nall-reduce in %s by %s (%zu elements)\n", sum.name, library.name.c_str(),
                sum.values.size());
    std::printf("  to the fp64 oracle of the whole layer   max %.4g, rms %.4g\n", sum.to_oracle.max,
                sum.to_oracle.rms());
    std::printf("  to the exact sum of the ranks' outputs  max %.4g, rms %.4g\n", sum.to_exact.max,
                sum.to_exact.rms());
    std::printf("  farther than any order of summation may come: %zu elements\n", sum.beyond);
    if (sum.equal_orders.empty()) {
      std::printf("  equals no one modelled order; %zu elements are in none\n", sum.unexplained);
    } else {
      std::printf("  bit for bit: %s\n", sum.equal_orders.c_str());
    }
  }
}

// One rank's slice, run and judged.
struct OwnSlice {
  Problem whole;
  Slice told;
  std::vector<std::uint16_t> output;
};

void RunSlice(const verify::Ranks& ranks, const std::string& descriptor,
              verify::ProblemSource& source, const SessionOptions& options, OwnSlice& own) {
  const Case c = ParseDescriptor(descriptor);
  source.Preload({c});
  own.whole = source.Make(c);
  const Problem mine = reference::ShardOf(own.whole, ranks.rank(), ranks.size());
  verify::DeviceOptions device = options.device;
  device.hooks.output = [&](std::span<const std::uint16_t> got, std::span<const float>) {
    own.output.assign(got.begin(), got.end());
  };
  const verify::CaseRecord record = verify::RunCase(mine, device, options.judge);
  const std::size_t elements =
      static_cast<std::size_t>(c.shape.tokens) * static_cast<std::size_t>(c.shape.hidden);
  std::memcpy(own.told.hash, SetupHash(c, options).data(), kHashDigits);
  own.told.verdict = static_cast<std::uint8_t>(record.verdict);
  own.told.has_output = own.output.size() == elements ? 1 : 0;
  own.told.worst_use = record.WorstUse();
  std::snprintf(own.told.reason, sizeof(own.told.reason), "%s", record.reason.c_str());
}

// What all ranks tell; throws where their outputs cannot be summed.
std::vector<Slice> Exchange(verify::Ranks& ranks, const Slice& own) {
  const std::string gathered = ranks.Gather({reinterpret_cast<const char*>(&own), sizeof(own)});
  std::vector<Slice> slices(static_cast<std::size_t>(ranks.size()));
  std::memcpy(slices.data(), gathered.data(), gathered.size());
  for (std::size_t rank = 0; rank < slices.size(); ++rank) {
    const std::string where = "rank " + std::to_string(rank);
    if (slices[rank].has_output == 0) {
      throw BadInput(where, std::string("has no output to sum (") + slices[rank].reason + ")",
                     "all slices must run");
    }
    if (std::memcmp(slices[rank].hash, slices[0].hash, kHashDigits) != 0) {
      throw BadInput(where, "runs another voltcheck, other kernels or another case than rank 0",
                     "start every rank from the same files");
    }
  }
  return slices;
}

ExitStatus Run(verify::Ranks& ranks, const std::string& descriptor, verify::ProblemSource& source,
               const SessionOptions& options, int own_gpu) {
  // Whatever goes wrong on one rank is told before all ranks give up together.
  OwnSlice own;
  try {
    RunSlice(ranks, descriptor, source, options, own);
  } catch (const Error& error) {
    std::snprintf(own.told.reason, sizeof(own.told.reason), "%s", error.what());
  }
  const std::vector<Slice> slices = Exchange(ranks, own.told);
  const std::vector<std::uint16_t>& output = own.output;
  const Problem& whole = own.whole;
  const std::size_t elements = output.size();
  bool passed = std::all_of(slices.begin(), slices.end(), [](const Slice& one) {
    return static_cast<verify::Verdict>(one.verdict) == verify::Verdict::kPassed;
  });
  std::vector<std::uint16_t> halves = output;
  std::vector<float> floats(elements);
  arith::HalfToFloat(output.data(), floats.data(), elements);
  const Library library = AllReduce(ranks, options.device, own_gpu, halves, floats);
  const std::string all = ranks.Gather(
      {reinterpret_cast<const char*>(output.data()), elements * sizeof(std::uint16_t)});
  if (ranks.rank() > 0) {
    return ExitStatus::kPassed;  // rank 0 has the last word
  }
  std::vector<std::vector<float>> outputs;
  for (std::size_t rank = 0; rank < slices.size(); ++rank) {
    std::vector<std::uint16_t> bits(elements);
    std::memcpy(bits.data(), all.data() + rank * elements * sizeof(std::uint16_t),
                elements * sizeof(std::uint16_t));
    arith::HalfToFloat(bits.data(), outputs.emplace_back(elements).data(), elements);
  }
  const reference::Permutation permutation = reference::Permute(whole);
  const reference::StageOutputs<double> oracle = reference::RunStage<double>(
      whole, permutation, {reference::WeightKind::kContract, reference::Rounding::kNone});
  std::vector<Sum> sums{{"fp16", SumType::kHalf, std::vector<float>(elements), {}, {}, 0, {}, 0},
                        {"fp32", SumType::kFloat, floats, {}, {}, 0, {}, 0}};
  arith::HalfToFloat(halves.data(), sums[0].values.data(), elements);
  for (Sum& sum : sums) {
    Judge(sum, outputs, oracle.output);
    passed = passed && sum.beyond == 0;
  }
  if (options.json) {
    Json json{{"schema", "voltcheck.tensor_parallel/1"},
              {"descriptor", descriptor},
              {"library", library.name},
              {"why_not_nccl", library.why_not_nccl}};
    for (const Slice& one : slices) {
      json["ranks"].push_back(
          {{"verdict", verify::ToString(static_cast<verify::Verdict>(one.verdict))},
           {"worst_use", one.worst_use},
           {"reason", one.reason}});
    }
    for (const Sum& sum : sums) {
      json["sums"].push_back(ToJson(sum));
    }
    json["passed"] = passed;
    std::printf("%s\n", json.dump(1).c_str());
  } else if (!options.quiet || !passed) {
    Print(descriptor, slices, sums, library);
    std::printf("\n%s\n", passed ? "PASSED" : "FAILED");
  }
  return passed ? ExitStatus::kPassed : ExitStatus::kFailed;
}

}  // namespace

ExitStatus ReplayTensorParallel(const std::string& descriptor, verify::ProblemSource& source,
                                SessionOptions options) {
  if (!verify::StartedByMpi()) {
    throw BadInput("--tp", "needs one process for each slice",
                   "start it as 'mpirun -n 4 voltcheck replay --tp ...'");
  }
  const std::unique_ptr<verify::Ranks> ranks = verify::OpenRanks();
  // Each rank its own GPU; where there are too few, none has one to itself.
  const verify::Ranks::Place place = ranks->OnHost();
  const bool alone = place.size <= static_cast<int>(options.device.gpus.size());
  const int gpu = verify::ShareOfGpus(options.device.gpus, place.rank, place.size).front();
  options.device.gpus = {gpu};
  ExitStatus status = ExitStatus::kBadInput;
  std::string line;
  try {
    status = Run(*ranks, descriptor, source, options, alone ? gpu : kNoGpu);
  } catch (const Error& error) {
    status = error.status();
    line = error.what();
  }
  if (!line.empty() && ranks->rank() == 0) {
    std::fprintf(stderr, "voltcheck: %s\n", line.c_str());
  }
  std::fflush(stdout);
  ranks->Finish(static_cast<int>(status));
  return status;
}

}  // namespace voltcheck::tools
