// Faults and checkers: planted bugs are found and named, clean kernels raise nothing.
#include <gtest/gtest.h>

#include "fixtures/case/error.h"
#include "runner.h"

namespace voltcheck::simulator::testing {
namespace {

Options AllChecks(std::uint64_t schedule = 0) {
  Options options;
  options.checks = Checks::All();
  options.schedule = schedule;
  return options;
}

/// Runs WriterText(body) on 4 * threads bytes that are filled with zeros, and returns the findings.
std::string FindingsOf(const std::string& body, std::uint32_t threads = 32,
                       const std::string& before = "", const Options& options = AllChecks()) {
  Runner runner(options);
  const auto kernel = runner.Load(WriterText(body, before));
  const auto out = runner.Buffer(threads * 4, "out");
  runner.device().Fill(out, std::byte{0}, threads * 4);
  runner.Run(kernel, {1, 1, 1}, {threads, 1, 1}, 0, out);
  return runner.Findings();
}

void ExpectContains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
}

TEST(Bounds, NamesTheNearestAllocationAndTheMiss) {
  Runner runner;
  const auto kernel = runner.Load(WriterText("st.global.u32 [%rd1+8], %r1;"));
  const auto out = runner.Buffer(128, "weights");
  runner.Run(kernel, {1, 1, 1}, {32, 1, 1}, 0, out);
  EXPECT_TRUE(runner.device().faulted());
  const auto findings = runner.device().TakeFindings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].checker, "bounds");
  EXPECT_EQ(findings[0].kernel, "k");
  EXPECT_EQ(findings[0].file, "test.ptx");
  EXPECT_EQ(findings[0].thread, (kernels::Dim3{30, 0, 0}));
  EXPECT_EQ(findings[0].address, out + 128);
  ExpectContains(findings[0].message, "st.global.u32");
  ExpectContains(findings[0].message, "4 bytes past the end of `weights` (128 bytes at 0x");
}

TEST(Bounds, StraddlingAccessIsReportedByItsLastByte) {
  Runner runner;
  const auto kernel = runner.Load(
      EntryText(".param .u64 p", "ld.param.u64 %rd1, [p]; ld.global.u64 %rd2, [%rd1+96];"));
  runner.Run(kernel, {1, 1, 1}, {1, 1, 1}, 0, runner.Buffer(100, "odd"));
  ExpectContains(runner.Findings(), "4 bytes past the end of `odd` (100 bytes");
}

TEST(Bounds, FreedMemoryIsNamed) {
  Runner runner;
  const auto kernel = runner.Load(WriterText("st.global.u32 [%rd1], %r1;"));
  const auto gone = runner.Buffer(128, "gone");
  runner.device().Free(gone);
  runner.Buffer(128, "later");
  runner.Run(kernel, {1, 1, 1}, {32, 1, 1}, 0, gone);
  ExpectContains(runner.Findings(), "inside `gone` (128 bytes");
}

TEST(Bounds, EverySpaceHasItsOwn) {
  ExpectContains(FindingsOf("ld.shared.u32 %r5, [s+128];", 32, ".shared .align 4 .b8 s[128];"),
                 "in shared memory at 0x80 is out of bounds: 4 bytes past its end (128 bytes)");
  ExpectContains(FindingsOf("ld.const.u32 %r5, [c+8];", 32, ".const .align 4 .b8 c[8];"),
                 "in const memory");
  ExpectContains(FindingsOf(".local .align 4 .b8 l[8]; mov.u64 %rd5, l; mul.wide.u32 %rd6, %r1, 4;"
                            "add.u64 %rd5, %rd5, %rd6; st.local.u32 [%rd5+16], %r1;"),
                 "in local memory");
  ExpectContains(FindingsOf("ld.shared.u32 %r5, [%r1];"), "there is none");
}

TEST(Bounds, MisalignedAccess) {
  ExpectContains(FindingsOf("ld.global.u32 %r5, [%rd2+2];", 32), "not aligned to 4 bytes");
  ExpectContains(FindingsOf("ld.global.v4.u32 {%r5,%r6,%r7,%r8}, [%rd2+8];", 32),
                 "not aligned to 16 bytes");
}

TEST(Bounds, NothingRunsAfterAFault) {
  Runner runner;
  const auto bad = runner.Load(WriterText("st.global.u32 [%rd1+4], %r1;"));
  const auto good = runner.Load(WriterText("st.global.u32 [%rd1], 7;"));
  const auto out = runner.Upload(std::vector<std::uint32_t>(32, 0));
  runner.Run(bad, {1, 1, 1}, {32, 1, 1}, 0, out);
  runner.Run(good, {1, 1, 1}, {32, 1, 1}, 0, out);
  EXPECT_EQ(runner.Download<std::uint32_t>(out, 32), std::vector<std::uint32_t>(32, 0));
}

TEST(Bounds, SourceLinesComeFromLoc) {
  Runner runner;
  const auto kernel =
      runner.Load(EntryText(".param .u64 p",
                            ".loc 1 42 7\nld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1];") +
                  ".file 1 \"/somewhere/kernel.cu\"\n");
  runner.Run(kernel, {1, 1, 1}, {1, 1, 1}, 0, std::uint64_t{64});
  const auto findings = runner.device().TakeFindings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].source, "kernel.cu:42");
}

TEST(Uninitialised, GlobalSharedAndLocalReads) {
  Runner runner(AllChecks());
  const auto kernel = runner.Load(
      EntryText(".param .u64 p", "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1+8];"));
  const auto p = runner.Buffer(16, "fresh");
  runner.device().CopyToDevice(p, std::vector<std::byte>(10));
  runner.Run(kernel, {1, 1, 1}, {1, 1, 1}, 0, p);
  ExpectContains(runner.Findings(), "of `fresh` at offset 8, where byte 10 was never written");
  ExpectContains(FindingsOf("ld.shared.u32 %r5, [s+4];", 32, ".shared .align 4 .b8 s[128];"),
                 "of shared memory at offset 4");
  ExpectContains(
      FindingsOf(".local .align 4 .b8 l[8]; st.local.u32 [l], 1; ld.local.u32 %r5, [l+4];"),
      "of local memory at offset 4");
}

TEST(Uninitialised, WritesByTheKernelCount) {
  EXPECT_EQ(FindingsOf("st.shared.u16 [s], 1; st.shared.u16 [s+2], 2; bar.sync 0;"
                       "ld.shared.u32 %r5, [s]; st.global.u32 [%rd1], %r5;",
                       1, ".shared .align 4 .b8 s[128];"),
            "");
}

constexpr const char* kShared = ".shared .align 4 .b8 s[1024];";
const std::string kStoreOwn =
    "mov.u32 %r10, s; shl.b32 %r11, %r1, 2; add.u32 %r11, %r10, %r11;"
    "st.shared.u32 [%r11], %r1;";
const std::string kLoadNext =
    "add.u32 %r12, %r1, 33; and.b32 %r12, %r12, 63; shl.b32 %r12, %r12, 2;"
    "add.u32 %r12, %r10, %r12; ld.shared.u32 %r13, [%r12];";

TEST(Races, MissingBarrierBetweenWarps) {
  const std::string found = FindingsOf(kStoreOwn + kLoadNext, 64, kShared);
  ExpectContains(found, "race");
  ExpectContains(found, "with no barrier or flag between");
  EXPECT_EQ(FindingsOf(kStoreOwn + "bar.sync 0;" + kLoadNext, 64, kShared), "");
}

TEST(Races, MissingBarrierBeforeTheNextWrite) {
  const std::string loop_body = kStoreOwn + "bar.sync 0;" + kLoadNext;
  ExpectContains(FindingsOf(loop_body + "st.shared.u32 [%r11], 5;", 64, kShared), "race");
  EXPECT_EQ(FindingsOf(loop_body + "bar.sync 0; st.shared.u32 [%r11], 5;", 64, kShared), "");
}

TEST(Races, MissingWarpSync) {
  const std::string load = "xor.b32 %r12, %r11, 4; ld.shared.u32 %r13, [%r12];";
  ExpectContains(FindingsOf(kStoreOwn + load, 32, kShared), "bar.warp.sync");
  EXPECT_EQ(FindingsOf(kStoreOwn + "bar.warp.sync -1;" + load, 32, kShared), "");
}

TEST(Races, FlagsInSharedMemoryOrderWarps) {
  // Thread 0 writes s[8] and sets the flag s[0]; thread 32 waits for it, reads, and answers through
  // s[4]; then thread 0 writes again. LATE comes behind the release.
  const std::string body =
      "setp.eq.u32 %p4, %r1, 0; @%p4 st.shared.u32 [s], 0; @%p4 st.shared.u32 [s+4], 0; bar.sync 0;"
      "setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 32; @%p1 bra WRITE; @%p2 bra READ; bra END;"
      "WRITE: st.shared.u32 [s+8], 5; RELEASE st.volatile.shared.u32 [s], 1; LATE "
      "BACK: ld.volatile.shared.u32 %r5, [s+4]; setp.eq.u32 %p3, %r5, 0; @%p3 bra BACK;"
      "ACQUIRE st.shared.u32 [s+8], 6; bra END;"
      "READ: ld.volatile.shared.u32 %r5, [s]; setp.eq.u32 %p3, %r5, 0; @%p3 bra READ;"
      "ACQUIRE ld.shared.u32 %r6, [s+8]; RELEASE st.volatile.shared.u32 [s+4], 1; END:";
  const auto with = [&](const std::string& release, const std::string& acquire,
                        const std::string& late = "") {
    std::string text = body;
    const std::pair<std::string, std::string> words[] = {
        {"RELEASE", release}, {"ACQUIRE", acquire}, {"LATE", late}};
    for (const auto& [word, by] : words) {
      for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word)) {
        text.replace(at, word.size(), by);
      }
    }
    return FindingsOf(text, 64, kShared);
  };
  const std::string fence = "membar.cta;";
  EXPECT_EQ(with(fence, fence), "");
  ExpectContains(with("", fence), "race");
  ExpectContains(with(fence, ""), "race");
  ExpectContains(with(fence, fence, "st.shared.u32 [s+8], 7;"), "race");
}

TEST(Races, AFenceDoesNotOrderTheThreadsOfAWarp) {
  const std::string load = "xor.b32 %r12, %r11, 4; ld.shared.u32 %r13, [%r12];";
  ExpectContains(FindingsOf(kStoreOwn + "membar.cta;" + load, 32, kShared), "bar.warp.sync");
}

TEST(Races, ALockInSharedMemoryOrdersItsHolders) {
  const std::string body =
      "setp.eq.u32 %p4, %r1, 0; @%p4 st.shared.u32 [s], 0; @%p4 st.shared.u32 [s+8], 0; bar.sync 0;"
      "and.b32 %r5, %r1, 31; setp.ne.u32 %p1, %r5, 0; @%p1 bra END;"
      "TAKE: atom.shared.cas.b32 %r6, [s], 0, 1; setp.ne.u32 %p2, %r6, 0; @%p2 bra TAKE; FENCE "
      "ld.shared.u32 %r7, [s+8]; add.u32 %r7, %r7, 1; st.shared.u32 [s+8], %r7; FENCE "
      "atom.shared.exch.b32 %r6, [s], 0; END:";
  const auto with = [&](const std::string& fence) {
    std::string text = body;
    for (std::size_t at = text.find("FENCE"); at != std::string::npos; at = text.find("FENCE")) {
      text.replace(at, 5, fence);
    }
    return FindingsOf(text, 96, kShared);
  };
  EXPECT_EQ(with("membar.cta;"), "");
  ExpectContains(with(""), "race");
}

TEST(Races, AtomicsDoNotRaceWithEachOther) {
  EXPECT_EQ(FindingsOf("setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 0; bar.sync 0;"
                       "red.shared.add.u32 [s], 1; bar.sync 0; ld.shared.u32 %r5, [s];",
                       64, kShared),
            "");
  ExpectContains(FindingsOf("setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 0;"
                            "red.shared.add.u32 [s], 1;",
                            64, kShared),
                 "race");
}

TEST(Races, HalvesOfAWordAreApart) {
  EXPECT_EQ(FindingsOf("mov.u32 %r10, s; shl.b32 %r11, %r1, 1; add.u32 %r11, %r10, %r11;"
                       "cvt.u16.u32 %rs1, %r1; st.shared.u16 [%r11], %rs1;",
                       64, kShared),
            "");
}

TEST(Races, TwoLanesWriteOneAddress) {
  ExpectContains(FindingsOf("st.global.u32 [%rd2], %r1;"), "write different values to one address");
  EXPECT_EQ(FindingsOf("st.global.u32 [%rd2], 3;"), "");
}

TEST(Barriers, DivergentBarrier) {
  const std::string body =
      "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; bar.sync 0; bra J;"
      "A: bar.sync 0; J:";
  ExpectContains(FindingsOf(body, 64), "is divergent");
  EXPECT_EQ(FindingsOf("setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 0; bra J;"
                       "A: bar.sync 0; J:",
                       64),
            "");
  ExpectContains(FindingsOf("setp.lt.u32 %p1, %r1, 16; @%p1 bar.sync 0;", 64), "barrier");
}

TEST(Barriers, MissingThreadsAreADeadlock) {
  Runner runner(AllChecks());
  const auto kernel = runner.Load(WriterText(
      "setp.lt.u32 %p1, %r1, 32; @!%p1 bra W; bar.sync 1, 64; bra D; W: bar.sync 2, 64; D:"));
  const auto out = runner.Buffer(256);
  runner.Run(kernel, {1, 1, 1}, {64, 1, 1}, 0, out);
  EXPECT_TRUE(runner.device().faulted());
  const std::string found = runner.Findings();
  ExpectContains(found, "deadlock");
  ExpectContains(found, "on barrier 1, 32 threads arrived of 64");
  ExpectContains(found, "on barrier 2");
}

TEST(Barriers, CountsThatDoNotFit) {
  ExpectContains(FindingsOf("bar.sync 1, 48;", 64), "no multiple of the warp size");
  ExpectContains(FindingsOf("setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1, 64; bra J;"
                            "A: bar.arrive 1, 96; J:",
                            64),
                 "where others wait for");
}

TEST(Deadlocks, ShuffleThatWaitsForLanesWhichWaitElsewhere) {
  const std::string found = FindingsOf(
      "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; bar.warp.sync -1; bra J;"
      "A: shfl.sync.idx.b32 %r5|%p2, %r1, 0, 31, -1; J:");
  ExpectContains(found, "deadlock");
  ExpectContains(found, "for lanes 16-31");
}

TEST(Deadlocks, BlocksThatSpinForever) {
  Runner runner(AllChecks());
  const auto kernel = runner.Load(WriterText(
      "SPIN: ld.volatile.global.u32 %r5, [%rd2]; setp.eq.u32 %p1, %r5, 0; @%p1 bra SPIN;"));
  const auto out = runner.Upload(std::vector<std::uint32_t>(64, 0));
  runner.Run(kernel, {2, 1, 1}, {32, 1, 1}, 0, out);
  EXPECT_TRUE(runner.device().faulted());
  ExpectContains(runner.Findings(), "spins forever");
}

TEST(Deadlocks, InstructionLimit) {
  Options options;
  options.instruction_limit = 1000000;
  ExpectContains(FindingsOf("L: add.u32 %r5, %r5, 1; bra L;", 32, "", options), "limit");
}

TEST(Deadlocks, LoopsThatOnlyCompute) {
  Options options = AllChecks();
  options.most_idle_trips = 1000;
  const auto findings = [&](const std::string& body) { return FindingsOf(body, 64, "", options); };
  const std::string idle = "runs without end and touches no memory: 1000 trips";
  ExpectContains(findings("L: bra L;"), idle);
  ExpectContains(findings("L: add.u32 %r5, %r5, 1; bra L;"), idle);
  ExpectContains(findings("setp.lt.u32 %p1, %r1, 40; L: @%p1 bra L;"), idle);  // some lanes
  ExpectContains(findings("mov.u32 %r5, 0; L: add.u32 %r5, %r5, 1; and.b32 %r6, %r5, 1;"
                          "setp.eq.u32 %p1, %r6, 0; @%p1 bra L; bra L;"),
                 idle);

  const std::string count = "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 5000; @%p1 bra ";
  EXPECT_EQ(findings("mov.u32 %r5, 0; L: st.global.u32 [%rd1], %r5;" + count + "L;"), "");
  // The loop's memory access lies before its head.
  EXPECT_EQ(findings("mov.u32 %r5, 0; bra L; M: st.global.u32 [%rd1], %r5; bra N;"
                     "L: add.u32 %r6, %r6, 1; bra M; N:" +
                     count + "L;"),
            "");
  // Fewer trips than that at a time.
  EXPECT_EQ(findings("mov.u32 %r5, 0; L: mov.u32 %r6, 0; K: add.u32 %r6, %r6, 1;"
                     "setp.lt.u32 %p2, %r6, 600; @%p2 bra K; st.global.u32 [%rd1], %r6;"
                     "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 20; @%p1 bra L;"),
            "");
}

TEST(Members, LaneThatItsMaskDoesNotName) {
  ExpectContains(FindingsOf("vote.sync.ballot.b32 %r5, 1, 0x0000ffff;"), "does not name");
}

TEST(Members, MatrixInstructionNeedsAWholeWarp) {
  ExpectContains(
      FindingsOf(
          "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8},"
          "{%r5,%r6},{%r7,%r8},{%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8};",
          16),
      "needs all 32 threads");
}

TEST(Counters, BankConflictsAndSectors) {
  Runner runner(AllChecks());
  const auto kernel =
      runner.Load(WriterText("mov.u32 %r10, s; shl.b32 %r11, %r1, 3;"
                             "add.u32 %r11, %r10, %r11; st.shared.u32 [%r11], %r1;"
                             "st.global.u32 [%rd1], %r1;",
                             kShared));
  const auto out = runner.Buffer(128);
  runner.Run(kernel, {1, 1, 1}, {32, 1, 1}, 0, out);
  const kernels::Counters counters = runner.device().TakeCounters();
  EXPECT_EQ(counters.bank_conflicts, 1u);
  EXPECT_EQ(counters.global_sectors, 4u);
  EXPECT_GT(counters.warp_instructions, 10u);
  EXPECT_EQ(counters.lane_instructions, 32 * counters.warp_instructions);
}

void ExpectRefused(const std::string& ptx, const std::string& what, const Options& options = {}) {
  Runner runner(options);
  try {
    runner.Load(ptx);
    ADD_FAILURE() << "loaded: " << what;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kBadInput);
    ExpectContains(error.what(), what);
  }
}

TEST(Refusals, UnknownInstructionsNameFileLineAndColumn) {
  const std::string ptx = EntryText(".param .u64 p", "\n  frobnicate.u32 %r1, %r2;");
  std::size_t line = 1;
  for (std::size_t i = 0; i < ptx.find("frobnicate"); ++i) {
    line += ptx[i] == '\n' ? 1 : 0;
  }
  ExpectRefused(ptx, "test.ptx:" + std::to_string(line) +
                         ":3: instruction `frobnicate.u32` is not known to the simulator");
  ExpectRefused(EntryText("", "add.rx.f32 %f1, %f2, %f3;"), "`add.rx.f32` is not known");
  ExpectRefused(EntryText("",
                          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4},"
                          "{%r1,%r2,%r3,%r4},{%r5,%r6},{%f1,%f2,%f3,%f4};"),
                "is not known");
}

TEST(Refusals, TextForANewerChip) {
  const auto for_target = [](const std::string& target) {
    std::string text = EntryText("", "ret;");
    const std::string was = ".target sm_70";
    return text.replace(text.find(was), was.size(), ".target " + target);
  };
  const std::string refusal = " does not load; compile it for compute_";
  for (int repeat = 0; repeat < 2; ++repeat) {  // the second time its translation would be known
    ExpectRefused(for_target("sm_80"), "is for sm_80, which an sm_70" + refusal + "70 or lower");
    ExpectRefused(for_target("sm_90a"), "is for sm_90a, which an sm_70" + refusal);
    Options turing;
    turing.numerics = Numerics::kSm75;
    Runner(turing).Load(for_target("sm_75"));
    ExpectRefused(for_target("sm_75"), "is for sm_75, which an sm_70" + refusal);
    ExpectRefused(for_target("sm_80"), "which an sm_75" + refusal + "75", turing);
  }
  for (const char* older : {"sm_70", "sm_61", "sm_52, debug"}) {
    Runner().Load(for_target(older));
  }
}

TEST(Refusals, OperandsThatDoNotFit) {
  ExpectRefused(EntryText("", "add.u32 %r1, %r2;"), "has 2 operands, not 3");
  ExpectRefused(EntryText("", "add.u32 %r1, %r2, %rd3;"), "%rd3 is a 64-bit register");
  ExpectRefused(EntryText("", "add.u32 %p1, %r2, %r3;"), "%p1 is a predicate");
  ExpectRefused(EntryText("", "ld.global.u64 %r1, [%rd1];"), "at least 64 bits");
  ExpectRefused(EntryText("", "@%r1 ret;"), "is not a predicate");
  ExpectRefused(EntryText("", "mov.u32 %r1, %nosuch;"), "%nosuch");
  ExpectRefused(EntryText("", "st.param.u32 [p], 1;"), "");
}

TEST(Refusals, LaunchesThatDoNotFitTheKernel) {
  Runner runner;
  const auto kernel = runner.Load(WriterText(""));
  EXPECT_THROW(runner.Run(kernel, {1, 1, 1}, {2000, 1, 1}, 0, std::uint64_t{0}), Error);
  EXPECT_THROW(runner.Run(kernel, {1, 1, 1}, {32, 1, 1}, 200000, std::uint64_t{0}), Error);
  EXPECT_THROW(runner.Run(kernel, {1, 1, 1}, {32, 1, 1}, 0), Error);
  EXPECT_THROW(runner.Run(kernel, {1, 1, 1}, {32, 1, 1}, 0, std::uint32_t{0}), Error);
  EXPECT_THROW(runner.Run(kernel, {0, 1, 1}, {32, 1, 1}, 0, std::uint64_t{0}), Error);
  EXPECT_THROW(runner.device().FindKernel(0, "other"), Error);
}

}  // namespace
}  // namespace voltcheck::simulator::testing
