// Barriers, shared memory, atomics, blocks that wait for each other.
#include <gtest/gtest.h>

#include <numeric>

#include "runner.h"

namespace voltcheck::simulator::testing {
namespace {

class Blocks : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  Options options() const {
    Options options;
    options.schedule = GetParam();
    options.checks = Checks::All();
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Schedules, Blocks, ::testing::Values(0, 1, 2, 5, 99));

TEST_P(Blocks, BarriersOrderSharedMemory) {
  const auto out = RunWriter(R"(
    shl.b32 %r5, %r1, 2;
    mov.u32 %r6, s;
    add.u32 %r7, %r6, %r5;
    st.shared.u32 [%r7], %r1;
    bar.sync 0;
    sub.u32 %r8, 255, %r1;
    shl.b32 %r8, %r8, 2;
    add.u32 %r8, %r6, %r8;
    ld.shared.u32 %r9, [%r8];
    st.global.u32 [%rd1], %r9;)",
                             256, GetParam(), ".shared .align 4 .b8 s[1024];\n");
  for (std::uint32_t i = 0; i < 256; ++i) {
    EXPECT_EQ(out[i], 255 - i);
  }
}

TEST_P(Blocks, BarrierReductions) {
  const auto out = RunWriter(R"(
    setp.lt.u32 %p1, %r1, 70;
    bar.red.popc.u32 %r5, 1, %p1;
    bar.red.and.pred %p2, 2, 96, %p1;
    bar.red.or.pred %p3, 3, !%p1;
    selp.u32 %r6, 1000, 0, %p2;
    selp.u32 %r7, 2000, 0, %p3;
    add.u32 %r5, %r5, %r6;
    add.u32 %r5, %r5, %r7;
    st.global.u32 [%rd1], %r5;)",
                             96, GetParam());
  EXPECT_EQ(out, std::vector<std::uint32_t>(96, 2070));
}

// Warp 0 consumes what warp 1 produces, with arrive on one side and sync on the other.
TEST_P(Blocks, NamedBarriersWithArrive) {
  const auto out = RunWriter(R"(
    mov.u32 %r10, s;
    mov.u32 %r11, 0;
    mov.u32 %r12, 0;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra PRODUCER;
  CONSUME:
    bar.sync 1, 64;
    shl.b32 %r5, %r1, 2;
    add.u32 %r5, %r10, %r5;
    ld.shared.u32 %r6, [%r5];
    add.u32 %r12, %r12, %r6;
    bar.arrive 2, 64;
    add.u32 %r11, %r11, 1;
    setp.lt.u32 %p2, %r11, 4;
    @%p2 bra CONSUME;
    bra DONE;
  PRODUCER:
    sub.u32 %r5, %r1, 32;
    shl.b32 %r5, %r5, 2;
    add.u32 %r5, %r10, %r5;
    add.u32 %r6, %r11, %r1;
    st.shared.u32 [%r5], %r6;
    bar.arrive 1, 64;
    bar.sync 2, 64;
    add.u32 %r11, %r11, 1;
    setp.lt.u32 %p2, %r11, 4;
    @%p2 bra PRODUCER;
  DONE:
    st.global.u32 [%rd1], %r12;)",
                             64, GetParam(), ".shared .align 4 .b8 s[128];\n");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], 4 * (i + 32) + 6);
  }
}

TEST_P(Blocks, AtomicsCountEveryThread) {
  Runner runner(options());
  const auto kernel = runner.Load(EntryText(".param .u64 p", R"(
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    atom.global.add.u32 %r2, [%rd1], 1;
    red.global.max.u32 [%rd1+4], %r1;
    red.global.add.f32 [%rd1+8], 0f3F800000;
    atom.global.add.noftz.f16x2 %r3, [%rd1+12], 0x3C004000;
    atom.global.inc.u32 %r4, [%rd1+16], 9;
    red.global.add.u64 [%rd1+24], 3;
    red.global.add.f64 [%rd1+32], 0d3FF0000000000000;
    atom.global.dec.u32 %r5, [%rd1+20], 1000;)"));
  const auto p = runner.Upload(std::vector<std::uint32_t>(10, 0));
  runner.Run(kernel, {4, 1, 1}, {64, 1, 1}, 0, p);
  EXPECT_EQ(runner.Findings(), "");
  const auto out = runner.Download<std::uint32_t>(p, 10);
  EXPECT_EQ(out[0], 256u);
  EXPECT_EQ(out[1], 63u);
  EXPECT_EQ(out[2], 0x43800000u);
  EXPECT_EQ(out[3], 0x5C006000u);
  EXPECT_EQ(out[4], 256u % 10);
  EXPECT_EQ(out[5], 1001u - 256u);
  EXPECT_EQ(out[6], 768u);
  EXPECT_EQ(out[9], 0x40700000u);
}

// Split-K as kernels do it: each block adds its part when the lock says it is its turn, the last
// one resets the lock. The grid is larger than what is resident at first.
TEST_P(Blocks, SemaphoreOrdersTheBlocks) {
  Runner runner(options());
  const auto kernel = runner.Load(EntryText(".param .u64 data, .param .u64 lock", R"(
    ld.param.u64 %rd1, [data];
    ld.param.u64 %rd2, [lock];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %nctaid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd1, %rd3;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
  WAIT:
    ld.acquire.gpu.global.u32 %r4, [%rd2];
    setp.ne.u32 %p2, %r4, %r2;
    @%p2 bra WAIT;
  READY:
    bar.sync 0;
    ld.global.u32 %r5, [%rd4];
    mad.lo.u32 %r5, %r5, 3, %r2;
    st.global.u32 [%rd4], %r5;
    bar.sync 0;
    @%p1 bra DONE;
    add.u32 %r6, %r2, 1;
    setp.eq.u32 %p3, %r6, %r3;
    selp.u32 %r6, 0, %r6, %p3;
    membar.gl;
    st.release.gpu.global.u32 [%rd2], %r6;
  DONE:)"));
  constexpr std::uint32_t kGrid = 50;
  const auto data = runner.Upload(std::vector<std::uint32_t>(64, 1));
  const auto lock = runner.Upload(std::vector<std::uint32_t>(1, 0));
  runner.Run(kernel, {kGrid, 1, 1}, {64, 1, 1}, 0, data, lock);
  EXPECT_EQ(runner.Findings(), "");
  std::uint32_t expected = 1;
  for (std::uint32_t b = 0; b < kGrid; ++b) {
    expected = expected * 3 + b;
  }
  EXPECT_EQ(runner.Download<std::uint32_t>(data, 64), std::vector<std::uint32_t>(64, expected));
  EXPECT_EQ(runner.Download<std::uint32_t>(lock, 1)[0], 0u);
}

TEST_P(Blocks, GenericAddressesReachEveryWindow) {
  const auto out = RunWriter(R"(
    mov.u64 %rd5, s;
    cvta.shared.u64 %rd5, %rd5;
    mul.wide.u32 %rd6, %r1, 4;
    add.u64 %rd5, %rd5, %rd6;
    st.u32 [%rd5], %r1;
    ld.shared.u32 %r5, [s+12];
    mov.u64 %rd7, table;
    cvta.const.u64 %rd7, %rd7;
    ld.u32 %r6, [%rd7+4];
    isspacep.shared %p1, %rd5;
    isspacep.const %p2, %rd7;
    isspacep.global %p3, %rd1;
    isspacep.local %p4, %rd1;
    and.pred %p1, %p1, %p2;
    and.pred %p1, %p1, %p3;
    not.pred %p4, %p4;
    and.pred %p1, %p1, %p4;
    selp.u32 %r7, 1000, 0, %p1;
    add.u32 %r8, %r6, %r7;
    st.u32 [%rd1], %r8;)",
                             32, GetParam(),
                             ".shared .align 4 .b8 s[128];\n"
                             ".const .align 4 .u32 table[2] = {5, 42};\n");
  EXPECT_EQ(out, std::vector<std::uint32_t>(32, 1042));
}

TEST(Launches, CoordinatesOfThreeDimensions) {
  Runner runner;
  const auto kernel = runner.Load(EntryText(".param .u64 p", R"(
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;
    mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mov.u32 %r6, %ntid.z;
    mad.lo.u32 %r7, %r3, %r5, %r2;
    mad.lo.u32 %r7, %r7, %r4, %r1;
    mov.u32 %r8, %ctaid.x; mov.u32 %r9, %ctaid.y; mov.u32 %r10, %ctaid.z;
    mov.u32 %r11, %nctaid.x; mov.u32 %r12, %nctaid.y;
    mad.lo.u32 %r13, %r10, %r12, %r9;
    mad.lo.u32 %r13, %r13, %r11, %r8;
    mul.lo.u32 %r14, %r4, %r5;
    mul.lo.u32 %r14, %r14, %r6;
    mad.lo.u32 %r15, %r13, %r14, %r7;
    mul.wide.u32 %rd2, %r15, 4;
    add.u64 %rd2, %rd1, %rd2;
    st.global.u32 [%rd2], %r15;)"));
  constexpr std::uint32_t kCount = 3 * 2 * 4 * 5 * 3 * 7;
  const auto p = runner.Buffer(kCount * 4);
  runner.Run(kernel, {3, 2, 4}, {5, 3, 7}, 0, p);
  EXPECT_EQ(runner.Findings(), "");
  std::vector<std::uint32_t> expected(kCount);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(runner.Download<std::uint32_t>(p, kCount), expected);
}

TEST(Launches, DynamicSharedMemoryBeginsBehindTheStatic) {
  Runner runner;
  const auto kernel = runner.Load(EntryText(".param .u64 p",
                                            R"(
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, dyn;
    mov.u32 %r2, fixed;
    st.shared.u32 [dyn+60], 7;
    st.shared.u32 [fixed+16], 8;
    ld.shared.u32 %r3, [%r1+60];
    st.global.u32 [%rd1], %r1;
    st.global.u32 [%rd1+4], %r2;
    st.global.u32 [%rd1+8], %r3;
    mov.u32 %r4, %dynamic_smem_size;
    st.global.u32 [%rd1+12], %r4;)",
                                            ".extern .shared .align 16 .b8 dyn[];\n"
                                            ".shared .align 4 .b8 fixed[20];\n"));
  const auto p = runner.Buffer(16);
  runner.Run(kernel, {1, 1, 1}, {1, 1, 1}, 64, p);
  EXPECT_EQ(runner.Findings(), "");
  EXPECT_EQ(runner.Download<std::uint32_t>(p, 4), (std::vector<std::uint32_t>{32, 0, 7, 64}));
}

TEST(Launches, VariablesAreInitialisedAndPointAtEachOther) {
  Runner runner;
  const auto kernel = runner.Load(EntryText(".param .u64 p", R"(
    ld.param.u64 %rd1, [p];
    ld.global.u64 %rd2, [pointer];
    ld.global.u32 %r1, [%rd2];
    st.global.u32 [%rd1], %r1;
    ld.const.u16 %rs1, [halves+2];
    cvt.u32.u16 %r2, %rs1;
    st.global.u32 [%rd1+4], %r2;)",
                                            ".global .align 4 .u32 values[3] = {11, 22, 33};\n"
                                            ".global .align 8 .u64 pointer = values+4;\n"
                                            ".const .align 2 .u16 halves[2] = {1, 65535};\n"));
  const auto p = runner.Buffer(8);
  runner.Run(kernel, {1, 1, 1}, {1, 1, 1}, 0, p);
  EXPECT_EQ(runner.Findings(), "");
  EXPECT_EQ(runner.Download<std::uint32_t>(p, 2), (std::vector<std::uint32_t>{22, 65535}));
}

TEST(Launches, ACapturedSequenceReplays) {
  Runner runner;
  const auto kernel = runner.Load(EntryText(".param .u64 p", R"(
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1];
    mad.lo.u32 %r1, %r1, 2, 1;
    st.global.u32 [%rd1], %r1;)"));
  const auto p = runner.Upload(std::vector<std::uint32_t>{1});
  const kernels::Launch launch{kernel, {1, 1, 1}, {1, 1, 1}, 0, {kernels::ArgumentBytes(p)}};
  const std::vector<kernels::Launch> launches = {launch, launch};
  const auto sequence = runner.device().Capture(launches);
  EXPECT_EQ(runner.Download<std::uint32_t>(p, 1)[0], 1u);
  sequence->Replay();
  EXPECT_EQ(runner.Download<std::uint32_t>(p, 1)[0], 7u);
  sequence->Replay();
  EXPECT_EQ(runner.Download<std::uint32_t>(p, 1)[0], 31u);
}

}  // namespace
}  // namespace voltcheck::simulator::testing
