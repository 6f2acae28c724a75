// Races in global memory: what orders two threads and what does not, after the PTX memory model.
#include <gtest/gtest.h>

#include "runner.h"

namespace voltcheck::simulator::testing {
namespace {

/// Runs WriterText(body) with all checkers on 4096 zeros and returns the findings.
std::string FindingsOf(const std::string& body, std::uint32_t blocks, std::uint32_t threads,
                       std::uint64_t schedule = 0, int jobs = 0) {
  Options options;
  options.checks = Checks::All();
  options.schedule = schedule;
  options.jobs = jobs;
  Runner runner(options);
  const auto kernel = runner.Load(WriterText(body, ".shared .align 4 .b8 s[1024];"));
  const auto out = runner.Upload(std::vector<std::uint32_t>(4096, 0), "out");
  runner.Run(kernel, {blocks, 1, 1}, {threads, 1, 1}, 0, out);
  return runner.Findings();
}

void ExpectContains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
}
void ExpectRace(const std::string& body, std::uint32_t blocks = 2, std::uint32_t threads = 64) {
  for (const std::uint64_t schedule : {0, 1, 2}) {
    ExpectContains(FindingsOf(body, blocks, threads, schedule), "race line");
  }
}
void ExpectClean(const std::string& body, std::uint32_t blocks = 2, std::uint32_t threads = 64) {
  for (const std::uint64_t schedule : {0, 1, 2}) {
    EXPECT_EQ(FindingsOf(body, blocks, threads, schedule), "") << "schedule " << schedule;
  }
}

/// Block 0 runs `producer`, the others `consumer`; data at out + 64, the flag at out + 12288. Every
/// thread's own word of the data is at %rd5.
std::string Handover(const std::string& producer, const std::string& consumer) {
  return "mul.wide.u32 %rd5, %r1, 4; add.u64 %rd5, %rd2, %rd5; setp.ne.u32 %p1, %r1, 0;"
         "setp.ne.u32 %p2, %r2, 0; @%p2 bra CONSUMER;" +
         producer + "bra DONE; CONSUMER:" + consumer + "DONE:";
}
const std::string kWrite = "st.global.u32 [%rd5+64], 7;";
const std::string kRead = "ld.global.u32 %r6, [%rd5+64];";

std::string Wait(const std::string& load) {
  return "@%p1 bra WAITED; SPIN: " + load + " setp.eq.u32 %p3, %r5, 0; @%p3 bra SPIN; WAITED:";
}
const std::string kAcquire = Wait("ld.acquire.gpu.global.u32 %r5, [%rd2+12288];");
const std::string kRelaxed = Wait("ld.relaxed.gpu.global.u32 %r5, [%rd2+12288];");
const std::string kVolatile = Wait("ld.volatile.global.u32 %r5, [%rd2+12288];");
const std::string kBarrier = "bar.sync 0;";
const std::string kRelease = "@!%p1 st.release.gpu.global.u32 [%rd2+12288], 1;";
const std::string kSetRelaxed = "@!%p1 st.relaxed.gpu.global.u32 [%rd2+12288], 1;";

/// The handover leaves its flag set, which is another checker's finding.
std::string RacesOf(const std::string& body, std::uint64_t schedule = 0) {
  std::string races;
  std::string line;
  for (const char c : FindingsOf(body, 2, 64, schedule)) {
    line += c;
    if (c == '\n') {
      races += line.starts_with("lock") ? "" : line;
      line.clear();
    }
  }
  return races;
}
void ExpectOrdered(const std::string& producer, const std::string& consumer) {
  for (const std::uint64_t schedule : {0, 1, 2}) {
    EXPECT_EQ(RacesOf(Handover(producer, consumer), schedule), "") << producer << consumer;
  }
}
void ExpectUnordered(const std::string& producer, const std::string& consumer) {
  for (const std::uint64_t schedule : {0, 1, 2}) {
    ExpectContains(RacesOf(Handover(producer, consumer), schedule), "race");
  }
}

TEST(GlobalRaces, ReleaseAndAcquireOrderWholeBlocksThroughBarriers) {
  ExpectOrdered(kWrite + kBarrier + kRelease, kAcquire + kBarrier + kRead);
}

// Nobody but the log of writes looks at the first run: block 1 writes behind block 0's bytes in the
// same lines, or meets them with its first, its last or a middle lane.
TEST(GlobalRaces, LanesApartMeetWhereOneByteIsCommon) {
  const auto findings = [](std::uint32_t words, std::uint32_t stride, std::int32_t shift) {
    const std::string vector = words == 1 ? "u32" : words == 2 ? "v2.u32" : "v4.u32";
    const std::string data = words == 1   ? "%r1"
                             : words == 2 ? "{%r1, %r1}"
                                          : "{%r1, %r1, %r1, %r1}";
    Options options;
    options.checks.global_races = true;
    Runner runner(options);
    const auto kernel = runner.Load(WriterText(
        "mul.lo.s32 %r5, %r1, " + std::to_string(stride) + ";mad.lo.s32 %r5, %r2, " +
        std::to_string(shift) + ", %r5; cvt.s64.s32 %rd5, %r5;" +
        "add.s64 %rd5, %rd2, %rd5; st.global." + vector + " [%rd5+4096], " + data + ";"));
    const auto out = runner.Upload(std::vector<std::uint32_t>(4096, 0), "out");
    runner.Run(kernel, {2, 1, 1}, {32, 1, 1}, 0, out);
    return runner.Findings();
  };
  for (const std::uint32_t words : {1u, 2u, 4u}) {
    for (const std::uint32_t stride : {8u, 16u, 32u, 64u}) {
      const auto bytes = static_cast<std::int32_t>(4 * words);
      const auto apart = static_cast<std::int32_t>(stride);
      if (bytes >= apart) continue;
      for (const std::int32_t shift :
           {bytes, -bytes, 32 * apart, -32 * apart, 32 * apart + bytes}) {
        EXPECT_EQ(findings(words, stride, shift), "") << words << " " << stride << " " << shift;
      }
      for (const std::int32_t shift : {0, 31 * apart, -31 * apart, 8 * apart, -apart}) {
        ExpectContains(findings(words, stride, shift), "race line");
      }
    }
  }
}

TEST(GlobalRaces, EitherBarrierIsNeeded) {
  ExpectUnordered(kWrite + kRelease, kAcquire + kBarrier + kRead);
  ExpectUnordered(kWrite + kBarrier + kRelease, kAcquire + kRead);
}

// Split-K's lock: block 0 passes it on, block 1 waits for that and takes it back.
TEST(GlobalRaces, AHandoverIsToldByOneThread) {
  const std::string wait = kAcquire + kBarrier;
  const std::string everyone = "st.release.gpu.global.u32 [%rd2+12288], 1;";
  const std::string back = "@!%p1 st.release.gpu.global.u32 [%rd2+12288], 0;";
  ExpectClean(Handover(kWrite + kBarrier + kRelease, wait + kRead + back));
  const std::string finding = "did: only one of these stores lies before";
  for (const std::uint64_t schedule : {0, 1, 2}) {
    const auto findings = [&](const std::string& producer, const std::string& consumer) {
      return FindingsOf(Handover(producer, consumer), 2, 64, schedule);
    };
    ExpectContains(findings(kWrite + kBarrier + everyone, wait + kRead + back), finding);
    // By volatile stores behind a fence, taken back by an atomic.
    ExpectContains(
        findings(kWrite + kBarrier + "membar.gl; st.volatile.global.u32 [%rd2+12288], 1;",
                 wait + "@!%p1 atom.global.exch.b32 %r6, [%rd2+12288], 0;"),
        finding);
  }
  // Ordered by a barrier, the second store repeats the first.
  ExpectClean(Handover(kWrite + kBarrier + "setp.ne.u32 %p4, %r1, 32;" +
                           "@!%p4 st.release.gpu.global.u32 [%rd2+12288], 1;" + kBarrier + kRelease,
                       wait + kRead + back));
  // Nobody changes the word behind them: the same value any number of times.
  ExpectOrdered(kWrite + kBarrier + everyone, wait + kRead);
  // A flag that many set and one clears when all are through a barrier of the grid.
  ExpectClean(
      "st.relaxed.gpu.global.u32 [%rd2+64], 1; bar.sync 0; setp.ne.u32 %p1, %r1, 0;"
      "@%p1 bra DONE; membar.gl; atom.global.add.u32 %r5, [%rd2+12288], 1; membar.gl;"
      "setp.ne.u32 %p2, %r5, 1; @%p2 bra DONE; st.relaxed.gpu.global.u32 [%rd2+64], 0; DONE:");
}

TEST(GlobalRaces, RelaxedAccessesAloneOrderNothing) {
  ExpectUnordered(kWrite + kBarrier + kSetRelaxed, kAcquire + kBarrier + kRead);
  ExpectUnordered(kWrite + kBarrier + kRelease, kRelaxed + kBarrier + kRead);
  ExpectUnordered(kWrite + kBarrier + kRelease, kVolatile + kBarrier + kRead);
}

TEST(GlobalRaces, FencesMakeRelaxedAccessesReleaseAndAcquire) {
  ExpectOrdered(kWrite + kBarrier + "membar.gl;" + kSetRelaxed,
                kRelaxed + "membar.gl;" + kBarrier + kRead);
  ExpectOrdered(kWrite + kBarrier + "fence.acq_rel.gpu;" + kSetRelaxed,
                kVolatile + "fence.acq_rel.gpu;" + kBarrier + kRead);
  ExpectUnordered(kWrite + kBarrier + "membar.cta;" + kSetRelaxed,
                  kRelaxed + "membar.gl;" + kBarrier + kRead);
  ExpectUnordered(kWrite + kBarrier + "membar.gl;" + kSetRelaxed,
                  kRelaxed + "membar.cta;" + kBarrier + kRead);
}

// __threadfence is fence.sc: every thread may have its own, on the far sides of the barriers.
TEST(GlobalRaces, SequentialFencesOfAllThreads) {
  ExpectOrdered(kWrite + "membar.gl;" + kBarrier + kSetRelaxed,
                kRelaxed + kBarrier + "membar.gl;" + kRead);
  ExpectUnordered(kWrite + "fence.acq_rel.gpu;" + kBarrier + kSetRelaxed,
                  kRelaxed + kBarrier + "fence.acq_rel.gpu;" + kRead);
}

TEST(GlobalRaces, ScopesMustReach) {
  ExpectUnordered(kWrite + kBarrier + "@!%p1 st.release.cta.global.u32 [%rd2+12288], 1;",
                  kAcquire + kBarrier + kRead);
  ExpectUnordered(kWrite + kBarrier + kRelease,
                  Wait("ld.acquire.cta.global.u32 %r5, [%rd2+12288];") + kBarrier + kRead);
}

TEST(GlobalRaces, AtomicsCarryAReleaseOn) {
  const std::string add = "@!%p1 atom.release.gpu.global.add.u32 %r7, [%rd2+12288], 1;";
  const std::string relay = "@!%p1 atom.relaxed.gpu.global.add.u32 %r7, [%rd2+12288], 1;";
  ExpectOrdered(kWrite + kBarrier + add + relay, kAcquire + kBarrier + kRead);
  // A store in between begins anew.
  ExpectUnordered(kWrite + kBarrier + kRelease + kSetRelaxed, kAcquire + kBarrier + kRead);
}

TEST(GlobalRaces, ALockOrdersItsCriticalSections) {
  const std::string body =
      "setp.ne.u32 %p1, %r1, 0; @%p1 bra OUT;"
      "SPIN: atom.acquire.gpu.global.cas.b32 %r5, [%rd2+12288], 0, 1;"
      "setp.ne.u32 %p2, %r5, 0; @%p2 bra SPIN;"
      "ld.global.u32 %r6, [%rd2]; add.u32 %r6, %r6, 1; st.global.u32 [%rd2], %r6;";
  ExpectClean(body + "atom.release.gpu.global.exch.b32 %r7, [%rd2+12288], 0; OUT:", 5);
  ExpectRace(body + "atom.relaxed.gpu.global.exch.b32 %r7, [%rd2+12288], 0; OUT:", 5);
}

TEST(GlobalRaces, TwoBlocksWriteOneWord) {
  const std::string found = FindingsOf("@%p9 bra L; st.global.u32 [%rd2+8], %r2; L:", 2, 1);
  ExpectContains(found, "block 1 thread 0: `st.global.u32");
  ExpectContains(found,
                 "writes `out` at offset 8, which block (0,0,0) thread (0,0,0) wrote at line ");
  ExpectContains(found, "with no release and acquire between");
  ExpectClean("red.global.add.u32 [%rd2+8], %r2;");
}

TEST(GlobalRaces, PlainAccessesRaceWithAtomics) {
  ExpectRace("red.global.add.u32 [%rd2+8], 1; ld.global.u32 %r5, [%rd2+8];");
}

// Blocks of different batches never run at one time here, but they could.
TEST(GlobalRaces, BlocksFarApart) {
  const std::string body =
      "setp.eq.u32 %p1, %r2, 3; setp.eq.u32 %p2, %r2, 700; @%p1 st.global.u32 [%rd2+8192], 1;"
      "@%p2 ld.global.u32 %r5, [%rd2+8192];";
  ExpectContains(FindingsOf(body, 1000, 1), "block (3,0,0)");
}

TEST(GlobalRaces, ThreadsOfOneBlock) {
  const std::string next =
      "add.u32 %r6, %r1, 32; and.b32 %r6, %r6, 63; mul.wide.u32 %rd6, %r6, 4;"
      "add.u64 %rd6, %rd2, %rd6;";
  ExpectRace(next + "st.global.u32 [%rd1], %r1; ld.global.u32 %r5, [%rd6];", 1);
  ExpectClean(next + "st.global.u32 [%rd1], %r1; bar.sync 0; ld.global.u32 %r5, [%rd6];", 1);
  const std::string near =
      "xor.b32 %r6, %r1, 1; mul.wide.u32 %rd6, %r6, 4; add.u64 %rd6, %rd2, %rd6;";
  ExpectRace(near + "st.global.u32 [%rd1], %r1; ld.global.u32 %r5, [%rd6];", 1, 32);
  ExpectClean(near + "st.global.u32 [%rd1], %r1; bar.warp.sync -1; ld.global.u32 %r5, [%rd6];", 1,
              32);
}

TEST(GlobalRaces, ThreadsMayReuseTheirOwnWords) {
  ExpectClean("st.global.u32 [%rd1], %r1; ld.global.u32 %r5, [%rd1]; st.global.u32 [%rd1], %r5;");
}

TEST(GlobalRaces, NamedBarriersOrderThoseWhoTakePart) {
  // Warp 0 writes and arrives, warp 1 waits and reads what warp 0 wrote.
  const std::string body =
      "setp.ge.u32 %p1, %r1, 32; @%p1 bra READ; st.global.u32 [%rd1], 1; bar.arrive 3, 64; LATE "
      "bra END;"
      "READ: bar.sync 3, 64; ld.global.u32 %r5, [%rd1+-128]; END:";
  const auto with = [&](const std::string& late) {
    std::string text = body;
    return text.replace(text.find("LATE"), 4, late);
  };
  ExpectClean(with(""), 1);
  ExpectRace(with("st.global.u32 [%rd1], 2;"), 1);  // behind the arrival: ordered no more
}

TEST(GlobalRaces, FlagsInSharedMemoryOrderToo) {
  const std::string body =
      "setp.eq.u32 %p4, %r1, 0; @%p4 st.shared.u32 [s], 0; bar.sync 0;"
      "setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 32; @%p1 bra WRITE; @%p2 bra READ; bra END;"
      "WRITE: st.global.u32 [%rd2], 5; FENCE st.volatile.shared.u32 [s], 1; bra END;"
      "READ: ld.volatile.shared.u32 %r5, [s]; setp.eq.u32 %p3, %r5, 0; @%p3 bra READ;"
      "FENCE ld.global.u32 %r6, [%rd2]; END:";
  const auto with = [&](const std::string& fence) {
    std::string text = body;
    for (std::size_t at = text.find("FENCE"); at != std::string::npos; at = text.find("FENCE")) {
      text.replace(at, 5, fence);
    }
    return text;
  };
  ExpectClean(with("membar.cta;"), 1);
  ExpectRace(with(""), 1);
}

TEST(GlobalRaces, FindingsAreTheSameForAnyJobsAndRepeatedRuns) {
  const std::string body =
      "and.b32 %r5, %r4, 1023; mul.wide.u32 %rd5, %r5, 4; add.u64 %rd5, %rd2, %rd5;"
      "ld.global.u32 %r6, [%rd5]; add.u32 %r6, %r6, 1; st.global.u32 [%rd5], %r6;";
  for (const std::uint64_t schedule : {0, 1, 2, 3}) {
    const std::string one = FindingsOf(body, 600, 64, schedule, 1);
    ExpectContains(one, "race");
    EXPECT_EQ(one, FindingsOf(body, 600, 64, schedule, 2));
    EXPECT_EQ(one, FindingsOf(body, 600, 64, schedule, 7));
  }
}

TEST(Locks, LeftTakenOrSet) {
  const std::string take =
      "setp.ne.u32 %p1, %r1, 0; @%p1 bra OUT;"
      "SPIN: atom.acquire.gpu.global.cas.b32 %r5, [%rd2+12288], 0, 1;"
      "setp.ne.u32 %p2, %r5, 0; @%p2 bra SPIN;";
  const std::string found = FindingsOf(take + "OUT:", 1, 32);
  ExpectContains(found, "lock line");
  ExpectContains(found,
                 "`out` at offset 12288 that the launch leaves dirty: it was 0 before and is 1");
  EXPECT_EQ(FindingsOf(take + "st.release.gpu.global.u32 [%rd2+12288], 0; OUT:", 3, 32), "");
  ExpectContains(
      FindingsOf(Handover(kWrite + kBarrier + kRelease, kAcquire + kBarrier + kRead), 2, 64),
      "lock line");
}

TEST(Locks, UpdatesWithoutALockAreNone) {
  EXPECT_EQ(FindingsOf("ld.relaxed.gpu.global.u32 %r5, [%rd2];"
                       "L: add.u32 %r6, %r5, 3; atom.global.cas.b32 %r7, [%rd2], %r5, %r6;"
                       "setp.ne.u32 %p1, %r7, %r5; mov.u32 %r5, %r7; @%p1 bra L;",
                       2, 64),
            "");
}

}  // namespace
}  // namespace voltcheck::simulator::testing
