// Policies, configuration files, skips, sweeps and kernels that never ran, as a user meets them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"

namespace voltcheck::tools {
namespace {

constexpr const char* kCase = "h=128,i=64,e=8,k=2,g=32,t=3,w13=8x128x64/1,w2=16x128x32/1";
constexpr const char* kGrid = "h=128;i=64;e=8;k=2;g=32;t=3;w13=8x128x64/1;w2=16x128x32/1";

class Judging : public CommandTest {
 protected:
  nlohmann::json Json(const std::vector<std::string>& words, int status) const {
    std::vector<std::string> all = words;
    all.emplace_back("--json");
    const Outcome outcome = Run(all);
    EXPECT_EQ(outcome.status, status) << outcome.out << outcome.err;
    return nlohmann::json::parse(outcome.out, nullptr, false);
  }
  nlohmann::json Replay(const std::vector<std::string>& more, int status) const {
    std::vector<std::string> words{"replay", "--case", kCase};
    words.insert(words.end(), more.begin(), more.end());
    return Json(words, status);
  }
};

TEST_F(Judging, ALimitFailsWithItsReasonAndStandsInTheReproductionLine) {
  const nlohmann::json json = Replay({"--w13.own-use", "0.001"}, 1);
  const nlohmann::json& one = json["cases"][0];
  EXPECT_NE(one["reason"].get<std::string>().find("over 0.001 times the budget"), std::string::npos)
      << one["reason"];
  EXPECT_NE(one["reproduction"].get<std::string>().find(" --w13.own-use 0.001"), std::string::npos);
  EXPECT_FALSE(one["stages"]["w13"]["worst"]["tile"].is_null());
  Replay({"--w13.own-use", "0.001", "--policy", "bits"}, 0);
  Replay({"--w13.reference-max-abs", "1e-9", "--policy", "budget"}, 0);
  Replay({"--w13.reference-max-abs", "1e-9", "--policy", "reference"}, 1);
}

TEST_F(Judging, AnUndeclaredOrderIsJudgedByBudgetAlone) {
  const nlohmann::json json = Replay({"--order", "undeclared"}, 0);
  for (const auto& [name, stage] : json["cases"][0]["stages"].items()) {
    EXPECT_EQ(stage["bits"]["compared"], 0) << name;
    EXPECT_TRUE(stage["posterior"].is_null()) << name;
    EXPECT_EQ(stage["verdict"], "passed") << name;
  }
}

TEST_F(Judging, BothBudgetsAreRecorded) {
  const nlohmann::json json = Replay({}, 0);
  const nlohmann::json& w13 = json["cases"][0]["stages"]["w13"];
  EXPECT_LE(w13["posterior"]["max_use"]["value"], 1);
  EXPECT_LE(w13["posterior"]["budget_rms_relative"], w13["own"]["budget_rms_relative"]);
  EXPECT_TRUE(json["cases"][0]["stages"]["silu"]["posterior"].is_null());
  EXPECT_TRUE(json["cases"][0]["logits"].is_null());
}

TEST_F(Judging, ACaseWithAHeadHasLogits) {
  const nlohmann::json json =
      Json({"replay", "--case", std::string(kCase) + ",head=33", "--out", "run.h5"}, 0);
  const nlohmann::json& one = json["cases"][0];
  EXPECT_EQ(one["logits"]["rows"], 3);
  EXPECT_EQ(one["logits"]["elements"], 3 * 33);
  EXPECT_LT(one["logits"]["kl_max"], 1e-3);
  EXPECT_EQ(one["stages"]["logits"]["verdict"], "passed");
  EXPECT_LE(one["stages"]["logits"]["end_to_end"]["max_use"]["value"], 1);
  const nlohmann::json run = nlohmann::json::parse(Run({"inspect", "run.h5", "--json"}).out);
  EXPECT_EQ(run["arrays"]["/logits/kl_max"], "float32 [1]");
  EXPECT_EQ(run["arrays"]["/metrics/logits/end_to_end/max_use"], "float32 [1]");
}

TEST_F(Judging, TheConfigurationSetsWhatTheCommandLineLeavesOpen) {
  WriteText(Path("gate.cfg"),
            "# limits\n"
            "policy = budget   # and no other\n"
            "\n"
            "[w13]\n"
            "own-use = 0.001\n");
  Replay({"--config", "gate.cfg"}, 1);
  Replay({"--config", "gate.cfg", "--policy", "bits"}, 0);
  Replay({"--config", "gate.cfg", "--w13.own-use", "1"}, 0);
}

TEST_F(Judging, AWrongConfigurationIsOneLineWithFileAndLine) {
  const auto refused = [&](const std::string& text, const std::string& what) {
    WriteText(Path("gate.cfg"), text);
    ExpectRefusal(Run({"replay", "--case", kCase, "--config", "gate.cfg"}), 2, what);
  };
  refused("policy = all\ntolerence = 1\n", "gate.cfg:2: unknown key 'tolerence'");
  refused("[w14]\nown-use = 1\n", "gate.cfg:2: unknown key 'w14.own-use'");
  refused("policy = most\n", "gate.cfg:1: policy: cannot be 'most'");
  refused("\n[w13]\nown-use = -1\n", "gate.cfg:3: w13.own-use: cannot be '-1'");
  refused("policy\n", "gate.cfg:1: 'policy' has no '='");
  refused("config = other.cfg\n", "gate.cfg:1: config cannot stand");
  refused("allow-skip = colour=red\n", "unknown key 'colour'");
  ExpectRefusal(Run({"replay", "--case", kCase, "--config", "none.cfg"}), 2, "none.cfg");
  ExpectRefusal(Run({"replay", "--case", kCase, "--policy", "most"}), 2, "--policy");
  ExpectRefusal(Run({"replay", "--case", kCase, "--w13.own-use", "nan"}), 2, "--w13.own-use");
}

TEST_F(Judging, ACaseWithoutAPlanIsSkippedAndFailsUnlessAllowed) {
  WriteText(Path("suite.txt"), std::string(kGrid) +
                                   "\nh=128;i=64;e=8;k=4;g=32;t=2;routing=invalid:-1;"
                                   "w13=8x128x64/1;w2=16x128x32/1\n");
  const nlohmann::json failed = Json({"gate", "--suite", "./suite.txt"}, 1);
  EXPECT_EQ(failed["summary"]["cases"], 2) << "the other case ran";
  EXPECT_EQ(failed["summary"]["skipped"], 1);
  EXPECT_NE(failed["cases"][1]["reason"].get<std::string>().find("no plan: topk_ids"),
            std::string::npos);
  const nlohmann::json passed =
      Json({"gate", "--suite", "./suite.txt", "--allow-skip", "routing=invalid*"}, 0);
  EXPECT_EQ(passed["summary"]["allowed_skips"], 1);
  Json({"gate", "--suite", "./suite.txt", "--allow-skip", "routing=zipf*"}, 1);
  // Skips alone prove nothing.
  Json({"sweep", "--suite", "./suite.txt", "--filter", "routing=invalid*", "--allow-skip",
        "routing=invalid*"},
       1);
}

TEST_F(Judging, SweepTakesGridsSamplesAndFilters) {
  const std::string grid = "h=128;i=64;e=8;k=2;g=32;t=1,2,3;w13=8x128x64/1;w2=16x128x32/1;seed=1,2";
  const nlohmann::json all = Json({"sweep", "--grid", grid}, 0);
  EXPECT_EQ(all["schema"], "voltcheck.sweep/1");
  EXPECT_EQ(all["summary"]["cases"], 6);
  EXPECT_EQ(all["cases"][4]["index"], 4);
  EXPECT_EQ(Json({"sweep", "--grid", grid, "--filter", "t=1|3"}, 0)["summary"]["cases"], 4);
  const auto sample = [&](const char* seed) {
    std::string text;
    for (const auto& one :
         Json({"sweep", "--grid", grid, "--random", "3", "--seed", seed}, 0)["cases"]) {
      text += one["descriptor"].get<std::string>() + "\n";
    }
    return text;
  };
  EXPECT_EQ(sample("1"), sample("1"));
  EXPECT_EQ(Json({"sweep", "--grid", kGrid, "--tactics", "8x128x64/1,16x128x32/1"},
                 0)["summary"]["cases"],
            2);
  ExpectRefusal(Run({"sweep"}), 2, "needs --grid, --suite or --random");
  ExpectRefusal(Run({"sweep", "--grid", grid, "--filter", "t=77"}), 2, "has no case");
  ExpectRefusal(Run({"sweep", "--random", "0"}), 2, "has no case");
}

TEST_F(Judging, RandomCasesPassAndAreTheSameEveryTime) {
  const Outcome first = Run({"sweep", "--random", "4", "--seed", "11", "--out", "a.h5"});
  EXPECT_EQ(first.status, 0) << first.out << first.err;
  const Outcome second = Run({"sweep", "--random", "4", "--seed", "11", "--out", "b.h5"});
  EXPECT_TRUE(ReadText(Path("a.h5")) == ReadText(Path("b.h5")));
}

TEST_F(Judging, AFileOfKernelsThatNoCaseRunsFails) {
  std::string ptx;
  for (const auto& file : std::filesystem::directory_iterator(VOLTCHECK_PTX_DIR)) {
    const std::string text = ReadText(file.path());
    if (file.path().extension() == ".ptx" && file.path().stem() == "grouped_gemm_32x128x32_g64") {
      ptx = text;
    }
  }
  ASSERT_FALSE(ptx.empty());
  WriteText(Path("mine.ptx"), ptx);
  const nlohmann::json json = Replay({"--kernels", "mine.ptx"}, 1);
  EXPECT_EQ(json["summary"]["passed"], 1);
  EXPECT_EQ(json["summary"]["passed_all"], false);
  EXPECT_FALSE(json["summary"]["unused_kernels"].empty());
  const Outcome table = Run({"replay", "--case", kCase, "--kernels", "mine.ptx"});
  EXPECT_NE(table.out.find("untested: mine.ptx: "), std::string::npos) << table.out;
}

}  // namespace
}  // namespace voltcheck::tools
