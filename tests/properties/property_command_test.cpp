// Properties as a user of `voltcheck gate` and `voltcheck replay` meets them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "command.h"
#include "verify/properties/property.h"

namespace voltcheck::tools {
namespace {

using Json = nlohmann::json;

constexpr const char* kGrid = "h=32;i=32;e=2;k=2;g=32;t=1;w13=16x128x32/1;w2=16x128x32/1\n";
constexpr const char* kCase = "h=32,i=32,e=2,k=2,g=32,t=2,w13=16x128x32/1,w2=16x128x32/1";

class PropertyCommand : public CommandTest {
 protected:
  PropertyCommand() { WriteText(Path("suite.txt"), kGrid); }

  // The reduction with every router weight squared: no longer linear in them.
  std::string FaultyReduction() const {
    const std::string ptx = ReadText(std::filesystem::path(VOLTCHECK_PTX_DIR) / "moe_reduce.ptx");
    const std::regex load(R"((ld\.global\.f32\s+(%f\d+), \[%rd\d+(?:\+\d+)?\];))");
    const std::string faulty = std::regex_replace(ptx, load, "$1 mul.rn.f32 $2, $2, $2;");
    EXPECT_NE(faulty, ptx);
    WriteText(Path("faulty.ptx"), faulty);
    return Path("faulty.ptx");
  }
  Outcome Gate(std::vector<std::string> more) const {
    more.insert(more.begin(), {"gate", "--suite", Path("suite.txt"), "--out", Path("run.h5"),
                               "--jobs", "1", "--json"});
    return Run(more);
  }
  Json Summary(const std::vector<std::string>& more, int status) const {
    const Outcome outcome = Gate(more);
    EXPECT_EQ(outcome.status, status) << outcome.out << outcome.err;
    return Json::parse(outcome.out, nullptr, false)["summary"];
  }
};

TEST_F(PropertyCommand, ASuiteOfOnesOwnAsksNoneUnlessTold) {
  EXPECT_FALSE(Summary({}, 0).contains("properties"));
  EXPECT_FALSE(Summary({"--draws", "0"}, 0).contains("properties"));
}

// They are asked whether or not anything is drawn, and what holds stays in the file as it stands.
TEST_F(PropertyCommand, RegressionsAreAskedWithoutDraws) {
  const std::string text = std::string("# kept\ntoken-alone ") + kCase + "\n";
  WriteText(Path("known.txt"), text);
  const Json asked = Summary({"--regressions", Path("known.txt"), "--draws", "0"}, 0)["properties"];
  EXPECT_EQ(asked["held"], 1);
  ASSERT_EQ(asked["checks"].size(), 1U);
  EXPECT_EQ(asked["checks"][0]["property"], "token-alone");
  EXPECT_EQ(asked["checks"][0]["regression"], true);
  EXPECT_EQ(ReadText(Path("known.txt")), text);
  // None yet is no failure.
  EXPECT_EQ(Summary({"--regressions", Path("none.txt"), "--draws", "0"}, 0)["properties"]["held"],
            0);
}

TEST_F(PropertyCommand, ARegressionThatBreaksFailsTheGate) {
  const std::string text = std::string("linear-weights ") + kCase + ",data=integer\n";
  WriteText(Path("known.txt"), text);
  const Json asked = Summary({"--regressions", Path("known.txt"), "--draws", "0"}, 0)["properties"];
  EXPECT_EQ(asked["held"], 1);
  const Json broken =
      Summary({"--regressions", Path("known.txt"), "--draws", "0", "--kernels", FaultyReduction()},
              1)["properties"];
  EXPECT_EQ(broken["broken"], 1);
  EXPECT_EQ(broken["checks"][0]["property"], "linear-weights");
  EXPECT_EQ(ReadText(Path("known.txt")).rfind(text, 0), 0U);
}

// One draw asks every property once; what breaks is made smaller and goes into the file.
TEST_F(PropertyCommand, ANewCounterexampleIsAdded) {
  WriteText(Path("new.txt"), "# none yet\n");
  const Json found =
      Summary({"--regressions", Path("new.txt"), "--draws", "1", "--kernels", FaultyReduction()},
              1)["properties"];
  EXPECT_GE(found["broken"], 1);
  std::set<std::string> names;
  for (const Json& check : found["checks"]) {
    EXPECT_TRUE(names.insert(check["property"]).second) << check["property"];
    EXPECT_EQ(check["regression"], false);
  }
  EXPECT_EQ(names.size(), properties::Properties().size());
  const std::string text = ReadText(Path("new.txt"));
  EXPECT_EQ(text.rfind("# none yet\n", 0), 0U);
  EXPECT_NE(text.find("\nlinear-weights "), std::string::npos) << text;
}

TEST_F(PropertyCommand, ReplayAsksOneProperty) {
  EXPECT_EQ(Run({"replay", "--property", "linear-weights", "--case", kCase}).status, 0);
  const Outcome broken = Run(
      {"replay", "--property", "linear-weights", "--case", kCase, "--kernels", FaultyReduction()});
  EXPECT_EQ(broken.status, 1) << broken.out << broken.err;
  EXPECT_NE(broken.out.find("router weights"), std::string::npos) << broken.out;
  ExpectRefusal(Run({"replay", "--property", "no-such", "--case", kCase}), 2, "no-such");
  ExpectRefusal(Run({"replay", "--property", "linear-weights"}), 2, "needs either --case");
}

TEST_F(PropertyCommand, RefusesInOneLine) {
  ExpectRefusal(Run({"gate", "--draws", "many"}), 2, "--draws");
  WriteText(Path("bad.txt"), "no-such " + std::string(kCase) + "\n");
  ExpectRefusal(Gate({"--regressions", Path("bad.txt")}), 2, "bad.txt:1");
  EXPECT_FALSE(std::filesystem::exists(Path("run.h5"))) << "refused before the first case";
}

}  // namespace
}  // namespace voltcheck::tools
