// What a user meets on the command line: help, versions, lists, tables, JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "command.h"

namespace voltcheck::tools {
namespace {

constexpr const char* kSmallCase =
    "h=128,i=64,e=8,k=2,g=32,t=3,data=integer,w13=8x128x64/1,w2=16x128x32/1,seed=5";
constexpr const char* kSmallSuite =
    "# two lines\n"
    "h=128;i=64;e=8;k=2;g=32;t=1,9;data=integer;cols=interleaved,halves;w13=8x128x64/"
    "1;w2=16x128x32/1\n"
    "h=128;i=64;e=8;k=2;g=32;t=3;routing=zipf:1.1,hole:first;w13=16x128x32/1;w2=8x128x64/1 # end\n";

using CommandLine = CommandTest;

TEST_F(CommandLine, HelpOnEveryLevel) {
  EXPECT_EQ(Run({"--help"}).status, 0);
  for (const char* name : {"gate", "sweep", "replay", "inspect", "list", "exec"}) {
    const Outcome help = Run({name, "--help"});
    EXPECT_EQ(help.status, 0) << help.err;
    EXPECT_TRUE(help.out.starts_with(std::string("usage: voltcheck ") + name)) << help.out;
    EXPECT_NE(Run({"--help"}).out.find(std::string("  ") + name), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(VOLTCHECK_SOURCE_DIR) /
                                        "docs/commands" / (std::string(name) + ".md")));
  }
}

TEST_F(CommandLine, VersionNamesTheCommit) {
  const Outcome version = Run({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_NE(version.out.find("voltcheck 0."), std::string::npos) << version.out;
  EXPECT_NE(version.out.find("commit "), std::string::npos) << version.out;
}

TEST_F(CommandLine, NoCommandIsWrongUse) {
  EXPECT_EQ(Run({}).status, 2);
  ExpectRefusal(Run({"gait"}), 2, "no such command");
}

TEST_F(CommandLine, ListsSayWhatThereIs) {
  EXPECT_NE(Run({"list", "suites"}).out.find("smoke"), std::string::npos);
  EXPECT_NE(Run({"list", "tactics"}).out.find("8x128x64     32, 64, 128"), std::string::npos);
  EXPECT_NE(Run({"list", "kernels"}).out.find("moe_segments"), std::string::npos);
  EXPECT_NE(Run({"list", "devices"}).out.find("simulator"), std::string::npos);
  EXPECT_NE(Run({"list", "numerics"}).out.find("sm80-software"), std::string::npos);
  EXPECT_NE(Run({"list", "verdicts"}).out.find("mistrusted"), std::string::npos);
  EXPECT_NE(Run({"list", "fixtures"}).out.find("smollm2_l29_dense_cut.h5"), std::string::npos);
  ExpectRefusal(Run({"list", "planets"}), 2, "no such topic");
}

TEST_F(CommandLine, GateTwiceWritesTheSameBytesForAnyNumberOfJobs) {
  WriteText(Path("small.txt"), kSmallSuite);
  const Outcome first = Run({"gate", "--suite", "./small.txt", "--jobs", "1", "--out", "a.h5"});
  EXPECT_EQ(first.status, 0) << first.out << first.err;
  EXPECT_NE(first.out.find("6 cases, 6 passed"), std::string::npos) << first.out;
  EXPECT_EQ(first.err, "") << "no progress bar when piped";
  const Outcome second = Run({"gate", "--suite", "./small.txt", "--jobs", "3", "--quiet"});
  EXPECT_EQ(second.status, 0);
  EXPECT_EQ(second.out, "");
  EXPECT_TRUE(ReadText(Path("a.h5")) == ReadText(Path("gate-small.h5")));
}

TEST_F(CommandLine, TableFitsEightyColumnsWithoutColours) {
  WriteText(Path("small.txt"), kSmallSuite);
  const Outcome gate = Run({"gate", "--suite", "./small.txt"}, "TERM=xterm");
  std::istringstream lines(gate.out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80U) << line;
  }
  EXPECT_EQ(gate.out.find('\x1b'), std::string::npos) << "standard output is no terminal";
}

TEST_F(CommandLine, AnotherScheduleGivesTheSameBits) {
  const auto figures = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"replay", "--json", "--case", kSmallCase};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = Run(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out)["cases"][0]["stages"].dump();
  };
  EXPECT_EQ(figures({}), figures({"--schedule", "7"}));
  EXPECT_NE(figures({}), figures({"--tactics", "16x128x32/2"}));
}

TEST_F(CommandLine, JsonHoldsFiguresSecondsAndCounters) {
  const Outcome outcome = Run({"replay", "--json", "--case", kSmallCase});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["schema"], "voltcheck.replay/1");
  EXPECT_EQ(json["summary"]["cases"], 1);
  EXPECT_EQ(json["summary"]["passed"], 1);
  EXPECT_EQ(json["summary"]["complete"], true);
  const nlohmann::json& one = json["cases"][0];
  EXPECT_EQ(one["verdict"], "passed");
  EXPECT_GT(one["seconds"]["device"], 0);
  EXPECT_GT(one["seconds"]["reference"], 0);
  EXPECT_GT(one["counters"]["mma"], 0);
  EXPECT_EQ(one["stages"]["w13"]["bits"]["compared"], 6 * 128);
  EXPECT_EQ(one["stages"]["w13"]["bits"]["exact"], 6 * 128);
  EXPECT_EQ(one["stages"]["output"]["own"]["elements"], 3 * 128);
  // The reproduction line is a command line that gives the same figures.
  EXPECT_EQ(one["reproduction"], "voltcheck replay --case '" +
                                     one["descriptor"].get<std::string>() +
                                     "' --device simulator --schedule 0");
  const Outcome again = Run({"replay", "--json", "--case", one["descriptor"].get<std::string>()});
  EXPECT_EQ(nlohmann::json::parse(again.out)["cases"][0]["stages"], one["stages"]);
}

TEST_F(CommandLine, ReplayRunsFixturesWithEachTactic) {
  const Outcome outcome =
      Run({"replay", ShippedFixture().string(), "--tactics", "8x128x64/1,16x128x32/1", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["summary"]["cases"], 2);
  EXPECT_EQ(json["summary"]["passed"], 2);
}

TEST_F(CommandLine, ListsCasesCoverageAndTacticsOfACase) {
  const std::string cases = Run({"list", "cases", "--suite", "smoke"}).out;
  EXPECT_GT(std::count(cases.begin(), cases.end(), '\n'), 100);
  EXPECT_NE(cases.find(",path=m1,"), std::string::npos);
  const std::string one =
      Run({"list", "cases", "--suite", "smoke", "--tactics", "64x128x32/1"}).out;
  EXPECT_NE(one.find("w13=64x128x32/1,w2=64x128x32/1"), std::string::npos);
  EXPECT_EQ(one.find("w13=8x128x64/1"), std::string::npos);
  const std::string coverage = Run({"list", "coverage"}).out;
  EXPECT_TRUE(coverage.ends_with("\ncomplete\n")) << coverage;
  const std::string tactics =
      Run({"list", "tactics", "--case", "h=2560,i=160,g=32", "--tactics", "all"}).out;
  EXPECT_NE(tactics.find("64x128x32    1..16; 1..5"), std::string::npos) << tactics;
  EXPECT_NE(tactics.find("K = 160 is not a multiple of CTA_K = 64"), std::string::npos) << tactics;
}

TEST_F(CommandLine, InspectDescribesEachKindOfFile) {
  ASSERT_EQ(Run({"replay", "--case", kSmallCase, "--out", "run.h5"}).status, 0);
  const nlohmann::json run = nlohmann::json::parse(Run({"inspect", "run.h5", "--json"}).out);
  EXPECT_EQ(run["kind"], "run");
  EXPECT_EQ(run["summary"]["passed"], 1);
  EXPECT_EQ(run["attributes"]["device_kind"], "simulator");
  EXPECT_EQ(run["arrays"]["/cases/tokens"], "uint32 [1]");

  const nlohmann::json fixture =
      nlohmann::json::parse(Run({"inspect", ShippedFixture().string(), "--json"}).out);
  EXPECT_EQ(fixture["kind"], "fixture");
  EXPECT_EQ(fixture["shape"]["hidden"], 576);
  EXPECT_EQ(fixture["hash"].get<std::string>().size(), 64U);

  const std::string header = R"({"x":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  WriteText(Path("x.safetensors"), file + header + "abcd");
  const nlohmann::json tensors =
      nlohmann::json::parse(Run({"inspect", "x.safetensors", "--json"}).out);
  EXPECT_EQ(tensors["kind"], "safetensors");
  EXPECT_EQ(tensors["arrays"]["x"], "F16 [2, 1]");
}

TEST_F(CommandLine, AnInterruptedGateSavesWhatIsFinished) {
  // A suite of many cases; the signal comes as soon as the run file's temporary name is there.
  WriteText(Path("long.txt"),
            "h=128;i=64;e=8;k=2;g=32;t=9;seed=1..20000;w13=8x128x64/1;w2=16x128x32/1\n");
  const std::string script =
      "(while ! ls -A | grep -q tmp-; do sleep 0.05; done; sleep 1; kill -INT $$) &";
  const Outcome outcome = Run({"gate", "--suite", "./long.txt", "--out", "long.h5"}, script);
  EXPECT_EQ(outcome.status, 4) << outcome.err;
  EXPECT_NE(outcome.err.find("interrupted after"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("\nINCOMPLETE: "), std::string::npos) << outcome.out;
  const nlohmann::json run = nlohmann::json::parse(Run({"inspect", "long.h5", "--json"}).out);
  EXPECT_EQ(run["complete"], false);
  EXPECT_GT(run["summary"]["cases"], 0);
  EXPECT_LT(run["summary"]["cases"], 20000);
  EXPECT_EQ(run["summary"]["passed"], run["summary"]["cases"]);
}

}  // namespace
}  // namespace voltcheck::tools
