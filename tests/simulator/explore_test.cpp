// All interleavings of tiny launches: how many there are, and what they show.
#include <gtest/gtest.h>

#include <set>

#include "fixtures/case/error.h"
#include "runner.h"

namespace voltcheck::simulator::testing {
namespace {

struct Explored {
  Exploration exploration;
  std::string findings;
  std::vector<std::uint32_t> memory;
};

Options Exhaustive(std::uint64_t limit = 100000) {
  Options options;
  options.checks = Checks::All();
  options.interleavings = limit;
  return options;
}

Explored Explore(const std::string& body, std::uint32_t blocks, std::uint32_t threads,
                 const Options& options = Exhaustive()) {
  const auto device = MakeSimulator(options);
  const std::string ptx = WriterText(body, ".shared .align 4 .b8 s[256];");
  const auto kernel = device->FindKernel(device->LoadModule({"test.ptx", ptx, {}}), "k");
  const auto out = device->Allocate(256, "out");
  device->Fill(out, std::byte{0}, 256);
  device->Run({kernel, {blocks, 1, 1}, {threads, 1, 1}, 0, {kernels::ArgumentBytes(out)}});
  Explored explored;
  explored.exploration = device->exploration();
  for (const kernels::Finding& f : device->TakeFindings()) {
    explored.findings += f.checker + ": " + f.message + "\n";
  }
  explored.memory.resize(64);
  device->CopyFromDevice(std::as_writable_bytes(std::span(explored.memory)), out);
  return explored;
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Exhaustive, IndependentThreadsHaveOneOrder) {
  const Explored e = Explore("st.global.u32 [%rd1], %r4; ld.global.u32 %r5, [%rd1];", 2, 8);
  EXPECT_EQ(e.exploration.interleavings, 1u);
  EXPECT_TRUE(e.exploration.complete);
  EXPECT_EQ(e.findings, "");
}

// n atomics on one word, each of which gives its order away: n! orders.
TEST(Exhaustive, OrdersOfAtomics) {
  const std::string body = "atom.global.add.u32 %r5, [%rd2], 1;";
  EXPECT_EQ(Explore(body, 1, 3).exploration.interleavings, 6u);
  EXPECT_EQ(Explore(body, 2, 2).exploration.interleavings, 24u);
  EXPECT_EQ(Explore(body, 1, 5).exploration.interleavings, 120u);
  // `red` tells nobody.
  EXPECT_EQ(Explore("red.global.add.u32 [%rd2], 1;", 2, 4).exploration.interleavings, 1u);
}

// One writer and readers of one word: each reads before or behind it.
TEST(Exhaustive, OrdersOfReadsAroundAWrite) {
  const std::string body =
      "setp.eq.u32 %p1, %r4, 0; @%p1 bra W; ld.relaxed.gpu.global.u32 %r5, [%rd2]; bra E;"
      "W: st.relaxed.gpu.global.u32 [%rd2], 1; E:";
  EXPECT_EQ(Explore(body, 1, 2).exploration.interleavings, 2u);
  EXPECT_EQ(Explore(body, 1, 4).exploration.interleavings, 8u);
  EXPECT_EQ(Explore(body, 4, 1).exploration.interleavings, 8u);
}

// Two threads, two steps each on one word: C(4,2) orders of loads and stores that all conflict but
// the loads: counted by hand, 20 of two increments' outcomes collapse to those below.
TEST(Exhaustive, LostUpdateIsNondeterministic) {
  const Explored e = Explore(
      "ld.relaxed.gpu.global.u32 %r5, [%rd2]; add.u32 %r5, %r5, 1;"
      "st.relaxed.gpu.global.u32 [%rd2], %r5;",
      2, 1);
  EXPECT_TRUE(e.exploration.complete);
  EXPECT_TRUE(Contains(e.findings,
                       "nondeterministic: the kernel leaves other values in global "
                       "memory under the schedules steps:"))
      << e.findings;
  ASSERT_EQ(e.exploration.differing.size(), 2u);
  std::set<std::uint32_t> results;
  for (const std::string& schedule : e.exploration.differing) {
    Options options = Exhaustive(0);
    options.steps = ParseSteps("--schedule", schedule);
    results.insert(Explore("ld.relaxed.gpu.global.u32 %r5, [%rd2]; add.u32 %r5, %r5, 1;"
                           "st.relaxed.gpu.global.u32 [%rd2], %r5;",
                           2, 1, options)
                       .memory[0]);
  }
  EXPECT_EQ(results, (std::set<std::uint32_t>{1, 2}));
}

TEST(Exhaustive, BarriersOrder) {
  const std::string store =
      "mov.u32 %r10, s; shl.b32 %r11, %r1, 2; add.u32 %r11, %r10, %r11;"
      "st.shared.u32 [%r11], %r1;";
  const std::string load =
      "xor.b32 %r12, %r11, 4; ld.shared.u32 %r13, [%r12];"
      "st.global.u32 [%rd1], %r13;";
  const Explored with = Explore(store + "bar.sync 0;" + load, 1, 4);
  EXPECT_EQ(with.exploration.interleavings, 1u);
  EXPECT_EQ(with.findings, "");
  EXPECT_EQ(with.memory[2], 3u);
  const Explored without = Explore(store + load, 1, 2);
  EXPECT_TRUE(without.exploration.complete);
  EXPECT_GT(without.exploration.interleavings, 1u);
  EXPECT_TRUE(Contains(without.findings, "nondeterministic")) << without.findings;
  EXPECT_TRUE(Contains(without.findings, "race")) << without.findings;
  EXPECT_EQ(Explore(store + "bar.warp.sync 15;" + load, 1, 4).exploration.interleavings, 1u);
}

TEST(Exhaustive, ShufflesNeedNoOrder) {
  const Explored e =
      Explore("shfl.sync.bfly.b32 %r5|%p1, %r1, 1, 31, -1; st.global.u32 [%rd1], %r5;", 1, 32);
  EXPECT_EQ(e.exploration.interleavings, 1u);
  EXPECT_EQ(e.findings, "");
  EXPECT_EQ(e.memory[7], 6u);
}

// Waiting does not make orders without end.
const char* const kTurns =
    "SPIN: ld.acquire.gpu.global.u32 %r5, [%rd2+128]; setp.ne.u32 %p1, %r5, %r2; @%p1 bra SPIN;"
    "ld.global.u32 %r6, [%rd2]; mad.lo.u32 %r6, %r6, 3, %r2; st.global.u32 [%rd2], %r6;"
    "add.u32 %r7, %r2, 1; setp.eq.u32 %p2, %r7, 3; selp.u32 %r7, 0, %r7, %p2;"
    "st.release.gpu.global.u32 [%rd2+128], %r7;";

TEST(Exhaustive, TurnsTakenInOrder) {
  const Explored e = Explore(kTurns, 3, 1);
  EXPECT_TRUE(e.exploration.complete);
  EXPECT_GT(e.exploration.interleavings, 1u);
  EXPECT_EQ(e.findings, "");
  EXPECT_EQ(e.memory[0], 5u);
}

TEST(Exhaustive, DeadlockOfTwoLocksTakenInOppositeOrder) {
  // Under most schedules nothing happens.
  const auto take = [](const std::string& lock, const std::string& label) {
    return label + ": atom.acquire.gpu.global.cas.b32 %r5, [" + lock + "], 0, 1;" +
           "setp.ne.u32 %p2, %r5, 0; @%p2 bra " + label + ";";
  };
  const auto give = [](const std::string& lock) {
    return "atom.release.gpu.global.exch.b32 %r6, [" + lock + "], 0;";
  };
  const std::string body =
      "selp.u32 %r8, 0, 8, %p9; mul.wide.u32 %rd8, %r2, 8; add.u64 %rd8, %rd2, %rd8;"
      "xor.b32 %r9, %r2, 1; mul.wide.u32 %rd9, %r9, 8; add.u64 %rd9, %rd2, %rd9;" +
      take("%rd8", "A") + take("%rd9", "B") + give("%rd9") + give("%rd8");
  Options plain;
  plain.checks = Checks::All();
  EXPECT_EQ(Explore(body, 2, 1, plain).findings, "");
  const Explored e = Explore(body, 2, 1);
  EXPECT_TRUE(Contains(e.findings, "deadlock")) << e.findings;
  EXPECT_TRUE(Contains(e.findings, "written last by block (")) << e.findings;
  EXPECT_TRUE(Contains(e.findings, "has other findings (none and deadlock)")) << e.findings;
}

TEST(Exhaustive, SaysWhenItStopsEarly) {
  const Explored e = Explore("atom.global.add.u32 %r5, [%rd2], 1;", 1, 8, Exhaustive(50));
  EXPECT_FALSE(e.exploration.complete);
  EXPECT_EQ(e.exploration.interleavings + e.exploration.pruned, 50u);
}

TEST(Exhaustive, RefusesLargeGrids) {
  EXPECT_THROW(Explore("", 100, 32), Error);
  EXPECT_THROW(ParseSteps("--schedule", "steps:1,,2"), Error);
  EXPECT_THROW(ParseSteps("--schedule", "steps:x"), Error);
  EXPECT_EQ(ParseSteps("--schedule", "steps:4x2,0").size(), 2u);
}

}  // namespace
}  // namespace voltcheck::simulator::testing
