// Lanes that go different ways, meet again, and wait for each other.
#include <gtest/gtest.h>

#include "runner.h"

namespace voltcheck::simulator::testing {
namespace {

class Divergence : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  std::vector<std::uint32_t> Run(const std::string& body, std::uint32_t threads = 32,
                                 const std::string& before = "") {
    return RunWriter(body, threads, GetParam(), before);
  }
};

INSTANTIATE_TEST_SUITE_P(Schedules, Divergence, ::testing::Values(0, 1, 2, 3, 17));

TEST_P(Divergence, NestedIfsTakeEachLaneItsOwnWay) {
  const auto out = Run(R"(
    and.b32 %r5, %r1, 1;
    setp.eq.u32 %p1, %r5, 0;
    @%p1 bra EVEN;
    mov.u32 %r6, 100;
    setp.gt.u32 %p2, %r1, 15;
    @%p2 bra HIGH;
    add.u32 %r6, %r6, 1;
    bra JOIN;
  HIGH:
    add.u32 %r6, %r6, 2;
    bra JOIN;
  EVEN:
    mov.u32 %r6, 200;
  JOIN:
    add.u32 %r6, %r6, %r1;
    st.global.u32 [%rd1], %r6;)");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], (i % 2 == 0 ? 200 : i > 15 ? 102 : 101) + i);
  }
}

TEST_P(Divergence, LoopsRunAsOftenAsEachLaneAsks) {
  const auto out = Run(R"(
    mov.u32 %r5, 0;
    mov.u32 %r6, 0;
  LOOP:
    add.u32 %r6, %r6, %r5;
    add.u32 %r5, %r5, 1;
    setp.le.u32 %p1, %r5, %r1;
    @%p1 bra LOOP;
    st.global.u32 [%rd1], %r6;)");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], i * (i + 1) / 2);
  }
}

TEST_P(Divergence, BreakAndContinueInsideALoop) {
  const auto out = Run(R"(
    mov.u32 %r5, 0;
    mov.u32 %r6, 0;
  LOOP:
    setp.ge.u32 %p1, %r5, 10;
    @%p1 bra DONE;
    add.u32 %r5, %r5, 1;
    and.b32 %r7, %r5, %r1;
    setp.eq.u32 %p2, %r7, 3;
    @%p2 bra LOOP;
    add.u32 %r6, %r6, 1;
    setp.eq.u32 %p3, %r6, %r1;
    @!%p3 bra LOOP;
  DONE:
    mad.lo.u32 %r6, %r6, 100, %r5;
    st.global.u32 [%rd1], %r6;)");
  for (std::uint32_t i = 0; i < 32; ++i) {
    std::uint32_t r5 = 0;
    std::uint32_t r6 = 0;
    while (r5 < 10) {
      ++r5;
      if ((r5 & i) == 3) {
        continue;
      }
      ++r6;
      if (r6 == i) {
        break;
      }
    }
    EXPECT_EQ(out[i], r6 * 100 + r5) << i;
  }
}

TEST_P(Divergence, ReconvergedLanesShuffleTogether) {
  const auto out = Run(R"(
    setp.lt.u32 %p1, %r1, 7;
    @%p1 bra LOW;
    mov.u32 %r5, 1000;
    bra JOIN;
  LOW:
    mov.u32 %r5, 2000;
  JOIN:
    add.u32 %r5, %r5, %r1;
    shfl.sync.bfly.b32 %r6|%p2, %r5, 31, 31, -1;
    st.global.u32 [%rd1], %r6;)");
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t other = 31 - i;
    EXPECT_EQ(out[i], (other < 7 ? 2000 : 1000) + other);
  }
}

// The two sides of a branch execute the same shfl.sync at different places: they wait for each
// other.
TEST_P(Divergence, SyncInstructionsMeetAcrossBranches) {
  const auto out = Run(R"(
    mul.lo.u32 %r5, %r1, 3;
    mov.u32 %r8, 16;
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra LOW;
    add.u32 %r7, %r5, 1;
    shfl.sync.bfly.b32 %r6|%p2, %r7, %r8, 31, -1;
    add.u32 %r6, %r6, 10000;
    bra JOIN;
  LOW:
    shfl.sync.bfly.b32 %r9|%p3, %r5, 16, 31, -1;
    mov.u32 %r6, %r9;
  JOIN:
    st.global.u32 [%rd1], %r6;)");
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t other = i ^ 16;
    EXPECT_EQ(out[i], i < 16 ? other * 3 + 1 : other * 3 + 10000);
  }
}

// Volta's promise: a lane that holds a lock gets on while its neighbours spin for it.
TEST_P(Divergence, LanesTakeALockOneAfterTheOther) {
  const auto out = Run(R"(
    setp.eq.u32 %p5, %r1, 0;
  SPIN:
    atom.global.cas.b32 %r5, [lock], 0, 1;
    setp.ne.u32 %p1, %r5, 0;
    @%p1 bra SPIN;
    ld.volatile.global.u32 %r6, [counter];
    add.u32 %r6, %r6, 1;
    st.volatile.global.u32 [counter], %r6;
    membar.gl;
    atom.global.exch.b32 %r7, [lock], 0;
    bar.warp.sync -1;
    ld.volatile.global.u32 %r8, [counter];
    st.global.u32 [%rd1], %r8;)",
                       32, ".global .align 4 .u32 lock;\n.global .align 4 .u32 counter;\n");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], 32u);
  }
}

// Lane 0 waits for what lane 1 writes after the branch that parted them.
TEST_P(Divergence, ALaneWaitsForAnother) {
  const auto out = Run(R"(
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra JOIN;
  SPIN:
    ld.volatile.global.u32 %r5, [flag];
    setp.eq.u32 %p2, %r5, 0;
    @%p2 bra SPIN;
  JOIN:
    setp.eq.u32 %p3, %r1, 1;
    @%p3 st.volatile.global.u32 [flag], 77;
    mov.u32 %r6, 5;
    st.global.u32 [%rd1], %r6;)",
                       32, ".global .align 4 .u32 flag;\n");
  EXPECT_EQ(out, std::vector<std::uint32_t>(32, 5));
}

TEST_P(Divergence, EarlyExitLeavesTheOthersTogether) {
  const auto out = Run(R"(
    setp.gt.u32 %p1, %r1, 40;
    @%p1 exit;
    bar.sync 0;
    vote.sync.ballot.b32 %r5, 1, 0xffffffff;
    st.global.u32 [%rd1], %r5;)",
                       64);
  for (std::uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(out[i], i > 40 ? 0 : i < 32 ? 0xffffffffu : 0x1ffu) << i;
  }
}

TEST_P(Divergence, IndexedBranchesGoToTheirTargets) {
  const auto out = Run(R"(
    and.b32 %r5, %r1, 3;
  TABLE: .branchtargets A, B, C, A;
    brx.idx %r5, TABLE;
  A:
    mov.u32 %r6, 10;
    bra JOIN;
  B:
    mov.u32 %r6, 20;
    bra JOIN;
  C:
    mov.u32 %r6, 30;
  JOIN:
    st.global.u32 [%rd1], %r6;)");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], (std::vector<std::uint32_t>{10, 20, 30, 10})[i % 4]);
  }
}

TEST_P(Divergence, CallsPassArgumentsAndReturnResults) {
  const auto out = Run(R"(
    {
    .param .b32 a0; .param .b64 a1; .param .b32 r0;
    st.param.b32 [a0+0], %r1;
    cvt.u64.u32 %rd5, %r1;
    st.param.b64 [a1+0], %rd5;
    call.uni (r0), combine, (a0, a1);
    ld.param.b32 %r6, [r0+0];
    }
    st.global.u32 [%rd1], %r6;)",
                       32, R"(
.func (.param .b32 result) combine(.param .b32 x, .param .b64 y)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<4>;
  ld.param.u32 %r1, [x];
  ld.param.u64 %rd1, [y];
  cvt.u32.u64 %r2, %rd1;
  setp.gt.u32 %p1, %r1, 9;
  @%p1 bra BIG;
  mad.lo.u32 %r3, %r1, 1000, %r2;
  st.param.b32 [result], %r3;
  ret;
BIG:
  st.param.b32 [result], %r2;
  ret;
})");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], i > 9 ? i : i * 1001);
  }
}

// fib(n) for n = lane: frames, local memory and reconvergence per level.
TEST_P(Divergence, RecursionKeepsEveryFrameApart) {
  const auto out = Run(R"(
    and.b32 %r5, %r1, 7;
    {
    .param .b32 a0; .param .b32 r0;
    st.param.b32 [a0], %r5;
    call.uni (r0), fib, (a0);
    ld.param.b32 %r6, [r0];
    }
    st.global.u32 [%rd1], %r6;)",
                       32, R"(
.func (.param .b32 result) fib(.param .b32 n)
{
  .reg .b32 %r<8>; .reg .pred %p<4>; .reg .b64 %rd<4>;
  .local .align 4 .b8 spill[4];
  ld.param.u32 %r1, [n];
  setp.lt.u32 %p1, %r1, 2;
  @%p1 bra BASE;
  sub.u32 %r2, %r1, 1;
  { .param .b32 a0; .param .b32 r0;
  st.param.b32 [a0], %r2;
  call.uni (r0), fib, (a0);
  ld.param.b32 %r3, [r0]; }
  mov.u64 %rd1, spill;
  st.local.u32 [%rd1], %r3;
  sub.u32 %r2, %r1, 2;
  { .param .b32 a0; .param .b32 r0;
  st.param.b32 [a0], %r2;
  call.uni (r0), fib, (a0);
  ld.param.b32 %r4, [r0]; }
  ld.local.u32 %r3, [spill];
  add.u32 %r5, %r3, %r4;
  st.param.b32 [result], %r5;
  ret;
BASE:
  st.param.b32 [result], %r1;
  ret;
})");
  constexpr std::uint32_t kFibonacci[8] = {0, 1, 1, 2, 3, 5, 8, 13};
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], kFibonacci[i % 8]);
  }
}

TEST_P(Divergence, IndirectCallsReachEachLanesFunction) {
  const auto out = Run(R"(
    mov.u64 %rd5, one;
    mov.u64 %rd6, two;
    and.b32 %r5, %r1, 1;
    setp.eq.u32 %p1, %r5, 0;
    selp.b64 %rd7, %rd5, %rd6, %p1;
    {
    .param .b32 a0; .param .b32 r0;
    st.param.b32 [a0], %r1;
    PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (r0), %rd7, (a0), PROTO;
    ld.param.b32 %r6, [r0];
    }
    st.global.u32 [%rd1], %r6;)",
                       32, R"(
.func (.param .b32 result) one(.param .b32 x)
{ .reg .b32 %r<4>; ld.param.u32 %r1, [x]; add.u32 %r2, %r1, 1; st.param.b32 [result], %r2; ret; }
.func (.param .b32 result) two(.param .b32 x)
{ .reg .b32 %r<4>; ld.param.u32 %r1, [x]; mul.lo.u32 %r2, %r1, 2; st.param.b32 [result], %r2; ret; })");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], i % 2 == 0 ? i + 1 : i * 2);
  }
}

}  // namespace
}  // namespace voltcheck::simulator::testing
