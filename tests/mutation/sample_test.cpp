#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "fixtures/case/error.h"
#include "kernels/kernel_set.h"
#include "verify/mutation/mutants.h"
#include "verify/mutation/plan_operators.h"
#include "verify/mutation/ptx_operators.h"

namespace voltcheck::mutation {
namespace {

std::vector<Mutant> Mutants(const std::map<std::string, std::map<std::string, int>>& counts) {
  std::vector<Mutant> mutants;
  for (const auto& [op, kernels] : counts) {
    for (const auto& [kernel, count] : kernels) {
      for (int i = 0; i < count; ++i) {
        mutants.push_back({op + "@" + kernel + "#" + std::to_string(i), op, kernel, 0, "", {}, {}});
      }
    }
  }
  return mutants;
}

TEST(SampleOrder, IsAPermutationThatTheSeedFixes) {
  const std::vector<Mutant> mutants = Mutants({{"a", {{"x", 5}, {"y", 2}}}, {"b", {{"x", 3}}}});
  std::vector<std::size_t> order = SampleOrder(mutants, 1, 100);
  EXPECT_EQ(order, SampleOrder(mutants, 1, 100));
  EXPECT_NE(order, SampleOrder(mutants, 2, 100));
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    EXPECT_EQ(order[i], i);
  }
}

TEST(SampleOrder, IsEvenOverOperatorsAndKernels) {
  const std::vector<Mutant> mutants = Mutants(
      {{"a", {{"x", 500}, {"y", 20}, {"z", 20}}}, {"b", {{"x", 900}, {"y", 20}, {"z", 20}}}});
  const std::vector<std::size_t> order = SampleOrder(mutants, 0, 30);
  std::map<std::string, int> operators;
  std::map<std::string, int> kernels;
  for (std::size_t i = 0; i < 30; ++i) {
    ++operators[mutants[order[i]].op];
    ++kernels[mutants[order[i]].kernel];
  }
  EXPECT_EQ(operators["a"], 15);
  EXPECT_EQ(operators["b"], 15);
  for (const char* kernel : {"x", "y", "z"}) {
    EXPECT_EQ(kernels[kernel], 10) << kernel;
  }
}

TEST(FindMutants, CoversEveryKernelAndOperatorWithIdsOfTheirOwn) {
  const MutantSet set = FindMutants({});
  std::set<std::string> ids;
  std::set<std::string> operators;
  std::set<std::string> kernels;
  for (const Mutant& mutant : set.mutants) {
    EXPECT_TRUE(ids.insert(mutant.id).second) << mutant.id;
    operators.insert(mutant.op);
    kernels.insert(mutant.kernel);
    EXPECT_FALSE(mutant.what.empty()) << mutant.id;
  }
  EXPECT_EQ(operators.size(), PtxOperators().size() + PlanOperators().size());
  std::size_t entries = 0;
  for (const kernels::ModuleImage& module : kernels::BuiltInModules()) {
    entries += kernels::EntryNames(module.ptx).size();
  }
  EXPECT_EQ(kernels.size(), entries + 1);  // and the empty one, of plans and data
}

TEST(FindMutants, TellsWhatThereIs) {
  EXPECT_THROW(FindMutants({{}, "no_such_kernel", {}}), Error);
  EXPECT_THROW(FindMutants({{}, "", {"no-such-operator"}}), Error);
  for (const Mutant& mutant : FindMutants({{}, "moe_gather", {"widen-bound"}}).mutants) {
    EXPECT_EQ(mutant.kernel, "moe_gather");
    EXPECT_EQ(mutant.op, "widen-bound");
  }
}

}  // namespace
}  // namespace voltcheck::mutation
