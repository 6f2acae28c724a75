// Every measured row of a real V100, bit for bit, and proof that the rows can tell wrong rules.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "exact_sum.h"
#include "reference/arith/fused_dot_add.h"

namespace voltcheck::arith {
namespace {

using testing::ExactDotAdd;
using testing::ExactDotAddToHalf;
using testing::SumRule;

struct Row {
  std::array<HalfBits, 4> a, b;
  float c;
  std::uint32_t d;
  HalfBits c_half, d_half;
};

constexpr std::size_t kRows = 4000;

class V100Rows : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = std::string(VOLTCHECK_GOLDEN_DIR) + "/v100/hmma884_rows.tsv";
    std::ifstream file(path);
    if (!file) {
      std::fprintf(
          stderr,
          "\n*** %s is absent: the simulator's tensor core was NOT compared with the measured "
          "V100 rows in this run (set -DVOLTCHECK_GOLDEN_DIR) ***\n\n",
          path.c_str());
      GTEST_SKIP() << path << " is absent";
    }
    std::string line;
    while (std::getline(file, line)) {
      if (line.empty() || line[0] == '#') continue;
      std::istringstream fields(line);
      fields >> std::hex;
      Row row{};
      std::uint32_t c = 0;
      for (HalfBits& h : row.a) fields >> h;
      for (HalfBits& h : row.b) fields >> h;
      fields >> c >> row.d >> row.c_half >> row.d_half;
      ASSERT_TRUE(fields) << path << ": " << line;
      row.c = std::bit_cast<float>(c);
      rows_.push_back(row);
    }
    ASSERT_EQ(rows_.size(), kRows) << path;
  }

  /// The share of rows whose fp32 result `rule` reproduces.
  double Share(const SumRule& rule) const {
    std::size_t equal = 0;
    for (const Row& row : rows_) {
      equal +=
          std::bit_cast<std::uint32_t>(ExactDotAdd(rule, row.a, row.b, row.c)) == row.d ? 1 : 0;
    }
    return static_cast<double>(equal) / static_cast<double>(rows_.size());
  }

  std::vector<Row> rows_;
};

TEST_F(V100Rows, FloatAccumulatorBitForBit) {
  for (const Row& row : rows_) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(FusedDotAdd(kV100DotAdd, row.a, row.b, row.c)), row.d);
  }
}

TEST_F(V100Rows, HalfAccumulatorBitForBit) {
  for (const Row& row : rows_) {
    ASSERT_EQ(FusedDotAddToHalf(kV100DotAdd, row.a, row.b, HalfToFloat(row.c_half)), row.d_half);
  }
}

TEST_F(V100Rows, VectorFormBitForBit) {
  for (const Row& row : rows_) {
    float acc = row.c;
    TileStep(StepArithmetic::kV100, row.a.data(), row.b.data(), &acc, 1, 1, 1);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(acc), row.d);
  }
}

TEST_F(V100Rows, SecondImplementationAgrees) {
  EXPECT_EQ(Share({}), 1.0);
  for (const Row& row : rows_) {
    ASSERT_EQ(ExactDotAddToHalf({}, row.a, row.b, HalfToFloat(row.c_half)),
              static_cast<double>(HalfToFloat(row.d_half)));
  }
}

TEST_F(V100Rows, WrongRulesDoNotReproduceThem) {
  EXPECT_NEAR(Share({.fraction_bits = 22}), 0.55, 0.02);
  EXPECT_NEAR(Share({.fraction_bits = 24}), 0.76, 0.02);
  EXPECT_NEAR(Share({.floor = true}), 0.83, 0.02);
  EXPECT_NEAR(Share({.normalise = true}), 0.84, 0.02);
  EXPECT_NEAR(Share({.nearest = true}), 0.87, 0.02);
}

TEST_F(V100Rows, OtherChipsParametersDoNotReproduceThem) {
  std::size_t sm75 = 0;
  std::size_t software = 0;
  std::size_t too_narrow = 0;
  for (const Row& row : rows_) {
    const auto equal = [&](float d) { return std::bit_cast<std::uint32_t>(d) == row.d ? 1U : 0U; };
    sm75 += equal(FusedDotAdd(kSm75DotAdd, row.a, row.b, row.c));
    too_narrow += equal(FusedDotAdd(DotAddRule{4, 22}, row.a, row.b, row.c));
    software += equal(SoftwareDotAdd(row.a, row.b, row.c));
  }
  EXPECT_LT(sm75, kRows * 8 / 10);
  EXPECT_LT(too_narrow, kRows * 6 / 10);
  EXPECT_LT(software, kRows * 9 / 10);
}

}  // namespace
}  // namespace voltcheck::arith
