#include "kernels/stage_runner.h"

#include <gtest/gtest.h>

#include "fake_device.h"
#include "small_problem.h"

namespace voltcheck::kernels {
namespace {

using testing::FakeDevice;
using testing::MakeProblem;
using testing::SmallCase;

class StageRunner : public ::testing::Test {
 protected:
  StageRunner() : problem_(MakeProblem(SmallCase())), plan_(MakePlan(problem_)) {}

  ObservedStage Run(const RunOptions& options = {}) {
    KernelSet kernels(device_, {});
    return RunPlan(device_, kernels, plan_, problem_.c.shape, options);
  }
  /// What to do when `kernel` is launched: `change` gets the bytes behind pointer argument
  /// `argument`.
  void On(const std::string& kernel, std::size_t argument, std::size_t bytes,
          std::function<void(std::byte*)> change) {
    device_.on_run = [=](FakeDevice& device, const Launch& launch) {
      if (device.NameOf(launch) == kernel) {
        change(device.At(FakeDevice::Pointer(launch, argument), bytes));
      }
    };
  }

  Problem problem_;
  Plan plan_;
  FakeDevice device_;
};

TEST_F(StageRunner, FindsNothingWhenNothingIsTouchedAndFreesEverything) {
  const ObservedStage observed = Run();
  EXPECT_TRUE(observed.violations.empty()) << observed.violations.front();
  EXPECT_FALSE(observed.crashed);
  EXPECT_EQ(device_.launches.size(), plan_.launches.size());
  EXPECT_EQ(device_.freed, static_cast<int>(plan_.buffers.size()));
  EXPECT_EQ(observed.output.size(), problem_.hidden.size());
  EXPECT_EQ(observed.offsets.size(), 33U);
}

TEST_F(StageRunner, PoisonsWhatLaunchesMustWrite) {
  EXPECT_EQ(Run().output.front(), 0x7fff);
  RunOptions options;
  options.poison = Poison::kOnes;
  EXPECT_EQ(Run(options).output.front(), 0xffff);
  device_.kind = "simulator";
  EXPECT_EQ(Run().output.front(), 0x1111) << "the simulator's never-written memory was overwritten";
}

TEST_F(StageRunner, SeesACanaryOverwrittenBehindABuffer) {
  const std::size_t output = problem_.hidden.size() * 2;
  On("moe_reduce", 0, output + 1, [=](std::byte* out) { out[output] = std::byte{1}; });
  const ObservedStage observed = Run();
  ASSERT_EQ(observed.violations.size(), 1U);
  EXPECT_EQ(observed.violations[0], "canary 0 bytes behind the end of output was overwritten");
}

TEST_F(StageRunner, SeesACanaryOverwrittenBeforeABuffer) {
  device_.on_run = [](FakeDevice& device, const Launch& launch) {
    if (device.NameOf(launch) == "moe_reduce") {
      *device.At(FakeDevice::Pointer(launch, 0) - 1, 1) = std::byte{1};
    }
  };
  const ObservedStage observed = Run();
  ASSERT_EQ(observed.violations.size(), 1U);
  EXPECT_EQ(observed.violations[0], "canary 1 bytes before output was overwritten");
}

TEST_F(StageRunner, SeesAnInputChanged) {
  On("moe_gather", 1, 6, [](std::byte* hidden) { hidden[5] ^= std::byte{1}; });
  const ObservedStage observed = Run();
  ASSERT_EQ(observed.violations.size(), 1U);
  EXPECT_EQ(observed.violations[0], "input hidden was changed at byte 5");
}

TEST_F(StageRunner, SeesAPointerTableChanged) {
  On("moe_reduce", 0, 1, [](std::byte*) {});
  device_.on_run = [](FakeDevice& device, const Launch& launch) {
    if (device.NameOf(launch).rfind("grouped_gemm", 0) == 0) {
      *device.At(FakeDevice::Pointer(launch, 6), 1) ^= std::byte{1};
    }
  };
  const ObservedStage observed = Run();
  ASSERT_EQ(observed.violations.size(), 2U);
  EXPECT_EQ(observed.violations[0], "input w13.weight_table was changed at byte 0");
}

TEST_F(StageRunner, SeesADirtyLock) {
  problem_.c.w13.splits = 2;
  plan_ = MakePlan(problem_);
  On("grouped_gemm_8x128x64_g32_4b", 9, 8, [](std::byte* locks) { locks[4] = std::byte{1}; });
  const ObservedStage observed = Run();
  ASSERT_EQ(observed.violations.size(), 1U);
  EXPECT_EQ(observed.violations[0], "lock 1 of w13.locks was left dirty");
}

TEST_F(StageRunner, SeesRepeatsThatDiffer) {
  int run = 0;
  On("moe_reduce", 0, 64, [&](std::byte* out) { out[20] = static_cast<std::byte>(++run >= 3); });
  RunOptions options;
  options.repeats = 2;
  EXPECT_TRUE(Run(options).violations.empty());
  run = 0;
  options.repeats = 3;
  const ObservedStage observed = Run(options);
  ASSERT_EQ(observed.violations.size(), 1U);
  EXPECT_EQ(observed.violations[0],
            "output differs between run 1 and run 3 at element 10: 0x7f00, 0x7f01");
}

TEST_F(StageRunner, PreviousPoisonRunsOnceMoreBefore) {
  RunOptions options;
  options.poison = Poison::kPrevious;
  options.repeats = 2;
  Run(options);
  EXPECT_EQ(device_.launches.size(), 3 * plan_.launches.size());
}

TEST_F(StageRunner, StopsAtAFaultAndSaysSo) {
  device_.on_run = [](FakeDevice& device, const Launch& launch) {
    device.fault = device.NameOf(launch) == "moe_segments";
  };
  const ObservedStage observed = Run();
  EXPECT_TRUE(observed.crashed);
  EXPECT_EQ(device_.NameOf(device_.launches.back()), "moe_segments");
}

TEST_F(StageRunner, FillsInTheAddressesOfPointerTables) {
  DeviceAddress weights = 0;
  std::byte* table = nullptr;
  device_.on_run = [&](FakeDevice& device, const Launch& launch) {
    const std::string name = device.NameOf(launch);
    if (name == "awq_repack_weights" && weights == 0) {
      weights = FakeDevice::Pointer(launch, 0);
    } else if (name.rfind("grouped_gemm", 0) == 0 && table == nullptr) {
      table = device.At(FakeDevice::Pointer(launch, 6), 16);
      const int first = problem_.experts.front()->id;
      table = device.At(FakeDevice::Pointer(launch, 6) + 16 * static_cast<unsigned>(first), 16);
      DeviceAddress pointer = 0;
      std::int32_t stride = 0;
      std::memcpy(&pointer, table, 8);
      std::memcpy(&stride, table + 8, 4);
      EXPECT_EQ(pointer, weights);
      EXPECT_EQ(stride, 32 * problem_.c.w13_k() / 8);
    }
  };
  Run();
  EXPECT_NE(table, nullptr);
}

}  // namespace
}  // namespace voltcheck::kernels
