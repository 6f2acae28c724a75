#include "kernels/kernel_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "fake_device.h"
#include "fixtures/case/error.h"
#include "fixtures/case/tactic.h"
#include "kernels/plan_parts.h"

namespace voltcheck::kernels {
namespace {

using testing::FakeDevice;

TEST(EntryNames, FindsEntriesAndNothingElse) {
  const std::string ptx =
      "// .entryless\n.visible .entry first(\n.param .u64 p)\n{ ret; }\n"
      ".func notme() { ret; }\n.entry\n\tsecond\n(\n)\n{ ret; }\n.weak .entry third{}\n";
  EXPECT_EQ(EntryNames(ptx), (std::vector<std::string>{"first", "second", "third"}));
  EXPECT_TRUE(EntryNames("").empty());
  EXPECT_TRUE(EntryNames(".entry").empty());
}

TEST(BuiltInModules, AreSm70PtxWithACubinEach) {
  const std::vector<ModuleImage>& modules = BuiltInModules();
  ASSERT_FALSE(modules.empty());
  EXPECT_TRUE(std::is_sorted(modules.begin(), modules.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const ModuleImage& module : modules) {
    EXPECT_NE(module.ptx.find(".target sm_70"), std::string::npos) << module.name;
    EXPECT_EQ(module.ptx.back(), '\n')
        << module.name << ": cut off, or the final zero byte is inside";
    ASSERT_GT(module.sm70_cubin.size(), 4U) << module.name;
    EXPECT_EQ(std::memcmp(module.sm70_cubin.data(), "\177ELF", 4), 0) << module.name;
  }
}

TEST(BuiltInModules, DoNotNameTheMachineTheyWereBuiltOn) {
  for (const ModuleImage& module : BuiltInModules()) {
    std::size_t files = 0;
    for (std::size_t at = module.ptx.find("\t.file\t"); at != std::string::npos;
         at = module.ptx.find("\t.file\t", at + 1)) {
      const std::string line = module.ptx.substr(at, module.ptx.find('\n', at) - at);
      const std::size_t path = line.find('"') + 1;
      EXPECT_NE(line[path], '/') << line;
      EXPECT_EQ(line.find(','), std::string::npos) << line << ": a time stamp";
      ++files;
    }
    EXPECT_GE(files, 1U) << module.name << " has no line information";
  }
}

TEST(BuiltInModules, HoldEveryTacticInBothFormsOnce) {
  std::map<std::string, int> count;
  for (const ModuleImage& module : BuiltInModules()) {
    for (const std::string& entry : EntryNames(module.ptx)) {
      ++count[entry];
    }
  }
  for (const int group : {32, 64, 128}) {
    for (const Tile& tile : TilesForGroup(group)) {
      for (const Metadata metadata : {Metadata::k4Byte, Metadata::k3Byte}) {
        EXPECT_EQ(count[GemmEntry(tile, group, metadata)], 1) << GemmEntry(tile, group, metadata);
      }
    }
  }
  for (const auto& [entry, times] : count) {
    EXPECT_EQ(times, 1) << entry;
  }
}

TEST(HashModules, DependsOnNamesAndTextButNotOnFolders) {
  const ModuleImage a{"a.ptx", "text", {}};
  EXPECT_EQ(HashModules({a}), HashModules({{"/some/folder/a.ptx", "text", {}}}));
  EXPECT_NE(HashModules({a}), HashModules({{"b.ptx", "text", {}}}));
  EXPECT_NE(HashModules({a}), HashModules({{"a.ptx", "texu", {}}}));
  EXPECT_NE(HashModules({{"a", "bc", {}}}), HashModules({{"ab", "c", {}}}));
  // SHA-256 of nothing at all: pins algorithm and text form.
  EXPECT_EQ(HashModules({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(KernelSet, LoadsAModuleWhenItsFirstEntryIsNeeded) {
  FakeDevice device;
  KernelSet kernels(device, {});
  EXPECT_TRUE(device.loaded.empty());
  kernels.Find("moe_reduce");
  kernels.Find("moe_reduce");
  EXPECT_EQ(device.loaded, std::vector<std::string>{"moe_reduce.ptx"});
  kernels.Find("awq_repack_weights");
  kernels.Find("awq_repack_metadata_4b");
  EXPECT_EQ(device.loaded, (std::vector<std::string>{"moe_reduce.ptx", "awq_repack.ptx"}));
}

TEST(KernelSet, OverridesReplaceEntriesOfTheSameNameTheLastOneWins) {
  const ModuleImage early{"early.ptx", ".entry moe_reduce( ) {}\n.entry moe_gather( ) {}", {}};
  const ModuleImage late{"late.ptx", ".entry moe_reduce( ) {}", {}};
  FakeDevice device;
  KernelSet kernels(device, {early, late});
  kernels.Find("moe_reduce");
  kernels.Find("moe_gather");
  kernels.Find("moe_permute");
  EXPECT_EQ(device.loaded, (std::vector<std::string>{"late.ptx", "early.ptx", "moe_permute.ptx"}));
  EXPECT_NE(kernels.hash(), KernelSet(device, {}).hash());
  EXPECT_NE(kernels.hash(), KernelSet(device, {late, early}).hash());
}

TEST(KernelSet, RefusesAnUnknownEntryByName) {
  FakeDevice device;
  KernelSet kernels(device, {});
  try {
    kernels.Find("moe_reduce_typo");
    FAIL() << "found";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kBadInput);
    EXPECT_NE(std::string(error.what()).find("moe_reduce_typo"), std::string::npos);
  }
}

}  // namespace
}  // namespace voltcheck::kernels
