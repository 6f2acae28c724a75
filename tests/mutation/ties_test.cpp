// A wrong rounding of one fp32 addition hides in the half that is stored, unless the case is made
// for it.
#include <gtest/gtest.h>

#include "fixtures/case/descriptor.h"
#include "verify/mutation/trial.h"

namespace voltcheck::mutation {
namespace {

TEST(Ties, TellEveryRoundingOfASplitSum) {
  const std::string entry = "grouped_gemm_16x128x32_g32_4b";
  const MutantSet set = FindMutants({{}, entry, {"rounding"}});
  const KernelText& kernel = *set.kernels.at(entry);
  std::vector<Killer> killers;
  for (const Killer& killer : QuickKillers(entry)) {
    if (killer.c.data == Data::kTies && killer.c.w13.splits > 1) {
      killers.push_back(killer);
    }
  }
  ASSERT_EQ(killers.size(), 3U);
  Bench bench({});
  int additions = 0;
  for (const Mutant& mutant : set.mutants) {
    if (mutant.what != "add.rn.f32: add.rn.f32 -> add.rz.f32") {
      continue;
    }
    const kernels::ModuleImage image{kernel.file(), Apply(kernel.text(), mutant.edits), {}};
    bool caught = false;
    for (const Killer& killer : killers) {
      caught = caught || !bench.Run(mutant, image, killer).passed();
    }
    // The additions of the fused epilogue run on the single-token route alone.
    additions += caught ? 1 : 0;
  }
  EXPECT_GE(additions, 16) << "eight sums a thread in each of two row blocks";
  for (const Killer& killer : killers) {
    EXPECT_TRUE(bench.Honest(killer).passed()) << bench.Honest(killer).record.reason;
  }
}

}  // namespace
}  // namespace voltcheck::mutation
