// Faults planted into the built kernels: the gate must fail on each, with the verdict that fits.
// Each edit of the PTX asserts that it happened, so a compiler that writes other PTX shows here and
// not as a green test.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <regex>

#include "command.h"

namespace voltcheck::tools {
namespace {

constexpr const char* kSuite =
    "h=128;i=64;e=8;k=2;g=32;t=1,9;data=integer;cols=interleaved,halves;w13=8x128x64/1;w2=8x128x64/"
    "1\n"
    "h=128;i=64;e=8;k=2;g=32;t=9;w13=8x128x64/1;w2=8x128x64/1\n"
    "h=128;i=64;e=4;k=2;g=32;t=128;data=onehot;w13=8x128x64/1;w2=8x128x64/1\n";
constexpr int kCases = 6;
constexpr const char* kSplitSuite =
    "h=128;i=64;e=4;k=2;g=32;t=5;data=integer;w13=8x128x64/2;w2=8x128x64/1\n";

class FaultTest : public CommandTest {
 protected:
  // The built module that has this entry.
  static std::string BuiltPtx(const std::string& entry) {
    for (const auto& file : std::filesystem::directory_iterator(VOLTCHECK_PTX_DIR)) {
      if (file.path().extension() == ".ptx") {
        std::string ptx = ReadText(file.path());
        if (ptx.find(".entry " + entry + "(") != std::string::npos) {
          return ptx;
        }
      }
    }
    ADD_FAILURE() << "no built module has the entry " << entry;
    return "";
  }

  // The module of `entry` with the text after the `skip` first matches of `pattern` in it replaced.
  static std::string Edited(const std::string& entry, const std::string& pattern,
                            const std::string& replacement, int skip = 0) {
    std::string ptx = BuiltPtx(entry);
    std::size_t at = ptx.find(".entry " + entry + "(");
    EXPECT_NE(at, std::string::npos) << "no entry " << entry;
    const std::regex regex(pattern);
    std::smatch match;
    std::string rest = ptx.substr(at);
    for (;; --skip) {
      if (!std::regex_search(rest, match, regex)) {
        ADD_FAILURE() << "this toolkit's PTX of " << entry << " has no " << pattern;
        return ptx;
      }
      if (skip == 0) {
        break;
      }
      at += static_cast<std::size_t>(match.position() + match.length());
      rest = ptx.substr(at);
    }
    std::string edited =
        ptx.substr(0, at) + match.prefix().str() + match.format(replacement) + match.suffix().str();
    EXPECT_NE(edited, ptx);
    return edited;
  }

  // Runs the gate over the built kernels with one module replaced.
  nlohmann::json GateWith(const std::string& ptx, int* status, const char* suite = kSuite) const {
    WriteText(Path("suite.txt"), suite);
    WriteText(Path("changed.ptx"), ptx);
    const Outcome gate =
        Run({"gate", "--suite", "./suite.txt", "--kernels", "changed.ptx", "--json"});
    *status = gate.status;
    EXPECT_EQ(gate.err, "");
    return nlohmann::json::parse(gate.out, nullptr, false);
  }

  void ExpectFailed(const std::string& ptx, const std::string& verdict, const std::string& reason,
                    const char* suite = kSuite) const {
    int status = 0;
    const nlohmann::json json = GateWith(ptx, &status, suite);
    ASSERT_EQ(status, 1);
    EXPECT_GT(json["summary"][verdict], 0) << json["summary"];
    bool said = false;
    for (const nlohmann::json& one : json["cases"]) {
      said = said || one["reason"].get<std::string>().find(reason) != std::string::npos;
    }
    EXPECT_TRUE(said) << "no case says '" << reason << "': " << json["cases"][0]["reason"];
  }
};

TEST_F(FaultTest, TheBuiltKernelsPassWhenGivenAsAFile) {
  for (const char* name : {"grouped_gemm_8x128x64_g32_4b", "awq_repack_weights", "moe_segments"}) {
    int status = -1;
    const nlohmann::json json = GateWith(BuiltPtx(name), &status);
    EXPECT_EQ(status, 0) << name;
    EXPECT_EQ(json["summary"]["passed"], kCases);
  }
}

TEST_F(FaultTest, OneNibbleOrder) {
  // 0x6240 takes the even nibble pairs of two words; 0x7351 is the odd ones.
  const std::string ptx = Edited("awq_repack_weights", "25152;", "29521;");
  ExpectFailed(ptx, "failed", "w13: ");
}

TEST_F(FaultTest, OneZeroPoint) {
  // One of the eight zero points of a word loses its lowest bit.
  for (const int skip : {0, 4}) {
    const std::string ptx = Edited("awq_repack_metadata_4b", R"(and\.b32(\s+%r\d+, %r\d+), 15;)",
                                   "and.b32$1, 14;", skip);
    ExpectFailed(ptx, "failed", "");
  }
}

TEST_F(FaultTest, OneOffset) {
  // The comparison that starts a segment.
  const std::string ptx =
      Edited("moe_segments", R"(setp\.ne\.s32(\s+%p\d+, %r\d+, %r\d+;))", "setp.eq.s32$1");
  ExpectFailed(ptx, "failed", "active_expert_offsets[");
}

TEST_F(FaultTest, OffsetsBehindTheLastSegment) {
  // They must all be the number of rows; anything else gives the GEMM segments that are not there.
  ExpectFailed(Edited("moe_segments", R"((st\.global\.u32\s+\[%rd\d+\]), %r4;)", "$1, %r68;"),
               "checker", "");
}

TEST_F(FaultTest, AnExpertIdThatLeavesTheOutputsRight) {
  // Ids behind the last segment must be 0. The segments there are empty, so no output shows them.
  const std::string ptx =
      Edited("moe_segments", R"((st\.global\.u32\s+\[%rd\d+\]), %r69;)", "$1, %r4;");
  int status = 0;
  const nlohmann::json json = GateWith(ptx, &status);
  EXPECT_EQ(status, 1);
  for (const nlohmann::json& one : json["cases"]) {
    if (one["verdict"] == "failed") {
      EXPECT_TRUE(one["reason"].get<std::string>().starts_with("active_expert_ids["))
          << one["reason"];
      EXPECT_EQ(one["stages"]["output"]["verdict"], "passed");
    }
  }
}

TEST_F(FaultTest, OneBarrier) {
  // Between the stores of a tile and the loads of it.
  ExpectFailed(Edited("grouped_gemm_8x128x64_g32_4b", R"(bar\.sync\s+0;)", ""), "checker", "race");
  ExpectFailed(Edited("moe_segments", R"(bar\.sync\s+0;)", ""), "checker", "race");
  ExpectFailed(Edited("moe_permute", R"(bar\.sync\s+0;)", ""), "checker", "race");
}

// Split-K hands a tile from CTA to CTA. Each part of the hand-over is needed, though the
// simulator's sums stay right without it.
TEST_F(FaultTest, EveryPartOfTheSplitKHandOver) {
  const std::string entry = "grouped_gemm_8x128x64_g32_4b";
  const std::string ptx = BuiltPtx(entry);
  const std::size_t begin = ptx.find(".entry " + entry + "(");
  const std::size_t acquire = ptx.find("ld.acquire.gpu", begin);
  const std::size_t release = ptx.find("st.release.gpu", begin);
  ASSERT_NE(acquire, std::string::npos);
  ASSERT_NE(release, std::string::npos);
  const std::size_t awaited = ptx.find("bar.sync", acquire);
  const std::size_t passed = ptx.rfind("bar.sync", release);
  ASSERT_LT(acquire, awaited);
  ASSERT_LT(awaited, passed);
  ASSERT_LT(passed, release);
  struct Edit {
    std::size_t at;
    const char* from;
    const char* to;
  };
  for (const Edit& edit :
       {Edit{awaited, "bar.sync", "// "}, Edit{passed, "bar.sync", "// "},
        Edit{acquire, "ld.acquire", "ld.relaxed"}, Edit{release, "st.release", "st.relaxed"}}) {
    SCOPED_TRACE(edit.from);
    std::string edited = ptx;
    ASSERT_EQ(edited.compare(edit.at, std::strlen(edit.from), edit.from), 0);
    edited.replace(edit.at, std::strlen(edit.from), edit.to);
    ExpectFailed(edited, "checker", "race", kSplitSuite);
  }
  int status = -1;
  EXPECT_EQ(GateWith(ptx, &status, kSplitSuite)["summary"]["failed"], 0);
  EXPECT_EQ(status, 0);
}

TEST_F(FaultTest, AFailurePrintsTheLineThatRepeatsIt) {
  const std::string ptx = Edited("awq_repack_weights", "25152;", "29521;");
  WriteText(Path("changed.ptx"), ptx);
  WriteText(Path("suite.txt"), kSuite);
  const Outcome gate = Run({"gate", "--suite", "./suite.txt", "--kernels", "changed.ptx"});
  EXPECT_EQ(gate.status, 1);
  const std::string start = "  voltcheck replay --case '";
  const std::size_t at = gate.out.find(start);
  ASSERT_NE(at, std::string::npos) << gate.out;
  const std::string line = gate.out.substr(at + 2, gate.out.find('\n', at) - at - 2);
  EXPECT_NE(line.find("--kernels 'changed.ptx'"), std::string::npos) << line;
  const std::string command = "cd " + Quoted(folder().string()) + " && " +
                              Quoted(VOLTCHECK_BINARY) +
                              line.substr(std::string("voltcheck").size()) + " >/dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1) << command;
}

TEST_F(FaultTest, TheRunFileKeepsTheValuesAroundAFailure) {
  WriteText(Path("suite.txt"), kSuite);
  WriteText(Path("changed.ptx"), Edited("awq_repack_weights", "25152;", "29521;"));
  EXPECT_EQ(
      Run({"gate", "--suite", "./suite.txt", "--kernels", "changed.ptx", "--out", "run.h5"}).status,
      1);
  const nlohmann::json run = nlohmann::json::parse(Run({"inspect", "run.h5", "--json"}).out);
  EXPECT_EQ(run["complete"], true);
  bool found = false;
  for (const auto& [name, shape] : run["arrays"].items()) {
    found = found || (name.starts_with("/failures/") && name.ends_with("/w13/got") &&
                      shape.get<std::string>().starts_with("float32"));
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace voltcheck::tools
