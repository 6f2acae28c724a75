// Shards of a sweep and their merge: the bytes of the one-process run, or a line that names what is
// wrong.
#include <nlohmann/json.hpp>

#include "sweep_test.h"

namespace voltcheck::tools {
namespace {

class MergeTest : public SweepTest {
 protected:
  std::string RunShard(const std::string& shard, std::vector<std::string> words = {}) const {
    std::string name = "s" + shard + ".h5";
    name[name.find('/')] = '-';
    if (words.empty()) {
      words = SweepWords(name);
    } else {
      words.insert(words.end(), {"--out", name, "--quiet"});
    }
    const Outcome outcome = Run(With(words, {"--shard", shard}));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return name;
  }
};

TEST_F(MergeTest, TheMergeOfShardsIsTheWholeRun) {
  const std::string whole = Undisturbed();
  std::vector<std::string> words{"merge", "--out", "merged.h5", "--quiet"};
  for (const char* shard : {"3/3", "1/3", "2/3"}) {
    words.push_back(RunShard(shard));
  }
  const Outcome merge = Run(words);
  EXPECT_EQ(merge.status, 0) << merge.err;
  EXPECT_TRUE(ReadText(Path("merged.h5")) == whole);
  // A shard by itself is a run file like any other.
  const Outcome inspect = Run({"inspect", "s2-3.h5"});
  EXPECT_NE(inspect.out.find("shard: 2/3"), std::string::npos) << inspect.out;
}

TEST_F(MergeTest, WhatDoesNotBelongTogetherIsNamed) {
  const std::string first = RunShard("1/2");
  const std::string second = RunShard("2/2");
  ExpectRefusal(Run({"merge", first, "--out", "m.h5"}), 2, "shard 2/2 is missing");
  ExpectRefusal(Run({"merge", first, second, first, "--out", "m.h5"}), 2,
                "overlaps with s1-2.h5: both are shard 1/2");
  const std::string third = RunShard("1/3");
  ExpectRefusal(Run({"merge", first, third, "--out", "m.h5"}), 2,
                "is shard 1/3, s1-2.h5 is shard 1/2");
  const std::string other = RunShard(
      "2/2", {"sweep", "--grid", "h=64;i=32;e=4;k=2;g=32;t=1,2;seed=1..4", "--schedule", "5"});
  ExpectRefusal(Run({"merge", first, other, "--out", "m.h5"}), 2, "was made with other arguments");
  ExpectRefusal(Run({"merge", first, "missing.h5", "--out", "m.h5"}), 2, "missing.h5");
  Undisturbed();
  ExpectRefusal(Run({"merge", first, "whole.h5", "--out", "m.h5"}), 2, "is no shard of a run");
  std::string bytes = ReadText(Path(first));
  WriteText(Path("cut.h5"), bytes.substr(0, bytes.size() / 2));
  ExpectRefusal(Run({"merge", first, "cut.h5", "--out", "m.h5"}), 2, "cut.h5");
  ExpectRefusal(Run({"merge"}), 2, "needs the run files of shards");
  EXPECT_FALSE(std::filesystem::exists(Path("m.h5")));
}

TEST_F(MergeTest, OtherKernelsAreNamed) {
  const std::string first = RunShard("1/2");
  std::string ptx;
  for (const auto& file : std::filesystem::directory_iterator(VOLTCHECK_PTX_DIR)) {
    if (file.path().filename() == "moe_reduce.ptx") {
      ptx = file.path().string();
    }
  }
  ASSERT_FALSE(ptx.empty());
  std::filesystem::copy_file(ptx, Path("moe_reduce.ptx"));
  const Outcome outcome =
      Run(With(SweepWords("other.h5"), {"--shard", "2/2", "--kernels", "moe_reduce.ptx"}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  ExpectRefusal(Run({"merge", first, "other.h5", "--out", "m.h5"}), 2,
                "was made with other kernels");
}

// How near it comes is measured by hand (docs/scale.md): what a test machine does beside it moves
// the time. The disk does not depend on that.
TEST_F(MergeTest, ADryRunForeseesAndWritesNothing) {
  const Outcome outcome = Run(With(SweepWords("run.h5"), {"--dry-run", "--json"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << outcome.out;
  EXPECT_EQ(json["cases"], 48);
  EXPECT_EQ(json["probes"], 48) << "so small a sweep is run whole";
  EXPECT_GT(json["wall_seconds"], 0);
  EXPECT_FALSE(std::filesystem::exists(Path("run.h5")));
  for (const std::string& name : Names()) {
    EXPECT_EQ(name.find("run.h5"), std::string::npos) << name;
  }
  const auto bytes = static_cast<double>(Undisturbed().size());
  EXPECT_NEAR(json["run_file_bytes"].get<double>() / bytes, 1, 0.25);
}

}  // namespace
}  // namespace voltcheck::tools
