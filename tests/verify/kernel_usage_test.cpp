// Kernels that were handed in and never ran.
#include "verify/kernel_usage.h"

#include <gtest/gtest.h>

namespace voltcheck::verify {
namespace {

kernels::ModuleImage Module(const char* name, const char* ptx) { return {name, ptx, {}}; }

TEST(KernelUsage, EntriesThatNoPlanLaunchedAreNamed) {
  const std::vector<kernels::ModuleImage> overrides{
      Module("a.ptx", ".visible .entry moe_reduce()\n.visible .entry moe_redcue()\n")};
  const UnusedKernels unused = FindUnused(overrides, {"moe_reduce", "moe_permute"}, {});
  ASSERT_EQ(unused.lines.size(), 1U);
  EXPECT_EQ(unused.lines[0], "a.ptx: moe_redcue was run by no case");
  EXPECT_FALSE(unused.whole_file);
  EXPECT_TRUE(FindUnused(overrides, {"moe_reduce"}, {"moe_redcue"}).lines.empty());
  EXPECT_TRUE(FindUnused(overrides, {"moe_permute"}, {}).whole_file);
}

TEST(KernelUsage, ALaterFileReplacesAnEarlierOne) {
  const std::vector<kernels::ModuleImage> overrides{Module("a.ptx", ".entry moe_reduce()"),
                                                    Module("b.ptx", ".entry moe_reduce()")};
  const UnusedKernels unused = FindUnused(overrides, {"moe_reduce"}, {});
  ASSERT_EQ(unused.lines.size(), 1U);
  EXPECT_EQ(unused.lines[0], "a.ptx: moe_reduce is replaced by a later file");
  EXPECT_TRUE(unused.whole_file);
}

TEST(KernelUsage, WithoutFilesNothingIsUnused) {
  const UnusedKernels unused = FindUnused({}, {}, {});
  EXPECT_TRUE(unused.lines.empty());
  EXPECT_FALSE(unused.whole_file);
}

}  // namespace
}  // namespace voltcheck::verify
