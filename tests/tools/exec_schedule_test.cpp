// `voltcheck exec` under many schedules: seeds, all interleavings, one order again.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "command.h"

namespace voltcheck::tools {
namespace {

// Every thread adds one to a word, without minding the others; or with an atomic.
constexpr const char* kPtx = R"(
.version 6.0
.target sm_70
.address_size 64
.visible .entry lost_update(.param .u64 p)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [p];
  ld.relaxed.gpu.global.u32 %r0, [%rd0];
  add.u32 %r0, %r0, 1;
  st.relaxed.gpu.global.u32 [%rd0], %r0;
  ret;
}
.visible .entry count(.param .u64 p)
{
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [p];
  red.global.add.u32 [%rd0], 1;
  ret;
}
.visible .entry last_block(.param .u64 p)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [p];
  mov.u32 %r0, %ctaid.x;
  st.relaxed.gpu.global.u32 [%rd0], %r0;
  ret;
}
.visible .entry endless()
{
AGAIN:
  bra AGAIN;
}
)";

class ExecScheduleTest : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    WriteText(Path("k.ptx"), kPtx);
  }
  Outcome Exec(const std::string& kernel, std::vector<std::string> more) const {
    std::vector<std::string> words{"exec", "k.ptx", kernel, "--arg", "zeros:4"};
    words.insert(words.end(), more.begin(), more.end());
    return Run(words);
  }
};

TEST_F(ExecScheduleTest, ExhaustiveCountsAndFindsTwoOutcomes) {
  const Outcome run = Exec("lost_update", {"--block", "2", "--schedule", "exhaustive", "--json"});
  EXPECT_EQ(run.status, 1);
  const nlohmann::json report = nlohmann::json::parse(run.out);
  EXPECT_EQ(report["exploration"]["complete"], true);
  EXPECT_GE(report["exploration"]["interleavings"], 3);
  EXPECT_EQ(report["findings"][0]["checker"], "nondeterministic");
  std::set<std::string> results;
  for (const std::string schedule : report["exploration"]["differing"]) {
    WriteText(Path("word.bin"), std::string(4, '\0'));
    EXPECT_EQ(Run({"exec", "k.ptx", "lost_update", "--block", "2", "--schedule", schedule, "--arg",
                   "inout:word.bin"})
                  .status,
              0);
    results.insert(ReadText(Path("word.bin")));
  }
  EXPECT_EQ(results,
            (std::set<std::string>{std::string("\1\0\0\0", 4), std::string("\2\0\0\0", 4)}));
}

TEST_F(ExecScheduleTest, ExhaustiveIsContentWithARightKernel) {
  const Outcome run = Exec("count", {"--block", "4", "--grid", "2", "--schedule", "exhaustive"});
  EXPECT_EQ(run.status, 0) << run.out;
  EXPECT_EQ(run.out,
            "ran 1 interleaving, 8 visible operations, and gave up 0 repetitions: all orders that "
            "can differ\n");
}

TEST_F(ExecScheduleTest, SeedsThatDiffer) {
  const Outcome run = Exec("last_block", {"--grid", "4", "--schedules", "8"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.out.find("nondeterministic in last_block"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("other values in its buffers under --schedule 0 and --schedule "),
            std::string::npos)
      << run.out;
  EXPECT_EQ(Exec("count", {"--grid", "4", "--schedules", "8"}).status, 0);
}

TEST_F(ExecScheduleTest, TheLimitStopsALoop) {
  const Outcome run = Run({"exec", "k.ptx", "endless", "--limit", "100000"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.out.find("limit in endless"), std::string::npos) << run.out;
}

TEST_F(ExecScheduleTest, Refusals) {
  ExpectRefusal(Exec("count", {"--schedule", "best"}), 2, "is no order of threads");
  ExpectRefusal(Exec("count", {"--schedule", "exhaustive", "--grid", "1000"}), 2, "too many");
  ExpectRefusal(Exec("count", {"--schedule", "exhaustive", "--schedules", "3"}), 2, "a seed");
}

}  // namespace
}  // namespace voltcheck::tools
