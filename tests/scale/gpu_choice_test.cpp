// Which GPUs a run takes, and which of them each process of a machine.
#include "verify/gpu_choice.h"

#include <gtest/gtest.h>

#include "fixtures/case/error.h"

namespace voltcheck::verify {
namespace {

using Numbers = std::vector<int>;

TEST(GpuChoice, OneKindAtATime) {
  const std::vector<std::string> names{"V100", "H200", "V100"};
  EXPECT_EQ(PickGpus("", names), (Numbers{0, 2}));
  EXPECT_EQ(PickGpus("all", names), (Numbers{0, 2}));
  EXPECT_EQ(PickGpus("2,0", names), (Numbers{2, 0}));
  EXPECT_EQ(PickGpus("1", names), (Numbers{1}));
  for (const char* text : {"0,1", "3", "-1", "0,0", "x", "0,", ",", "1x"}) {
    try {
      PickGpus(text, names);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::kBadInput) << text;
      EXPECT_NE(std::string(error.what()).find("--gpus"), std::string::npos) << error.what();
    }
  }
  try {
    PickGpus("", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kUnavailable);
  }
}

TEST(GpuChoice, ProcessesShareThem) {
  EXPECT_EQ(ShareOfGpus({0, 1, 2, 3}, 0, 1), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(ShareOfGpus({0, 1, 2, 3}, 1, 2), (Numbers{1, 3}));
  EXPECT_EQ(ShareOfGpus({4, 6}, 1, 2), (Numbers{6}));
  EXPECT_EQ(ShareOfGpus({4, 6}, 4, 5), (Numbers{4}));
}

}  // namespace
}  // namespace voltcheck::verify
