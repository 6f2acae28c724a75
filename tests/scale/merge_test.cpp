// Shards of a sweep and their merge: the bytes of the one-process run, or a line that names what is
// wrong.
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

TEST_F(MergeTest, ADryRunForeseesAndWritesNothing) {
  const Outcome outcome = Run(With(SweepWords("run.h5"), {"--dry-run"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("sweep of 48 cases: 48 cases"), std::string::npos) << outcome.out;
  EXPECT_FALSE(std::filesystem::exists(Path("run.h5")));
}

}  // namespace
}  // namespace voltcheck::tools
