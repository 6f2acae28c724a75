// Every measured row of a real V100, bit for bit, and proof that the rows can tell wrong rules.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "each_target.h"
#include "exact_sum.h"
#include "reference/arith/fused_dot_add.h"
#include "reference/arith/warp_mma.h"

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

TEST_F(V100Rows, TileStepBitForBit) {
  testing::ForEachTarget([this] {
    for (const Row& row : rows_) {
      float acc = row.c;
      TileStep(StepArithmetic::kV100, row.a.data(), row.b.data(), &acc, 1, 1, 1);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(acc), row.d);
    }
  });
}

/// 32 rows at a time on the diagonals of the four products, A by rows and B by columns.
TEST_F(V100Rows, WarpInstructionBitForBit) {
  const auto pack = [](HalfBits low, HalfBits high) {
    return low | static_cast<std::uint32_t>(high) << 16;
  };
  testing::ForEachTarget([&] {
    for (std::size_t first = 0; first < rows_.size(); first += 32) {
      std::uint32_t a[2][32], b[2][32], c[8][32] = {}, c_half[4][32] = {};
      const auto row_of = [&](std::size_t lane, std::size_t row) -> const Row& {
        return rows_[first + lane % 16 / 4 * 8 + row];
      };
      // The register and half of an fp32 lane that lie on the diagonal, if any.
      const auto diagonal = [](std::size_t lane, std::size_t i) {
        const std::size_t row = (lane & 1) + (i & 2) + lane / 16 * 4;
        return row == (i & 4) + (lane & 2) + (i & 1) ? static_cast<int>(row) : -1;
      };
      for (std::size_t lane = 0; lane < 32; ++lane) {
        const std::size_t own = lane % 4 + lane / 16 * 4;
        const Row& row = row_of(lane, own);
        for (std::size_t r = 0; r < 2; ++r) {
          a[r][lane] = pack(row.a[2 * r], row.a[2 * r + 1]);
          b[r][lane] = pack(row.b[2 * r], row.b[2 * r + 1]);
        }
        c_half[own / 2][lane] = static_cast<std::uint32_t>(row.c_half) << (16 * (own % 2));
        for (std::size_t i = 0; i < 8; ++i) {
          const int at = diagonal(lane, i);
          if (at >= 0) {
            c[i][lane] = std::bit_cast<std::uint32_t>(row_of(lane, static_cast<std::size_t>(at)).c);
          }
        }
      }
      const std::uint32_t* a_rows[2] = {a[0], a[1]};
      const std::uint32_t* b_rows[2] = {b[0], b[1]};
      std::uint32_t* c_rows[8] = {c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]};
      std::uint32_t* half_rows[4] = {c_half[0], c_half[1], c_half[2], c_half[3]};
      WarpMma884({}, a_rows, b_rows, c_rows, c_rows);
      WarpMma884({.c_half = true, .d_half = true}, a_rows, b_rows, half_rows, half_rows);
      for (std::size_t lane = 0; lane < 32; ++lane) {
        const std::size_t own = lane % 4 + lane / 16 * 4;
        ASSERT_EQ(static_cast<HalfBits>(c_half[own / 2][lane] >> (16 * (own % 2))),
                  row_of(lane, own).d_half);
        for (std::size_t i = 0; i < 8; ++i) {
          const int at = diagonal(lane, i);
          if (at >= 0) {
            ASSERT_EQ(c[i][lane], row_of(lane, static_cast<std::size_t>(at)).d);
          }
        }
      }
    }
  });
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
