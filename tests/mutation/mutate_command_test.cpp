// `voltcheck mutate` as a user calls it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"

namespace voltcheck::tools {
namespace {

using Json = nlohmann::json;

class MutateCommand : public CommandTest {
 protected:
  static std::vector<std::string> Words(const std::vector<std::string>& more) {
    std::vector<std::string> words{"mutate", "--jobs", "1", "--kill-only"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Json JsonOf(const std::vector<std::string>& more, int status) const {
    std::vector<std::string> words = Words(more);
    words.emplace_back("--json");
    const Outcome outcome = Run(words);
    EXPECT_EQ(outcome.status, status) << outcome.out << outcome.err;
    return Json::parse(outcome.out, nullptr, false);
  }
};

TEST_F(MutateCommand, CountsRecordsAndGoesOn) {
  const std::vector<std::string> words{
      "--kernel", "moe_segments", "--operators",  "drop-barrier", "--honest",
      "3",        "--out",        Path("run.h5"), "--journal",    Path("j.jsonl")};
  const Json first = JsonOf(words, 0);
  EXPECT_EQ(first["schema"], "voltcheck.mutate/1");
  EXPECT_EQ(first["summary"]["mutants"], 2);
  EXPECT_EQ(first["summary"]["caught"], 2);
  EXPECT_EQ(first["summary"]["honest"]["cases"], 3);
  EXPECT_EQ(first["summary"]["honest"]["voltcheck"], 0);
  EXPECT_EQ(first["summary"]["complete"], true);
  for (const Json& mutant : first["cases"]) {
    EXPECT_EQ(mutant["operator"], "drop-barrier");
    EXPECT_EQ(mutant["kernel"], "moe_segments");
    EXPECT_EQ(mutant["fate"], "caught");
    EXPECT_NE(mutant["verdict"], "passed");
  }
  const std::string run = ReadText(Path("run.h5"));
  EXPECT_FALSE(run.empty());
  // The journal has everything, so the same comes out without a mutant being looked for again.
  const std::string journal = ReadText(Path("j.jsonl"));
  EXPECT_EQ(std::count(journal.begin(), journal.end(), '\n'), 4) << journal;
  EXPECT_EQ(JsonOf(words, 0), first);
  EXPECT_EQ(ReadText(Path("j.jsonl")), journal);
  EXPECT_EQ(ReadText(Path("run.h5")), run);
  // A line that was cut off is as if it had not been.
  WriteText(Path("j.jsonl"), journal.substr(0, journal.size() - 20));
  const Json again = JsonOf(words, 0);
  EXPECT_EQ(again["summary"]["caught"], 2);
  EXPECT_EQ(again["summary"]["honest"], first["summary"]["honest"]);
  // The cases that caught mutants are cases of a run file as any other.
  const Outcome inspected = Run({"inspect", Path("run.h5"), "--json"});
  EXPECT_EQ(Json::parse(inspected.out, nullptr, false)["summary"]["cases"], 2) << inspected.err;
}

TEST_F(MutateCommand, PrintsTheTable) {
  const Outcome outcome = Run(Words({"--kernel", "moe_segments", "--operators", "drop-barrier",
                                     "--sample", "1", "--markdown", "--ptxas", "none"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("| Voltcheck | 1 | 0 | 0 |"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("1 mutants: 1 caught"), std::string::npos) << outcome.out;
}

TEST_F(MutateCommand, KernelsOfAFileStandForTheBuiltInOnes) {
  const std::string ptx = ReadText(std::filesystem::path(VOLTCHECK_PTX_DIR) / "moe_gather.ptx");
  ASSERT_FALSE(ptx.empty());
  WriteText(Path("my.ptx"), ptx);
  const Json json = JsonOf({"--kernels", Path("my.ptx"), "--operators", "address-register",
                            "--sample", "2", "--budget-cases", "1"},
                           0);
  EXPECT_EQ(json["summary"]["mutants"], 2);
  for (const Json& mutant : json["cases"]) {
    EXPECT_NE(ptx.find(".entry " + mutant["kernel"].get<std::string>() + "("), std::string::npos);
    EXPECT_TRUE(mutant["fate"] != "caught" || mutant["deep"] || mutant["cases_run"] == 1);
  }
}

// A weaker gate does not reach the target, and the status says so.
TEST_F(MutateCommand, FailsBelowTheTarget) {
  const std::vector<std::string> mutants{"--operators", "router-weight",  "--sample",
                                         "2",           "--budget-cases", "2"};
  const Json strong = JsonOf(mutants, 0);
  EXPECT_EQ(strong["summary"]["caught"], 2);
  EXPECT_EQ(strong["summary"]["caught_share"], 1);
  std::vector<std::string> weaker = Words(mutants);
  weaker.insert(weaker.end(), {"--policy", "reference", "--quiet"});
  const Outcome weak = Run(weaker);
  EXPECT_EQ(weak.status, 1);
  EXPECT_NE(weak.out.find("survived router-weight@plan#"), std::string::npos) << weak.out;
  EXPECT_NE(weak.out.find("FAILED"), std::string::npos) << weak.out;
}

TEST_F(MutateCommand, RefusesInOneLine) {
  ExpectRefusal(Run(Words({"--policy", "most"})), 2, "most");
  ExpectRefusal(Run(Words({"--check", "some"})), 2, "--check some");
  ExpectRefusal(Run(Words({"--operators", "no-such"})), 2, "no such operator");
  ExpectRefusal(Run(Words({"--kernel", "no_such"})), 2, "no such kernel");
  ExpectRefusal(Run(Words({"--ptxas", "/nowhere/ptxas"})), 2, "--ptxas: /nowhere/ptxas cannot be");
  ExpectRefusal(Run(Words({}), "VOLTCHECK_PTXAS=/nowhere/ptxas; export VOLTCHECK_PTXAS;"), 2,
                "VOLTCHECK_PTXAS: /nowhere/ptxas cannot be");
  WriteText(Path("other.jsonl"), "{\"schema\":\"another\"}\n");
  ExpectRefusal(Run(Words({"--journal", Path("other.jsonl"), "--only-honest", "--honest", "1"})), 2,
                "the journal of another campaign");
}

// Stopped from outside, everything that was finished is in the file, which says that it is not all.
TEST_F(MutateCommand, AnInterruptedRunSaysSo) {
  const Outcome outcome = Run(Words({"--only-honest", "--honest", "1000000", "--json", "--out",
                                     Path("run.h5"), "--journal", Path("j.jsonl")}),
                              "(sleep 2; kill -INT $$) &");
  EXPECT_EQ(outcome.status, 4) << outcome.err;
  const Json json = Json::parse(outcome.out, nullptr, false);
  EXPECT_EQ(json["summary"]["complete"], false);
  EXPECT_LT(json["summary"]["honest"]["cases"], 1000000);
  const Json inspected =
      Json::parse(Run({"inspect", Path("run.h5"), "--json"}).out, nullptr, false);
  EXPECT_EQ(inspected["complete"], false);
}

}  // namespace
}  // namespace voltcheck::tools
