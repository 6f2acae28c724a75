#include <gtest/gtest.h>

#include <functional>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"

namespace voltcheck {
namespace {

std::string LineOf(std::string_view text) {
  try {
    ParseGrid(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kBadInput);
    return error.what();
  }
  return "";
}

std::vector<std::string> Values(std::string_view grid,
                                const std::function<std::string(const Case&)>& value) {
  std::vector<std::string> values;
  for (const Case& c : ParseGrid(grid)) {
    EXPECT_EQ(ParseDescriptor(ToDescriptor(c)), c);
    values.push_back(value(c));
  }
  return values;
}

TEST(Grid, IsTheProductWithTheLastAxisFastest) {
  const auto values = Values("h=256;i=64;e=16;k=4;g=32;t=1,2,8,9;seed=1..3", [](const Case& c) {
    return std::to_string(c.shape.tokens) + "/" + std::to_string(c.seed);
  });
  EXPECT_EQ(values, (std::vector<std::string>{"1/1", "1/2", "1/3", "2/1", "2/2", "2/3", "8/1",
                                              "8/2", "8/3", "9/1", "9/2", "9/3"}));
}

TEST(Grid, UnnamedKeysTakeDefaults) {
  EXPECT_EQ(ParseGrid("t=8").at(0), ParseDescriptor(""));
  EXPECT_EQ(ParseGrid("h=2560;i=160").at(0), ParseDescriptor("h=2560,i=160"));
}

TEST(Grid, AllMeansEveryFeasibleTactic) {
  const auto w2 = [](const Case& c) { return ToString(c.w2); };
  EXPECT_EQ(Values("w2=all;i=160", w2),
            (std::vector<std::string>{"128x128x16/1", "64x128x32/1", "32x128x32/1", "16x128x32/1"}))
      << "K = 160 excludes the 8-row tiles; the size may stand behind the tactic";
  EXPECT_EQ(Values("i=160;w2=all/5", w2).size(), 4u);
  EXPECT_EQ(Values("i=160;w2=all/*", w2).size(), 20u) << "1..5 splits of four tiles";
  EXPECT_EQ(Values("h=128;i=128;g=128;w2=all/*", w2).size(), 11u) << "one chunk, one split";
  EXPECT_EQ(Values("i=64,160;w2=all", w2).size(), 10u) << "6 tiles for 64, 4 for 160";
  EXPECT_EQ(Values("i=64;w2=all,16x128x32/2", w2).size(), 7u);
}

TEST(Grid, InfeasibleCombinationsThrowOrAreSkipped) {
  EXPECT_NE(LineOf("i=64,160;w2=8x128x64/1").find("w2: 8x128x64/1 is infeasible"),
            std::string::npos);
  EXPECT_NE(LineOf("i=64,160;w2=8x128x64/1;infeasible=refuse").find("infeasible"),
            std::string::npos);
  EXPECT_EQ(ParseGrid("i=64,160;w2=8x128x64/1;infeasible=skip").size(), 1u);
  EXPECT_EQ(ParseGrid("h=64,100;infeasible=skip").size(), 1u);
  EXPECT_EQ(ParseGrid("t=1,8;path=m1,offset;infeasible=skip").size(), 3u);
}

TEST(Grid, RoutingsAndRanges) {
  EXPECT_EQ(ParseGrid("routing=uniform,zipf:1.1,one:0,hole:first;t=1..4").size(), 16u);
  EXPECT_EQ(ParseGrid("seed=18446744073709551615..18446744073709551615").at(0).seed,
            18446744073709551615u);
}

TEST(Grid, Refusals) {
  EXPECT_EQ(LineOf(""), "grid: axis '' has no '='; write key=value,value;key=a..b");
  EXPECT_EQ(LineOf("t=1;"), "grid: axis '' has no '='; write key=value,value;key=a..b");
  EXPECT_EQ(LineOf("t=1;t=2"), "grid key 't': stands twice; merge the two axes");
  EXPECT_NE(LineOf("q=1").find("unknown key 'q'"), std::string::npos);
  EXPECT_NE(LineOf("t=1,,2").find("descriptor key t: cannot be ''"), std::string::npos);
  EXPECT_EQ(LineOf("t=5..1"), "grid key t: range '5..1' is empty; write the smaller end first");
  EXPECT_EQ(LineOf("seed=1..1000001"),
            "grid: has more than 1000000 cases; split it into several grids");
  EXPECT_EQ(LineOf("seed=1..2000;t=1..2000"),
            "grid: has more than 1000000 cases; split it into several grids");
  EXPECT_EQ(LineOf("seed=0..18446744073709551615"),
            "grid: has more than 1000000 cases; split it into several grids");
  EXPECT_EQ(LineOf("infeasible=maybe"),
            "grid key infeasible: cannot be 'maybe'; allowed: skip or refuse");
  EXPECT_EQ(LineOf("h=100;infeasible=skip"),
            "grid: no combination is feasible; change the shapes or the tactics");
  EXPECT_NE(LineOf("w13=all/x").find("cannot be '128x128x16/x'"), std::string::npos);
  EXPECT_NE(LineOf("t=2147483647;k=2147483647").find("out of range"), std::string::npos);
}

}  // namespace
}  // namespace voltcheck
