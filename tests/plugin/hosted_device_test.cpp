// The device as a plugin sees it, in this process.
#include "kernels/plugin/hosted_device.h"

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/plugin/device_table.h"
#include "kernels/simulator/simulator.h"

namespace voltcheck::plugin {
namespace {

constexpr const char* kPtx = R"(
.version 6.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 cell, .param .u32 amount) {
  .reg .u64 %rd<3>;
  .reg .u32 %r<4>;
  ld.param.u64 %rd1, [cell];
  ld.param.u32 %r1, [amount];
  ld.global.u32 %r2, [%rd1];
  add.u32 %r3, %r2, %r1;
  st.global.u32 [%rd1], %r3;
  ret;
}
)";

class TableTest : public testing::Test {
 protected:
  TableTest() : device_(simulator::MakeSimulator({})), table_(*device_), d_(table_.functions()) {
    EXPECT_EQ(
        d_->load_module(d_->self, "add.ptx", kPtx, std::strlen(kPtx) + 1, nullptr, 0, &module_), 0);
    EXPECT_EQ(d_->find_kernel(d_->self, module_, "add", &kernel_), 0);
    EXPECT_EQ(d_->allocate(d_->self, 4, "cell", &cell_), 0);
    EXPECT_EQ(d_->fill(d_->self, cell_, 0, 4), 0);
  }

  int Add(std::uint32_t amount, std::uint32_t arguments = 2) {
    const void* values[] = {&cell_, &amount};
    const voltcheck_launch launch = {kernel_, {1, 1, 1}, {1, 1, 1}, 0, arguments, values};
    return d_->launch(d_->self, &launch);
  }
  std::uint32_t Cell() {
    std::uint32_t value = 0;
    EXPECT_EQ(d_->copy_from_device(d_->self, &value, cell_, 4), 0);
    return value;
  }

  std::unique_ptr<kernels::Device> device_;
  DeviceTable table_;
  const voltcheck_device* d_;
  std::uint32_t module_ = 0;
  voltcheck_kernel kernel_{};
  voltcheck_address cell_ = 0;
};

TEST_F(TableTest, LaunchesRunInOrder) {
  EXPECT_EQ(Add(3), 0);
  EXPECT_EQ(Add(4), 0);
  EXPECT_EQ(Cell(), 7U);
}

TEST_F(TableTest, ACaptureRunsAtReplayAndAsOftenAsReplayed) {
  EXPECT_EQ(d_->capture_begin(d_->self), 0);
  EXPECT_EQ(Add(5), 0);
  std::uint64_t sequence = 0;
  EXPECT_EQ(d_->capture_end(d_->self, &sequence), 0);
  EXPECT_EQ(Cell(), 0U);
  EXPECT_EQ(d_->replay(d_->self, sequence), 0);
  EXPECT_EQ(d_->replay(d_->self, sequence), 0);
  EXPECT_EQ(Cell(), 10U);
  EXPECT_EQ(d_->drop_sequence(d_->self, sequence), 0);
  EXPECT_NE(d_->replay(d_->self, sequence), 0);
  EXPECT_NE(std::string(d_->last_error(d_->self)).find("does not exist"), std::string::npos);
}

TEST_F(TableTest, MistakesReturnTheirReason) {
  const auto expect = [&](int status, const char* says) {
    EXPECT_NE(status, 0);
    EXPECT_NE(std::string(d_->last_error(d_->self)).find(says), std::string::npos)
        << d_->last_error(d_->self);
  };
  expect(Add(1, 1), "1 arguments for 2 parameters");
  expect(d_->deallocate(d_->self, cell_ + 4), "no memory of the plugin begins");
  voltcheck_kernel other;
  expect(d_->find_kernel(d_->self, module_, "subtract", &other), "subtract");
  std::uint32_t module = 0;
  expect(d_->load_module(d_->self, "bad.ptx", "nonsense", 8, nullptr, 0, &module), "bad.ptx");
  std::uint64_t sequence = 0;
  expect(d_->capture_end(d_->self, &sequence), "no capture has begun");
  EXPECT_EQ(d_->capture_begin(d_->self), 0);
  expect(d_->fill(d_->self, cell_, 0, 4), "only launches can be recorded");
  EXPECT_EQ(d_->capture_end(d_->self, &sequence), 0);
}

TEST_F(TableTest, AFaultIsAFailure) {
  cell_ += 4096;
  EXPECT_NE(Add(1), 0);
  EXPECT_TRUE(device_->faulted());
}

}  // namespace
}  // namespace voltcheck::plugin
