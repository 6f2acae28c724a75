#include "stage_golden.h"

#include <gtest/gtest.h>

#include <sstream>

#include "fixtures/case/error.h"

namespace voltcheck::kernels::testing {
namespace {

ObservedStage Sample() {
  ObservedStage observed;
  observed.silu = {0x3c00, 0x0001};
  observed.w2 = {0x3c00, 0x0002};
  observed.output = {0x8000};
  return observed;
}

TEST(StageGolden, HashesEveryBitAndStagesThatAreNotStored) {
  const StageHashes hashes = HashStages(Sample());
  EXPECT_EQ(hashes[0], "-") << "a fused stage has no W13";
  EXPECT_EQ(hashes[1].size(), 16U);
  ObservedStage other = Sample();
  other.output[0] = 0;
  EXPECT_EQ(HashStages(other)[2], hashes[2]);
  EXPECT_NE(HashStages(other)[3], hashes[3]) << "minus zero is not zero";
}

TEST(StageGolden, ReadsWhatItWrites) {
  StageGolden golden;
  golden.origin = {{"device", "Some GPU"}, {"driver", "1.2 (CUDA 3)"}};
  golden.cases[CaseKey("t=1")] = HashStages(Sample());
  std::stringstream text;
  Write(golden, text);
  const StageGolden read = Read("file", text);
  EXPECT_EQ(read.origin, golden.origin);
  EXPECT_EQ(read.cases, golden.cases);
}

TEST(StageGolden, RefusesOtherText) {
  for (const char* text : {"", "hello\n", "# voltcheck stage golden/1\n0123456789abcdef\t-\t-\t-\n",
                           "# voltcheck stage golden/1\n0123456789abcdef\t-\t-\t-\txyz\n"}) {
    std::istringstream in(text);
    EXPECT_THROW(Read("file", in), Error) << text;
  }
}

}  // namespace
}  // namespace voltcheck::kernels::testing
