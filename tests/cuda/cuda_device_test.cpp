// The GPU device against a driver that follows a script (fake_driver.cpp), and its refusals without
// one.
#include "kernels/cuda/cuda_device.h"

#include <gtest/gtest.h>

#include <string>

#include "fake_driver.h"
#include "fixtures/case/error.h"
#include "kernels/cuda/cuda_library.h"

namespace voltcheck::cuda {
namespace {

using kernels::Device;
using kernels::Launch;

const char kPtx[] =
    ".version 7.8\n.target sm_70\n.address_size 64\n"
    ".func helper { ret; }\n"
    ".visible .entry first(.param .u32 a, .param .align 8 .b8 b[24]) { ret; }\n"
    ".visible .entry second(.param .u32 a) { ret; }\n";

/// Runs `action` and returns its Error's line; fails the test when the status is another.
template <typename Action>
std::string ErrorOf(ExitStatus status, Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no Error";
  return "";
}

class CudaDeviceTest : public testing::Test {
 protected:
  void SetUp() override { TheFakeDriver() = FakeDriver(); }
  static std::unique_ptr<Device> Make() { return MakeCudaDeviceFrom(VOLTCHECK_FAKE_DRIVER, 0); }
  static void Fail(const std::string& entry, int result) {
    TheFakeDriver().fail_entry = entry;
    TheFakeDriver().fail_result = result;
  }
  static std::uint32_t Load(Device& device, std::span<const std::byte> cubin = {}) {
    return device.LoadModule({"test.ptx", kPtx, cubin});
  }
  static Launch Second(Device& device, std::uint32_t module, std::uint32_t value) {
    return {device.FindKernel(module, "second"),
            {2, 3, 4},
            {32, 1, 1},
            64,
            {kernels::ArgumentBytes(value)}};
  }
};

TEST(CudaWithoutDriver, OneSentenceAndStatusThree) {
  const std::string line = ErrorOf(ExitStatus::kUnavailable,
                                   [] { MakeCudaDeviceFrom("libvoltcheck_no_such_driver.so", 0); });
  EXPECT_NE(line.find("there is no NVIDIA driver on this machine"), std::string::npos) << line;
}

TEST(CudaWithoutDriver, ALibraryThatIsNoDriverIsRefused) {
  const std::string line =
      ErrorOf(ExitStatus::kUnavailable, [] { MakeCudaDeviceFrom("libm.so.6", 0); });
  EXPECT_NE(line.find("has no cuInit"), std::string::npos) << line;
}

TEST_F(CudaDeviceTest, MissingGpusAreRefused) {
  TheFakeDriver().gpus = 0;
  EXPECT_NE(ErrorOf(ExitStatus::kUnavailable, Make).find("0 NVIDIA GPUs"), std::string::npos);
  TheFakeDriver().gpus = 1;
  TheFakeDriver().major = 6;
  EXPECT_NE(ErrorOf(ExitStatus::kUnavailable, Make).find("Volta"), std::string::npos);
  TheFakeDriver().major = 9;
  Fail("cuInit", 100);
  const std::string line = ErrorOf(ExitStatus::kUnavailable, Make);
  EXPECT_NE(line.find("CUDA_ERROR_NO_DEVICE: driver's text of error 100"), std::string::npos)
      << line;
}

TEST_F(CudaDeviceTest, DescribesItself) {
  const auto device = Make();
  EXPECT_EQ(device->Describe().kind, "cuda");
  EXPECT_EQ(device->Describe().name, "Fake GPU");
  EXPECT_EQ(device->Describe().numerics, "sm80-software");
  EXPECT_EQ(device->Describe().code, "ptx");
  EXPECT_NE(device->Describe().driver.find("CUDA 13.0"), std::string::npos);
  TheFakeDriver().major = 7;
  EXPECT_EQ(Make()->Describe().numerics, "v100");
  TheFakeDriver().minor = 5;
  EXPECT_EQ(Make()->Describe().numerics, "sm75");
}

TEST_F(CudaDeviceTest, MemoryRoundTrip) {
  const auto device = Make();
  const auto address = device->Allocate(4, "numbers");
  std::vector<std::byte> bytes = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  device->CopyToDevice(address, bytes);
  device->Fill(address + 1, std::byte{9}, 2);
  device->CopyFromDevice(bytes, address);
  EXPECT_EQ(bytes,
            (std::vector<std::byte>{std::byte{1}, std::byte{9}, std::byte{9}, std::byte{4}}));
  device->Free(address);
  const auto nothing = device->Allocate(0, "nothing");
  EXPECT_NE(nothing, 0U);
  device->Free(nothing);
}

TEST_F(CudaDeviceTest, AllocationsThatDoNotFitAreBadInput) {
  const auto device = Make();
  Fail("cuMemAlloc_v2", 2);
  const std::string line =
      ErrorOf(ExitStatus::kBadInput, [&] { device->Allocate(std::size_t{1} << 60, "huge"); });
  EXPECT_NE(line.find("1152921504606846976 bytes for 'huge': CUDA_ERROR_OUT_OF_MEMORY"),
            std::string::npos)
      << line;
}

TEST_F(CudaDeviceTest, CubinOnSm70OnlyElsePtx) {
  const std::vector<std::byte> cubin = {std::byte{0x7F}, std::byte{'E'}, std::byte{'L'},
                                        std::byte{'F'}};
  Load(*Make(), cubin);
  TheFakeDriver().major = 7;
  TheFakeDriver().minor = 5;
  Load(*Make(), cubin);
  TheFakeDriver().minor = 0;
  const auto volta = Make();
  Load(*volta, cubin);
  EXPECT_EQ(volta->Describe().code, "sm70 cubin");
  Load(*volta);
  EXPECT_EQ(volta->Describe().code, "ptx") << "one module without a cubin";
  std::vector<std::string> loads;
  for (const std::string& call : TheFakeDriver().calls) {
    if (call.rfind("load", 0) == 0) {
      loads.push_back(call);
    }
  }
  EXPECT_EQ(loads, (std::vector<std::string>{"load ptx", "load ptx", "load cubin", "load ptx"}));
}

TEST_F(CudaDeviceTest, KernelsAndParametersComeFromThePtx) {
  const auto device = Make();
  const std::uint32_t module = Load(*device);
  EXPECT_EQ(device->KernelNames(module), (std::vector<std::string>{"first", "second"}));
  const auto parameters = device->Parameters(device->FindKernel(module, "first"));
  ASSERT_EQ(parameters.size(), 2U);
  EXPECT_EQ(parameters[0].bytes, 4U);
  EXPECT_EQ(parameters[1].bytes, 24U);
  EXPECT_EQ(parameters[1].alignment, 8U);
  EXPECT_NE(ErrorOf(ExitStatus::kBadInput, [&] { device->FindKernel(module, "helper"); })
                .find("test.ptx: there is no kernel 'helper'"),
            std::string::npos);
}

TEST_F(CudaDeviceTest, MalformedPtxNamesItsPlaceAndTheDriversLogIsTheLine) {
  const auto device = Make();
  EXPECT_NE(ErrorOf(ExitStatus::kBadInput,
                    [&] {
                      device->LoadModule({"bad.ptx", ".version 7.8\n.target sm_70\nnonsense", {}});
                    })
                .find("bad.ptx:3:1:"),
            std::string::npos);
  TheFakeDriver().jit_log = "ptxas application ptx input, line 5; error\nUnknown thing\n";
  Fail("cuModuleLoadDataEx", 218);
  const std::string line = ErrorOf(ExitStatus::kBadInput, [&] { Load(*device); });
  EXPECT_EQ(line.rfind("test.ptx: ptxas application ptx input, line 5; error Unknown thing: "
                       "CUDA_ERROR_INVALID_PTX: driver's text",
                       0),
            0U)
      << line;
}

TEST_F(CudaDeviceTest, LaunchesPassGridBlockSharedAndArguments) {
  const auto device = Make();
  device->Run(Second(*device, Load(*device), 77));
  EXPECT_EQ(TheFakeDriver().calls.back(), "second<2,3,4;32,1,1;64> 77");
}

TEST_F(CudaDeviceTest, ArgumentsThatDoNotFitAreRefusedBeforeTheLaunch) {
  const auto device = Make();
  Launch launch = Second(*device, Load(*device), 77);
  launch.arguments.push_back(kernels::ArgumentBytes(1));
  EXPECT_EQ(ErrorOf(ExitStatus::kBadInput, [&] { device->Run(launch); }),
            "test.ptx: second: 2 arguments for 1 parameters; give one argument for each");
  launch.arguments = {kernels::ArgumentBytes(std::uint64_t{1})};
  EXPECT_EQ(ErrorOf(ExitStatus::kBadInput, [&] { device->Run(launch); }),
            "test.ptx: second: argument 0 has 8 bytes, parameter 'a' has 4; give a value of the "
            "parameter's size");
  EXPECT_EQ(TheFakeDriver().calls, std::vector<std::string>{"load ptx"});
}

TEST_F(CudaDeviceTest, ImpossibleLaunchesAreBadInput) {
  const auto device = Make();
  const Launch launch = Second(*device, Load(*device), 77);
  Fail("cuLaunchKernel", 1);
  EXPECT_EQ(ErrorOf(ExitStatus::kBadInput, [&] { device->Run(launch); })
                .rfind("launch of second: CUDA_ERROR_INVALID_VALUE", 0),
            0U);
  EXPECT_FALSE(device->faulted());
}

TEST_F(CudaDeviceTest, FaultsBecomeOneFindingAndStayWithTheDevice) {
  const auto device = Make();
  const Launch launch = Second(*device, Load(*device), 77);
  const auto address = device->Allocate(1, "byte");
  Fail("cuStreamSynchronize", 700);
  device->Run(launch);
  EXPECT_TRUE(device->faulted());
  const std::size_t calls = TheFakeDriver().calls.size();
  device->Run(launch);
  device->Synchronize();
  std::byte kept{5};
  device->CopyFromDevice({&kept, 1}, address);
  EXPECT_EQ(kept, std::byte{5});
  EXPECT_EQ(TheFakeDriver().calls.size(), calls) << "a poisoned context is left alone";
  const auto findings = device->TakeFindings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].checker, "fault");
  EXPECT_EQ(findings[0].kernel, "second");
  EXPECT_EQ(findings[0].message, "CUDA_ERROR_ILLEGAL_ADDRESS: driver's text of error 700");
  EXPECT_TRUE(device->TakeFindings().empty());
  EXPECT_TRUE(device->faulted());
  EXPECT_NE(ErrorOf(ExitStatus::kUnavailable, [&] { device->Allocate(4, "more"); })
                .find("faulted earlier"),
            std::string::npos);
  device->Free(address);
}

TEST_F(CudaDeviceTest, AFaultSeenByACopyIsNoException) {
  const auto device = Make();
  const auto address = device->Allocate(1, "byte");
  std::byte value{};
  Fail("cuMemcpyDtoH_v2", 719);
  device->CopyFromDevice({&value, 1}, address);
  EXPECT_TRUE(device->faulted());
  EXPECT_EQ(device->TakeFindings().at(0).message, "CUDA error 719");
  device->Free(address);
}

TEST_F(CudaDeviceTest, CapturedLaunchesRunOnReplayOnly) {
  const auto device = Make();
  const std::uint32_t module = Load(*device);
  const std::vector<Launch> launches = {Second(*device, module, 1), Second(*device, module, 2)};
  const auto sequence = device->Capture(launches);
  EXPECT_EQ(TheFakeDriver().calls.size(), 1U) << "only the load";
  sequence->Replay();
  sequence->Replay();
  EXPECT_EQ(TheFakeDriver().calls.size(), 5U);
  EXPECT_EQ(TheFakeDriver().calls[1], "graph second<2,3,4;32,1,1;64> 1");
  EXPECT_EQ(TheFakeDriver().calls[4], "graph second<2,3,4;32,1,1;64> 2");
}

TEST_F(CudaDeviceTest, AFailedCaptureLeavesTheStreamUsable) {
  const auto device = Make();
  const std::vector<Launch> launches = {Second(*device, Load(*device), 1)};
  Fail("cuLaunchKernel", 1);
  ErrorOf(ExitStatus::kBadInput, [&] { device->Capture(launches); });
  EXPECT_FALSE(TheFakeDriver().capturing);
  device->Run(launches[0]);
  EXPECT_EQ(TheFakeDriver().calls.back(), "second<2,3,4;32,1,1;64> 1");
}

TEST_F(CudaDeviceTest, AFaultInAReplayNamesTheKernels) {
  const auto device = Make();
  const std::vector<Launch> launches = {Second(*device, Load(*device), 1)};
  const auto sequence = device->Capture(launches);
  Fail("cuStreamSynchronize", 700);
  sequence->Replay();
  sequence->Replay();
  EXPECT_TRUE(device->faulted());
  EXPECT_EQ(device->TakeFindings().at(0).kernel, "second");
}

TEST_F(CudaDeviceTest, EverythingIsGivenBack) {
  {
    const auto device = Make();
    Load(*device);
  }
  EXPECT_EQ(TheFakeDriver().calls, (std::vector<std::string>{"load ptx", "unload", "release"}));
}

}  // namespace
}  // namespace voltcheck::cuda
