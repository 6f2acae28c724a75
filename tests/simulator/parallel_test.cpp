// Blocks side by side: the outcome is the same for any number of threads, and blocks that do not
// keep apart are found out and run one after the other.
#include <gtest/gtest.h>

#include "runner.h"

namespace voltcheck::simulator::testing {
namespace {

struct Outcome {
  std::vector<std::uint32_t> memory;
  std::string findings;
  std::uint64_t lane_instructions = 0;
  bool operator==(const Outcome&) const = default;
};

/// Runs WriterText(body) on 600 blocks of 64 threads over `words` words that hold their index.
Outcome RunWide(const std::string& body, int jobs, std::uint64_t schedule = 0,
                std::size_t words = 600 * 64) {
  Options options;
  options.jobs = jobs;
  options.schedule = schedule;
  options.checks = Checks::All();
  Runner runner(options);
  const auto kernel = runner.Load(WriterText(body));
  std::vector<std::uint32_t> start(words);
  for (std::size_t i = 0; i < words; ++i) {
    start[i] = static_cast<std::uint32_t>(i);
  }
  const auto out = runner.Upload(start);
  runner.Run(kernel, {600, 1, 1}, {64, 1, 1}, 0, out);
  Outcome outcome;
  outcome.findings = runner.Findings();
  outcome.memory = runner.Download<std::uint32_t>(out, words);
  outcome.lane_instructions = runner.device().TakeCounters().lane_instructions;
  return outcome;
}

void ExpectSameForAnyJobs(const std::string& body) {
  for (const std::uint64_t schedule : {0, 3}) {
    const Outcome one = RunWide(body, 1, schedule);
    for (const int jobs : {2, 3, 8}) {
      EXPECT_EQ(one, RunWide(body, jobs, schedule)) << body;
    }
  }
}

TEST(Parallel, IndependentBlocks) {
  const std::string body =
      "ld.global.u32 %r5, [%rd1]; mad.lo.u32 %r5, %r5, 3, 1; st.global.u32 [%rd1], %r5;";
  ExpectSameForAnyJobs(body);
  const Outcome outcome = RunWide(body, 4);
  EXPECT_EQ(outcome.findings, "");
  for (std::uint32_t i = 0; i < outcome.memory.size(); ++i) {
    ASSERT_EQ(outcome.memory[i], 3 * i + 1);
  }
}

// Each thread reads its neighbour block's word and writes its own: the result depends on the order,
// which must therefore be the serial one.
TEST(Parallel, BlocksThatReadEachOthersResults) {
  const std::string body =
      "add.u32 %r6, %r4, 64; setp.ge.u32 %p1, %r6, 38400; @%p1 mov.u32 %r6, 0;"
      "mul.wide.u32 %rd5, %r6, 4; add.u64 %rd5, %rd2, %rd5; ld.global.u32 %r5, [%rd5];"
      "add.u32 %r5, %r5, 7; st.global.u32 [%rd1], %r5;";
  ExpectSameForAnyJobs(body);
  // In order, every block reads what the next one has not overwritten yet; the last reads the
  // first.
  const Outcome outcome = RunWide(body, 2);
  EXPECT_EQ(outcome.memory[0], 64u + 7);
  EXPECT_EQ(outcome.memory[599 * 64], 64u + 7 + 7);
}

TEST(Parallel, BlocksThatWriteTheSameWord) {
  const std::string body = "st.global.u32 [%rd2], %r2;";
  ExpectSameForAnyJobs(body);
  EXPECT_EQ(RunWide(body, 2).memory[0], 599u);
}

TEST(Parallel, BlocksThatTalkThroughAtomics) {
  const std::string body =
      "ld.global.u32 %r5, [%rd1]; add.u32 %r5, %r5, 5; atom.global.add.u32 %r6, [%rd2+38396], 1;"
      "setp.eq.u32 %p1, %r4, 38399; @!%p1 st.global.u32 [%rd1], %r6;";
  ExpectSameForAnyJobs(body);
}

TEST(Parallel, FaultsOfTheFirstBatchAreReportedAlike) {
  const std::string body =
      "setp.eq.u32 %p1, %r2, 77; selp.u32 %r6, 10000000, 0, %p1; mul.wide.u32 %rd5, %r6, 4;"
      "add.u64 %rd5, %rd1, %rd5; st.global.u32 [%rd5], %r4;";
  ExpectSameForAnyJobs(body);
  const Outcome outcome = RunWide(body, 2);
  EXPECT_NE(outcome.findings.find("block 77 thread 0"), std::string::npos) << outcome.findings;
}

}  // namespace
}  // namespace voltcheck::simulator::testing
