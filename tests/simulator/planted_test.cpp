// Every kind of bug planted into a CUDA kernel: found, with the place and what it missed; and the
// same kernel without it raises nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "runner.h"

namespace voltcheck::simulator::testing {
namespace {

struct Planted {
  const char* kernel;
  const char* checker;
  const char* message;
  std::uint32_t blocks = 1;
  std::uint32_t threads = 32;
};

/// The line of bugs.cu that says "BUG name".
std::uint32_t LineOf(const std::string& name) {
  std::ifstream file(VOLTCHECK_TEST_KERNELS "/bugs.cu");
  std::string line;
  for (std::uint32_t number = 1; std::getline(file, line); ++number) {
    if (line.ends_with("BUG " + name)) {
      return number;
    }
  }
  ADD_FAILURE() << "no BUG " << name;
  return 0;
}

std::string LineOfPtx(const std::string& ptx, std::uint32_t number) {
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line < number; ++line) {
    begin = ptx.find('\n', begin) + 1;
  }
  return ptx.substr(begin, ptx.find('\n', begin) - begin);
}

struct Result {
  std::vector<kernels::Finding> findings;
  kernels::Counters counters;
};

Result RunKernel(const Planted& planted, std::int32_t bug, std::uint64_t schedule) {
  static const std::string ptx = CompiledPtx("bugs");
  Options options;
  options.checks = Checks::All();
  options.schedule = schedule;
  options.instruction_limit = 20'000'000;
  Runner runner(options);
  const auto kernel = runner.Load(ptx, planted.kernel, "bugs.ptx");
  const auto out = runner.Upload(std::vector<std::int32_t>(1024, 0), "out");
  const auto in = runner.Buffer(64 * 4, "in");
  runner.device().Fill(in, std::byte{0}, 32 * 4);
  const auto lock = runner.Upload(std::vector<std::int32_t>(1, 0), "lock");
  runner.Run(kernel, {planted.blocks, 1, 1}, {planted.threads, 1, 1}, 0, out, in, lock, bug);
  return {runner.device().TakeFindings(), runner.device().TakeCounters()};
}

class PlantedBugs : public ::testing::TestWithParam<Planted> {};

TEST_P(PlantedBugs, AreFoundAndNamed) {
  const Planted& planted = GetParam();
  for (const std::uint64_t schedule : {0, 1, 2}) {
    const std::vector<kernels::Finding> findings = RunKernel(planted, 1, schedule).findings;
    const std::string source = "bugs.cu:" + std::to_string(LineOf(planted.kernel));
    const auto found =
        std::find_if(findings.begin(), findings.end(), [&](const kernels::Finding& f) {
          return f.checker == planted.checker && f.source == source &&
                 f.message.find(planted.message) != std::string::npos;
        });
    std::string all;
    for (const kernels::Finding& f : findings) {
      all += f.checker + " " + f.source + ": " + f.message + "\n";
    }
    ASSERT_NE(found, findings.end()) << "schedule " << schedule << ":\n" << all;
    EXPECT_EQ(found->kernel, planted.kernel);
    // The instruction that the message quotes stands in the PTX line that it names.
    const std::string text = found->message.substr(1, found->message.find('`', 1) - 1);
    EXPECT_NE(LineOfPtx(CompiledPtx("bugs"), found->line).find(text), std::string::npos) << all;
    EXPECT_LT(found->block.x, planted.blocks);
    EXPECT_LT(found->thread.x, planted.threads);
  }
}

TEST_P(PlantedBugs, AreNotFoundWhereThereAreNone) {
  for (const std::uint64_t schedule : {0, 1, 2, 3}) {
    for (const kernels::Finding& f : RunKernel(GetParam(), 0, schedule).findings) {
      ADD_FAILURE() << f.checker << " at " << f.source << ": " << f.message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, PlantedBugs,
    ::testing::Values(
        Planted{"global_bounds", "bounds", "4 bytes past the end of `out` (4096 bytes at 0x"},
        Planted{"misaligned", "alignment", "is not aligned to 4 bytes"},
        Planted{"shared_bounds", "bounds", "in shared memory at 0x"},
        Planted{"const_bounds", "bounds", "in const memory at 0x"},
        Planted{"local_bounds", "bounds", "in local memory at 0x"},
        Planted{"unwritten_global", "uninitialised", "of `in` at offset 128, where byte 128"},
        Planted{"unwritten_shared", "uninitialised", "of shared memory at offset 20"},
        Planted{"unwritten_local", "uninitialised", "of local memory at offset"},
        Planted{"shared_race", "race", "with no barrier or flag between", 1, 64},
        Planted{"warp_race", "race", "with no bar.warp.sync or barrier between"},
        Planted{"global_race", "race", "writes `out` at offset 28, which block (", 3},
        Planted{"missing_fence", "race", "with no release and acquire between", 4},
        Planted{"overlapping_stores", "race", "write different values to one address"},
        Planted{"divergent_barrier", "barrier", "is divergent", 1, 64},
        Planted{"extra_threads", "deadlock", "on barrier 1, 32 threads arrived of 64", 1, 96},
        Planted{"two_barriers", "deadlock", "on barrier 1, 32 threads arrived of 64", 1, 64},
        Planted{"forgotten_signal", "deadlock",
                "which holds 4294967289, written last by block (0,0,0) thread (0,0,0) at line ", 3},
        Planted{"livelock", "limit", "lane instructions of the launch: warp 0 lanes 0 at line", 2},
        Planted{"dirty_lock", "lock", "was 0 before and is 1", 3}),
    [](const ::testing::TestParamInfo<Planted>& one) { return std::string(one.param.kernel); });

TEST(Counters, ConflictsAndSectorsOfStrides) {
  const Planted strides{"strides", "", ""};
  const kernels::Counters good = RunKernel(strides, 0, 0).counters;
  const kernels::Counters bad = RunKernel(strides, 1, 0).counters;
  EXPECT_EQ(good.bank_conflicts, 0u);
  EXPECT_EQ(good.global_sectors, 4u);
  EXPECT_EQ(bad.bank_conflicts, 31u);
  EXPECT_EQ(bad.global_sectors, 32u);
}

}  // namespace
}  // namespace voltcheck::simulator::testing
