// Generated weights that cases share.
#include "verify/weight_cache.h"

#include <gtest/gtest.h>

#include "fixtures/case/descriptor.h"
#include "fixtures/generate.h"

namespace voltcheck::verify {
namespace {

TEST(WeightCache, CasesOfOneSeedShareAndOthersDoNot) {
  WeightCache cache(std::size_t{1} << 20);
  const Case one = ParseDescriptor("h=64,i=32,e=4,k=2,g=32,t=1,seed=5");
  const Case more = ParseDescriptor("h=64,i=32,e=8,k=2,g=32,t=33,routing=one:0,seed=5");
  const Case other = ParseDescriptor("h=64,i=32,e=4,k=2,g=32,t=1,seed=6");
  const auto expert = cache.Get(one, 2);
  EXPECT_EQ(expert, cache.Get(more, 2));
  EXPECT_NE(expert, cache.Get(other, 2));
  EXPECT_NE(expert, cache.Get(one, 3));
  const auto made = fixtures::GenerateExpert(one, 2);
  EXPECT_EQ(expert->w13.qweight, made->w13.qweight);
  EXPECT_EQ(expert->w2.scales, made->w2.scales);
}

TEST(WeightCache, HoldsNoMoreThanItMay) {
  const Case c = ParseDescriptor("h=64,i=32,e=4,k=2,g=32,t=1");
  // An expert has 6 K packed weights, 3 KB, and about a tenth more beside them.
  WeightCache cache(8'000);
  std::weak_ptr<const ExpertWeights> first = cache.Get(c, 0);
  const std::weak_ptr<const ExpertWeights> second = cache.Get(c, 1);
  EXPECT_FALSE(first.expired());
  cache.Get(c, 0);  // the latest again
  cache.Get(c, 2);
  EXPECT_FALSE(first.expired());
  EXPECT_TRUE(second.expired());
  WeightCache none(100);
  EXPECT_NE(none.Get(c, 0), none.Get(c, 0));
}

}  // namespace
}  // namespace voltcheck::verify
