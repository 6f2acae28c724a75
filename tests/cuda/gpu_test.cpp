// On a machine with an NVIDIA GPU: a kernel runs, a graph replays, bad PTX and a fault are
// reported. On others the same call must give exit status 3 and one sentence.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fixtures/case/error.h"
#include "kernels/cuda/cuda_device.h"

namespace voltcheck::cuda {
namespace {

const char kPtx[] = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry add_one(.param .u64 data, .param .u32 count) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  .reg .pred %p;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p, %r2, %r1;
  @%p ret;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r3, [%rd1];
  add.u32 %r3, %r3, 1;
  st.global.u32 [%rd1], %r3;
  ret;
}
)";

TEST(Gpu, RunsReplaysAndFaults) {
  std::unique_ptr<kernels::Device> device;
  try {
    device = MakeCudaDevice(0);
  } catch (const Error& error) {
    ASSERT_EQ(error.status(), ExitStatus::kUnavailable);
    EXPECT_FALSE(std::string(error.what()).empty());
    GTEST_SKIP() << error.what();
  }
  const std::uint32_t module = device->LoadModule({"add_one.ptx", kPtx, {}});
  std::vector<std::uint32_t> values = {1, 2, 3, 4};
  const auto address = device->Allocate(16, "values");
  device->CopyToDevice(address, std::as_bytes(std::span(values)));
  kernels::Launch launch{
      device->FindKernel(module, "add_one"),
      {1, 1, 1},
      {32, 1, 1},
      0,
      {kernels::ArgumentBytes(address), kernels::ArgumentBytes(std::uint32_t{4})}};
  device->Run(launch);
  const std::vector<kernels::Launch> twice = {launch, launch};
  device->Capture(twice)->Replay();
  device->CopyFromDevice(std::as_writable_bytes(std::span(values)), address);
  EXPECT_EQ(values, (std::vector<std::uint32_t>{4, 5, 6, 7}));

  try {
    std::string broken = kPtx;
    broken.replace(broken.find("add.u32"), 7, "sdd.u32");
    device->LoadModule({"broken.ptx", broken, {}});
    FAIL() << "the driver took an unknown instruction";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kBadInput);
    EXPECT_NE(std::string(error.what()).find("broken.ptx: ptxas"), std::string::npos)
        << error.what();
  }

  launch.arguments[0] = kernels::ArgumentBytes(std::uint64_t{16});
  device->Run(launch);
  EXPECT_TRUE(device->faulted());
  const auto findings = device->TakeFindings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kernel, "add_one");
  EXPECT_NE(findings[0].message.find("CUDA_ERROR_"), std::string::npos) << findings[0].message;
}

}  // namespace
}  // namespace voltcheck::cuda
