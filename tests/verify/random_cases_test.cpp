// Random samples: the same for the same seed, runnable, and wide.
#include "verify/random_cases.h"

#include <gtest/gtest.h>

#include <set>

#include "fixtures/case/descriptor.h"
#include "fixtures/generate.h"
#include "kernels/plan.h"

namespace voltcheck::verify {
namespace {

TEST(RandomCases, ACaseDependsOnSeedAndNumberAlone) {
  const std::vector<Case> few = RandomCases(5, 3);
  const std::vector<Case> many = RandomCases(50, 3);
  for (std::size_t i = 0; i < few.size(); ++i) {
    EXPECT_EQ(ToDescriptor(few[i]), ToDescriptor(many[i]));
  }
  EXPECT_NE(ToDescriptor(few[0]), ToDescriptor(RandomCases(1, 4)[0]));
}

TEST(RandomCases, EveryOneParsesAndMostHaveAPlan) {
  for (const Case& c : RandomCases(300, 1)) {
    EXPECT_EQ(ParseDescriptor(ToDescriptor(c)), c);
  }
  for (const Case& c : RandomCases(20, 2)) {
    EXPECT_NO_THROW(kernels::MakePlan(fixtures::Generate(c))) << ToDescriptor(c);
  }
}

TEST(RandomCases, TheyReachEveryValueOfEachKey) {
  std::set<std::string> seen;
  for (const Case& c : RandomCases(600, 1)) {
    seen.insert("path=" + ToString(c.path));
    seen.insert("data=" + ToString(c.data));
    seen.insert("numerics=" + ToString(c.numerics));
    seen.insert("layout=" + ToString(c.layout) + ToString(c.columns) + ToString(c.metadata));
    seen.insert("routing=" + std::to_string(static_cast<int>(c.routing.kind)));
    seen.insert("t=" + std::to_string(c.shape.tokens));
    seen.insert("tile=" + ToString(c.w13.tile));
    seen.insert(c.head > 0 ? "head" : "no head");
    seen.insert(c.ep_ranks > 1 ? "ranks" : "one rank");
  }
  // 5 paths, 7 kinds of data, 3 arithmetics, 8 layouts, 8 routings, 14 token counts, 11 tiles,
  // 2, 2.
  EXPECT_EQ(seen.size(), 5U + 7 + 3 + 8 + 8 + 14 + 11 + 2 + 2);
}

TEST(SampleCases, DrawsEachCaseOnceInOrder) {
  const std::vector<Case> all = ParseGrid("t=1..40");
  const std::vector<Case> sample = SampleCases(all, 12, 7);
  ASSERT_EQ(sample.size(), 12U);
  for (std::size_t i = 1; i < sample.size(); ++i) {
    EXPECT_LT(sample[i - 1].shape.tokens, sample[i].shape.tokens);
  }
  EXPECT_EQ(SampleCases(all, 12, 7), sample);
  EXPECT_NE(SampleCases(all, 12, 8), sample);
  EXPECT_EQ(SampleCases(all, 100, 7), all);
}

TEST(ExactFirst, KeepsTheOrderInsideEachKind) {
  std::vector<Case> cases = ParseGrid("data=normal,integer,onehot,subnormal;t=1,2");
  ExactFirst(cases);
  std::string kinds;
  for (const Case& c : cases) {
    kinds += ToString(c.data).substr(0, 1) + std::to_string(c.shape.tokens);
  }
  EXPECT_EQ(kinds, "i1i2o1o2n1n2s1s2");
}

}  // namespace
}  // namespace voltcheck::verify
