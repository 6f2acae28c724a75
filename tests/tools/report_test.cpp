// `voltcheck report` and `voltcheck diff` on a run that the gate made: statuses, files, refusals.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "command.h"

namespace voltcheck::tools {
namespace {

class ReportCommand : public CommandTest {
 protected:
  ReportCommand() {
    WriteText(Path("small.txt"),
              "h=128;i=64;e=8;k=2;g=32;t=1,3;data=integer;w13=8x128x64/1;w2=16x128x32/1\n");
    EXPECT_EQ(Run({"gate", "--suite", "./small.txt", "--out", "run.h5"}).status, 0);
  }
};

TEST_F(ReportCommand, EveryFormatIsMadeAndTheSameEachTime) {
  EXPECT_EQ(Run({"report", "run.h5"}).status, 0);
  const std::string html = ReadText(Path("run.html"));
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(Run({"report", "run.h5", "--out", "again.html"}).status, 0);
  EXPECT_TRUE(html == ReadText(Path("again.html")));
  EXPECT_EQ(nlohmann::json::parse(Run({"report", "run.h5", "--format", "json"}).out)["outcome"],
            "PASSED");
  EXPECT_TRUE(Run({"report", "run.h5", "--format", "junit"}).out.starts_with("<?xml"));
  EXPECT_TRUE(Run({"report", "run.h5", "--format", "csv"}).out.starts_with("case,descriptor"));
  EXPECT_TRUE(Run({"report", "run.h5", "--format", "md"}).out.starts_with("### Voltcheck PASSED"));
}

TEST_F(ReportCommand, WrongUseAndBadFilesAreOneLine) {
  ExpectRefusal(Run({"report"}), 2, "needs a run file");
  ExpectRefusal(Run({"report", "run.h5", "--format", "pdf"}), 2, "use html, md, junit");
  ExpectRefusal(Run({"report", "small.txt"}), 2, "is no HDF5 file");
  ExpectRefusal(Run({"report", ShippedFixture().string()}), 2, "voltcheck.fixture/1");
  ExpectRefusal(Run({"report", "run.h5", "--out", "missing/run.html"}), 2, "missing/run.html");
  const std::string whole = ReadText(Path("run.h5"));
  WriteText(Path("cut.h5"), whole.substr(0, whole.size() / 2));
  ExpectRefusal(Run({"report", "cut.h5"}), 2, "cut.h5: is damaged or truncated");
  ExpectRefusal(Run({"diff", "run.h5", "cut.h5"}), 2, "cut.h5: is damaged or truncated");
  ExpectRefusal(Run({"diff", "run.h5"}), 2, "needs two run files");
  ExpectRefusal(Run({"diff", "run.h5", "run.h5", "--fail-on", "rain"}), 2,
                "use regression or any-bit");
}

TEST_F(ReportCommand, DiffSaysWhatChangedAndFailsOnRequest) {
  const Outcome same = Run({"diff", "run.h5", "run.h5", "--fail-on", "any-bit"});
  EXPECT_EQ(same.status, 0);
  EXPECT_EQ(same.out, "A/A: 2 cases in both: bit-equal\n");
  EXPECT_EQ(Run({"gate", "--suite", "./small.txt", "--seed", "1", "--out", "other.h5"}).status, 0);
  ExpectRefusal(Run({"diff", "run.h5", "other.h5"}), 2, "has no case in common with run.h5");
  // A limit that nothing can keep makes the same cases fail with the same bits.
  EXPECT_EQ(
      Run({"gate", "--suite", "./small.txt", "--out", "strict.h5", "--output.own-use", "0.01"})
          .status,
      1);
  const Outcome worse = Run({"diff", "run.h5", "strict.h5", "--fail-on", "regression"});
  EXPECT_EQ(worse.status, 1) << worse.out;
  EXPECT_NE(worse.out.find("passed -> failed"), std::string::npos) << worse.out;
  EXPECT_EQ(Run({"diff", "run.h5", "strict.h5"}).status, 0) << "only on request";
  EXPECT_EQ(Run({"diff", "strict.h5", "run.h5", "--fail-on", "regression"}).status, 0);
  const auto json = nlohmann::json::parse(Run({"diff", "run.h5", "strict.h5", "--json"}).out);
  EXPECT_EQ(json["bit_equal"], true);
  EXPECT_EQ(json["regressed"], true);
}

TEST_F(ReportCommand, AFailingGatesTableFitsEightyColumns) {
  const Outcome gate =
      Run({"gate", "--suite", "./small.txt", "--output.own-use", "0.01"}, "TERM=xterm");
  EXPECT_EQ(gate.status, 1);
  std::istringstream lines(gate.out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.size() <= 80 || line.find("voltcheck replay") != std::string::npos) << line;
  }
}

// `script` gives the command a terminal.
TEST_F(ReportCommand, ColoursAreForTerminalsAndNeverWithNoColor) {
  if (std::system("command -v script >/dev/null") != 0) {
    GTEST_SKIP() << "script (bsdutils) is not installed";
  }
  const auto on_terminal = [&](const std::string& environment) {
    const std::string gate = environment + " " + Quoted(VOLTCHECK_BINARY) +
                             " gate --suite ./small.txt --output.own-use 0.01";
    EXPECT_NE(std::system(("cd " + Quoted(folder().string()) + " && script -qec " + Quoted(gate) +
                           " typed </dev/null >/dev/null 2>&1")
                              .c_str()),
              0);
    return ReadText(Path("typed"));
  };
  EXPECT_NE(on_terminal("TERM=xterm NO_COLOR=").find("\x1b[31mFAILED"), std::string::npos);
  const std::string plain = on_terminal("TERM=xterm NO_COLOR=1");
  EXPECT_NE(plain.find("FAILED"), std::string::npos) << plain;
  EXPECT_EQ(plain.find("\x1b[3"), std::string::npos) << plain;
}

}  // namespace
}  // namespace voltcheck::tools
