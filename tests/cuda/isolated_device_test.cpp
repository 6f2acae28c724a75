// A device in a child process: the same answers, and a fault that ends with the child.
#include "kernels/cuda/isolated_device.h"

#include <gtest/gtest.h>

#include <csignal>

#include "fake_driver.h"
#include "fixtures/case/error.h"
#include "kernels/cuda/cuda_library.h"

namespace voltcheck::cuda {
namespace {

using kernels::Device;
using kernels::Launch;

const char kPtx[] =
    ".version 7.8\n.target sm_70\n.address_size 64\n"
    ".visible .entry first(.param .u32 a, .param .align 8 .b8 b[24]) { ret; }\n"
    ".visible .entry second(.param .u32 a) { ret; }\n";

/// A device over the scripted driver, whose next call of `entry` fails with `result`.
std::unique_ptr<Device> Make(const std::string& entry = "", int result = 0) {
  return MakeIsolatedDevice([=] {
    auto device = MakeCudaDeviceFrom(VOLTCHECK_FAKE_DRIVER, 0);
    TheFakeDriver().fail_entry = entry;
    TheFakeDriver().fail_result = result;
    return device;
  });
}

Launch Second(Device& device) {
  const std::uint32_t module = device.LoadModule({"test.ptx", kPtx, {}});
  return {device.FindKernel(module, "second"),
          {2, 3, 4},
          {32, 1, 1},
          64,
          {kernels::ArgumentBytes(std::uint32_t{77})}};
}

TEST(IsolatedDevice, AnswersAsTheDeviceItself) {
  const auto device = Make();
  EXPECT_EQ(device->Describe().name, "Fake GPU");
  const auto address = device->Allocate(4, "numbers");
  std::vector<std::byte> bytes = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  device->CopyToDevice(address, bytes);
  device->Fill(address + 1, std::byte{9}, 2);
  device->CopyFromDevice(bytes, address);
  EXPECT_EQ(bytes,
            (std::vector<std::byte>{std::byte{1}, std::byte{9}, std::byte{9}, std::byte{4}}));
  device->Free(address);
  const Launch launch = Second(*device);
  EXPECT_EQ(device->KernelNames(launch.kernel.module),
            (std::vector<std::string>{"first", "second"}));
  const auto parameters = device->Parameters(device->FindKernel(launch.kernel.module, "first"));
  ASSERT_EQ(parameters.size(), 2U);
  EXPECT_EQ(parameters[1].bytes, 24U);
  device->Run(launch);
  const auto sequence = device->Capture(std::vector<Launch>{launch, launch});
  sequence->Replay();
  device->Synchronize();
  EXPECT_FALSE(device->faulted());
  EXPECT_TRUE(device->TakeFindings().empty());
  EXPECT_EQ(device->TakeCounters().mma, 0U);
}

TEST(IsolatedDevice, ErrorsKeepTheirStatusAndText) {
  const auto device = Make();
  Launch launch = Second(*device);
  launch.arguments.clear();
  try {
    device->Run(launch);
    FAIL() << "ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kBadInput);
    EXPECT_NE(std::string(error.what()).find("0 arguments for 1 parameters"), std::string::npos);
  }
  try {
    MakeIsolatedDevice([] { return MakeCudaDeviceFrom("libvoltcheck_no_such_driver.so", 0); });
    FAIL() << "made";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kUnavailable);
    EXPECT_NE(std::string(error.what()).find("there is no NVIDIA driver"), std::string::npos);
  }
}

TEST(IsolatedDevice, AFaultEndsWithTheChild) {
  {
    const auto device = Make("cuStreamSynchronize", 700);
    device->Run(Second(*device));
    EXPECT_TRUE(device->faulted());
    const auto findings = device->TakeFindings();
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].kernel, "second");
    EXPECT_EQ(findings[0].message, "CUDA_ERROR_ILLEGAL_ADDRESS: driver's text of error 700");
  }
  const auto next = Make();
  next->Run(Second(*next));
  EXPECT_FALSE(next->faulted());
}

TEST(IsolatedDevice, AChildThatDiesIsAnErrorOfTheDevice) {
  try {
    MakeIsolatedDevice([]() -> std::unique_ptr<Device> {
      std::raise(SIGKILL);
      return nullptr;
    });
    FAIL() << "made";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kUnavailable);
    EXPECT_NE(std::string(error.what()).find("Killed"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace voltcheck::cuda
