// Which cases a filter fits.
#include "verify/filter.h"

#include <gtest/gtest.h>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"

namespace voltcheck::verify {
namespace {

const Case kCase = ParseDescriptor("t=9,routing=hole:first,layout=shuffled,w13=8x128x64/2");

TEST(Filter, EveryKeyMustHaveItsValue) {
  EXPECT_TRUE(FitsFilter(kCase, "t=9"));
  EXPECT_TRUE(FitsFilter(kCase, "layout=shuffled,t=9"));
  EXPECT_FALSE(FitsFilter(kCase, "layout=sorted,t=9"));
  EXPECT_FALSE(FitsFilter(kCase, "t=90"));
}

TEST(Filter, AlternativesAndPrefixes) {
  EXPECT_TRUE(FitsFilter(kCase, "t=1|9"));
  EXPECT_FALSE(FitsFilter(kCase, "t=1|2"));
  EXPECT_TRUE(FitsFilter(kCase, "routing=hole*,w13=8x128x64*"));
  EXPECT_FALSE(FitsFilter(kCase, "routing=zipf*"));
}

TEST(Filter, KeysThatTheDescriptorLeavesOutHaveTheirDefaults) {
  EXPECT_TRUE(FitsFilter(kCase, "stage=all,head=0"));
}

TEST(Filter, NonsenseIsRefused) {
  for (const char* filter : {"", "t", "colour=red", "t=9,"}) {
    EXPECT_THROW(CheckFilter(filter), Error) << filter;
  }
}

}  // namespace
}  // namespace voltcheck::verify
