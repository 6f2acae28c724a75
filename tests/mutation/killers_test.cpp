#include "verify/mutation/killers.h"

#include <gtest/gtest.h>

#include <set>

#include "fixtures/case/descriptor.h"
#include "kernels/kernel_set.h"

namespace voltcheck::mutation {
namespace {

class KillersOf : public testing::TestWithParam<std::string> {};

// What survives the first set is tried on a disjoint one, ten times as large.
TEST_P(KillersOf, SecondSetIsDisjointAndTenTimesLarger) {
  const std::vector<Killer> first = QuickKillers(GetParam());
  const std::vector<Killer> second = DeepKillers(GetParam());
  EXPECT_GE(first.size(), 3U);
  EXPECT_GE(second.size(), 10 * first.size());
  std::set<std::string> quick;
  for (const Killer& killer : first) {
    quick.insert(ToDescriptor(killer.c));
  }
  for (const Killer& killer : second) {
    EXPECT_FALSE(quick.contains(ToDescriptor(killer.c))) << ToDescriptor(killer.c);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, KillersOf,
                         testing::Values("grouped_gemm_8x128x64_g32_4b",
                                         "grouped_gemm_128x256x16_g128_3b", "moe_segments",
                                         "silu_mul_halves", "awq_repack_metadata_3b", ""));

TEST(Killers, EveryKernelHasSome) {
  for (const kernels::ModuleImage& module : kernels::BuiltInModules()) {
    for (const std::string& entry : kernels::EntryNames(module.ptx)) {
      EXPECT_GE(QuickKillers(entry).size(), 3U) << entry;
    }
  }
}

TEST(HonestCase, IsEndlessAndDiffers) {
  std::set<std::pair<std::string, std::uint64_t>> seen;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const Killer killer = HonestCase(i, 0);
    EXPECT_TRUE(seen.emplace(ToDescriptor(killer.c), killer.schedule).second) << i;
  }
}

}  // namespace
}  // namespace voltcheck::mutation
