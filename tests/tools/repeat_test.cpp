// `voltcheck replay --from RUN.h5`: a run repeated from its file alone.
#include <nlohmann/json.hpp>

#include "command.h"

namespace voltcheck::tools {
namespace {

using Json = nlohmann::json;

class RepeatTest : public CommandTest {
 protected:
  // One of the built kernels with its results truncated where they should be rounded.
  void WriteTruncatingKernels(const std::string& name) const {
    std::string ptx =
        ReadText(std::filesystem::path(VOLTCHECK_PTX_DIR) / "grouped_gemm_8x128x64_g32.ptx");
    const std::string rounding = "cvt.rn.f16.f32";
    std::size_t count = 0;
    for (std::size_t at = 0; (at = ptx.find(rounding, at)) != std::string::npos; ++count) {
      ptx.replace(at, rounding.size(), "cvt.rz.f16.f32");
    }
    ASSERT_GT(count, 0U);
    WriteText(Path(name), ptx);
  }

  Json Repeat(const std::string& run, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"replay", "--from", run, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = Run(words);
    EXPECT_LE(outcome.status, 1) << outcome.err;
    return Json::parse(outcome.out, nullptr, false);
  }

  Json Attributes(const std::string& run) const {
    return Json::parse(Run({"inspect", run, "--json"}).out, nullptr, false)["attributes"];
  }

  // Changes a text that stands in a file once, to one of the same length.
  void Edit(const std::string& file, const std::string& from, const std::string& to) const {
    ASSERT_EQ(from.size(), to.size());
    std::string bytes = ReadText(Path(file));
    const std::size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    bytes.replace(at, from.size(), to);
    WriteText(Path(file), bytes);
  }
};

TEST_F(RepeatTest, HandMadeKernelsComeFromTheFile) {
  WriteText(Path("suite.txt"),
            "h=128;i=64;e=4;k=2;g=32;t=1,9;w13=8x128x64/2;w2=8x128x64/1;seed=3;head=64\n");
  WriteText(Path("limits.cfg"), "policy = budget\nw2.own-use = 1.5\n");
  WriteTruncatingKernels("mine.ptx");
  const std::vector<std::string> gate{
      "gate",      "--suite",    "./suite.txt", "--seed",        "5",          "--draws",
      "0",         "--check",    "none",        "--allow-skip",  "t=1",        "--quiet",
      "--config",  "limits.cfg", "--out",       "run.h5",        "--schedule", "3",
      "--kernels", "mine.ptx",   "--head-fp64", "--contraction", "on",         "--breakdown"};
  ASSERT_EQ(Run(gate).status, 1) << "truncation is over the budget";
  std::filesystem::remove(Path("mine.ptx"));
  std::filesystem::remove(Path("limits.cfg"));
  std::filesystem::remove(Path("suite.txt"));

  const Json all = Repeat("run.h5", {"--out", "again.h5"});
  EXPECT_EQ(all["summary"]["same_bits"], true) << all["summary"];
  EXPECT_EQ(all["summary"]["same"], 2);
  EXPECT_EQ(all["summary"]["failed"], 2) << "the verdicts of then";
  const Json then = Attributes("run.h5");
  const Json now = Attributes("again.h5");
  for (const char* name : {"kernels_hash", "options", "numerics", "device_name"}) {
    EXPECT_EQ(then[name], now[name]);
  }
  // The repetition's file repeats as well, and one case alone.
  const Json one = Repeat("again.h5", {"--index", "1"});
  EXPECT_EQ(one["summary"]["same_bits"], true);
  EXPECT_EQ(one["summary"]["same"], 1);
  // What a reader would copy out of the report names the file that the kernels came from.
  const Json report = Json::parse(Run({"report", "run.h5", "--format", "json"}).out);
  const std::string line = report["cases"][0]["reproduction"].get<std::string>();
  EXPECT_NE(line.find(" --schedule 3 "), std::string::npos) << line;
  EXPECT_NE(line.find(" --contraction on"), std::string::npos) << line;
  EXPECT_TRUE(line.ends_with(" --kernels 'mine.ptx'")) << line;
  // Kernels that are not those of the file would be another run.
  WriteTruncatingKernels("mine.ptx");
  ExpectRefusal(Run({"replay", "--from", "run.h5", "--kernels", "mine.ptx"}), 2,
                "which brings its kernels along");
}

TEST_F(RepeatTest, OtherKernelsOtherBitsAndOtherFixturesAreSaid) {
  ASSERT_EQ(
      Run({"sweep", "--grid", "h=64;i=32;e=4;k=2;g=32;t=1,2", "--quiet", "--out", "run.h5"}).status,
      0);
  const std::string hash = Attributes("run.h5")["kernels_hash"].get<std::string>();
  Edit("run.h5", hash, std::string(hash.size(), 'a'));
  ExpectRefusal(
      Run({"replay", "--from", "run.h5"}), 2,
      "with the built-in kernels of another build (hash aaaaaaaaaaaa, here " + hash.substr(0, 12));

  const std::string fixture = ShippedFixture().string();
  ASSERT_EQ(Run({"replay", fixture, "--quiet", "--out", "fixture.h5"}).status, 0);
  EXPECT_EQ(Repeat("fixture.h5")["summary"]["same_bits"], true);
  const std::string named = Attributes("fixture.h5")["fixtures"].get<std::string>();
  const std::string of_file = named.substr(named.find('@') + 1);
  Edit("fixture.h5", of_file, std::string(of_file.size(), 'b'));
  ExpectRefusal(Run({"replay", "--from", "fixture.h5"}), 2, "ran another fixture of the name");
}

}  // namespace
}  // namespace voltcheck::tools
