// The vector form of a row's figures against the plain one, on every instruction set.
#include "verify/logits/fast_row.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "hwy/highway.h"
#include "reference/arith/half.h"

namespace voltcheck::logits {
namespace {

struct Row {
  Type type = Type::kF32;
  std::vector<std::byte> bytes;
  std::vector<float> values;
  RowView view() const { return {bytes.data(), type}; }
};

Row MakeRow(Type type, const std::vector<float>& wanted) {
  Row row{type, std::vector<std::byte>(wanted.size() * BytesOf(type)), {}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (type == Type::kF32) {
      std::memcpy(row.bytes.data() + 4 * i, &wanted[i], 4);
      row.values.push_back(wanted[i]);
    } else {
      const std::uint16_t bits =
          type == Type::kF16
              ? arith::FloatToHalf(wanted[i])
              : static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(wanted[i]) >> 16);
      std::memcpy(row.bytes.data() + 2 * i, &bits, 2);
      row.values.push_back(type == Type::kF16 ? arith::HalfToFloat(bits)
                                              : std::bit_cast<float>(std::uint32_t{bits} << 16));
    }
  }
  return row;
}

struct Pair {
  Row base;
  Row other;
};

Pair RandomPair(std::size_t count, double distance, Type base, Type other, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&random] { return static_cast<double>(random() >> 11) * 0x1p-53 * 2 - 1; };
  std::vector<float> b(count);
  std::vector<float> o(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = 12 * uniform() * uniform();
    b[i] = static_cast<float>(x);
    o[i] = static_cast<float>(x + distance * uniform() + distance / 8);
  }
  return {MakeRow(base, b), MakeRow(other, o)};
}

void ExpectAlike(const Pair& p) {
  const std::size_t n = p.base.values.size();
  const verify::LogitRow want = verify::CompareLogitRow(std::span<const float>(p.base.values),
                                                        std::span<const float>(p.other.values));
  const verify::LogitRow got = CompareRows(p.base.view(), p.other.view(), n);
  EXPECT_EQ(got.compared, want.compared);
  EXPECT_EQ(got.nonfinite, want.nonfinite);
  EXPECT_EQ(got.differing, want.differing);
  EXPECT_EQ(got.base_argmax, want.base_argmax);
  EXPECT_EQ(got.other_argmax, want.other_argmax);
  EXPECT_EQ(got.top_overlap, want.top_overlap);
  EXPECT_EQ(got.flipped_margin, want.flipped_margin);
  EXPECT_NEAR(got.max_abs, want.max_abs, 1e-7 * want.max_abs);
  EXPECT_NEAR(got.squares, want.squares, 2e-6 * want.squares);
  EXPECT_NEAR(got.sum, want.sum, 2e-6 * std::sqrt(want.squares * static_cast<double>(n)));
  // The plain form subtracts two logarithms, so it knows KL to about 1e-15 only.
  EXPECT_NEAR(got.kl, want.kl, 5e-6 * want.kl + 2e-14);
  // Differences are rounded to fp32, so the figure has the precision of the largest of them.
  EXPECT_NEAR(got.top_log_probability, want.top_log_probability,
              2e-6 * want.top_log_probability + 1e-13 + 0x1p-23 * want.max_abs);
}

TEST(FastRow, GivesThePlainFiguresForEveryTypeAndLength) {
  unsigned seed = 0;
  for (const std::size_t n : {1, 2, 5, 15, 16, 17, 1023, 1024, 1025, 2100, 9000}) {
    for (const double distance : {0.0, 1e-4, 1e-2, 0.05, 0.4, 0.9, 3.0, 40.0}) {
      for (const auto& [b, o] : {std::pair{Type::kF16, Type::kF16},
                                 {Type::kF32, Type::kF32},
                                 {Type::kBf16, Type::kF32},
                                 {Type::kF16, Type::kBf16}}) {
        SCOPED_TRACE(std::to_string(n) + " " + std::to_string(distance) + " " +
                     std::string(ToString(b)) + " " + std::string(ToString(o)));
        ExpectAlike(RandomPair(n, distance, b, o, ++seed));
      }
    }
  }
}

TEST(FastRow, KlOfNeighbouringRowsKeepsItsDigits) {
  // All probability on two tokens, moved by a known tiny amount: KL is about p q d^2 / 2.
  const float d = 0x1p-12F;
  const Row base = MakeRow(Type::kF32, {0, 0});
  const Row other = MakeRow(Type::kF32, {d, 0});
  const verify::LogitRow row = CompareRows(base.view(), other.view(), 2);
  EXPECT_NEAR(row.kl, static_cast<double>(d) * static_cast<double>(d) / 8, 1e-6 * row.kl);
}

TEST(FastRow, EqualLogitsTieToTheLowerColumn) {
  const Row zeros = MakeRow(Type::kF16, std::vector<float>(3000, 0));
  const verify::LogitRow row = CompareRows(zeros.view(), zeros.view(), 3000);
  EXPECT_EQ(row.base_argmax, 0);
  EXPECT_EQ(row.max_abs_column, 0);
  EXPECT_EQ(row.top_overlap, verify::kTopTokens);
  EXPECT_EQ(row.kl, 0);
  EXPECT_EQ(row.differing, 0U);
}

TEST(FastRow, MaskedTokensThatAreFiniteDoNotBreakTheSums) {
  std::vector<float> b(600, -1e9F);
  std::vector<float> o(600, -3e30F);
  b[17] = o[17] = 4;
  b[590] = 3;
  o[590] = 3.25F;
  ExpectAlike({MakeRow(Type::kF32, b), MakeRow(Type::kF32, o)});
}

TEST(FastRow, RowsThatLieApartByAConstantOrInOneTokenKeepTheirDigits) {
  for (const float offset : {-300.0F, 10.0F, 0.0F}) {
    for (const std::size_t outlier : {0, 1500, 4090}) {
      for (const float far : {0.0F, 0.3F, 2.0F, 30.0F}) {
        SCOPED_TRACE(testing::Message() << offset << " " << outlier << " " << far);
        Pair p = RandomPair(4100, 1e-3, Type::kF32, Type::kF32, 9);
        for (std::size_t i = 0; i < 4100; ++i) {
          // On a grid, so that differences are exact in fp32.
          const auto on_grid = [](float x) { return std::round(x * 0x1p13F) * 0x1p-13F; };
          p.base.values[i] = on_grid(p.base.values[i]);
          p.other.values[i] = on_grid(p.other.values[i] + offset + (i == outlier ? far : 0));
        }
        ExpectAlike({MakeRow(Type::kF32, p.base.values), MakeRow(Type::kF32, p.other.values)});
      }
    }
  }
}

TEST(FastRow, LogitsThatGrowAlongTheRowAndLargeOnesDoNotOverflow) {
  for (const float step : {0.02F, 0.5F, 40.0F, 500.0F}) {
    for (const float distance : {1e-3F, 0.3F, 5.0F}) {
      std::vector<float> b(5000);
      std::vector<float> o(5000);
      for (std::size_t i = 0; i < b.size(); ++i) {
        b[i] = step * static_cast<float>(i) - 100;
        o[i] = b[i] + (i % 3 == 0 ? distance : 0);
      }
      SCOPED_TRACE(testing::Message() << step << " " << distance);
      ExpectAlike({MakeRow(Type::kF32, b), MakeRow(Type::kF32, o)});
      ExpectAlike({MakeRow(Type::kF32, o), MakeRow(Type::kF32, b)});
    }
  }
}

TEST(FastRow, ValuesThatAreNotFiniteAreCounted) {
  for (const float x :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    for (const std::size_t at : {0, 3, 1023, 1024, 1499}) {
      std::vector<float> values(1500, 1);
      const Row finite = MakeRow(Type::kF16, values);
      values[at] = x;
      const Row broken = MakeRow(Type::kF16, values);
      for (const auto& [b, o] :
           {std::pair{&finite, &broken}, {&broken, &finite}, {&broken, &broken}}) {
        const verify::LogitRow row = CompareRows(b->view(), o->view(), 1500);
        EXPECT_EQ(row.nonfinite, 1U);
        EXPECT_EQ(row.compared, 1499U);
        EXPECT_EQ(row.base_argmax, -1);
      }
    }
  }
}

TEST(FastRow, BitsAreTheSameOnEveryInstructionSet) {
  const Pair p = RandomPair(7001, 0.6, Type::kF16, Type::kF16, 5);
  const Pair q = RandomPair(2000, 1e-3, Type::kBf16, Type::kF32, 6);
  const Pair far = RandomPair(3000, 5, Type::kF32, Type::kF32, 7);
  std::vector<verify::LogitRow> rows;
  const auto run = [&] {
    for (const Pair* pair : {&p, &q, &far}) {
      rows.push_back(CompareRows(pair->base.view(), pair->other.view(), pair->base.values.size()));
    }
  };
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    run();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
  ASSERT_GE(rows.size(), 9U) << "more than one instruction set";
  for (std::size_t i = 3; i < rows.size(); ++i) {
    const verify::LogitRow& want = rows[i % 3];
    EXPECT_EQ(rows[i].sum, want.sum);
    EXPECT_EQ(rows[i].squares, want.squares);
    EXPECT_EQ(rows[i].kl, want.kl);
    EXPECT_EQ(rows[i].top_log_probability, want.top_log_probability);
    EXPECT_EQ(rows[i].max_abs, want.max_abs);
  }
}

RC_GTEST_PROP(FastRow, TopTokensOfManyTiesAreThePlainOnes, ()) {
  const auto count = static_cast<std::size_t>(*rc::gen::inRange(1, 1400));
  const auto seed = *rc::gen::noShrink(rc::gen::arbitrary<unsigned>());
  std::mt19937 random(seed);
  std::vector<float> b(count);
  std::vector<float> o(count);
  for (std::size_t i = 0; i < count; ++i) {
    b[i] = static_cast<float>(random() % 7);
    o[i] = static_cast<float>(random() % 7);
  }
  const Row base = MakeRow(Type::kF16, b);
  const Row other = MakeRow(Type::kF16, o);
  const verify::LogitRow want =
      verify::CompareLogitRow(std::span<const float>(b), std::span<const float>(o));
  const verify::LogitRow got = CompareRows(base.view(), other.view(), count);
  RC_ASSERT(got.base_argmax == want.base_argmax);
  RC_ASSERT(got.other_argmax == want.other_argmax);
  RC_ASSERT(got.top_overlap == want.top_overlap);
  RC_ASSERT(got.max_abs_column == want.max_abs_column);
}

}  // namespace
}  // namespace voltcheck::logits
