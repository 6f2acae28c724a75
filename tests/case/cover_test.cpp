// Covering arrays: every pair that a row can hold is in one, rows are valid, few and always the
// same.
#include "fixtures/case/cover.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"

namespace voltcheck {
namespace {

bool Holds(const std::vector<CoverRow>& rows, std::size_t a, std::size_t x, std::size_t b,
           std::size_t y) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const CoverRow& row) { return row[a] == x && row[b] == y; });
}

/// Every row of the whole product.
std::vector<CoverRow> Product(const std::vector<std::size_t>& sizes) {
  std::vector<CoverRow> rows{{}};
  for (const std::size_t size : sizes) {
    std::vector<CoverRow> longer;
    for (const CoverRow& row : rows) {
      for (std::size_t value = 0; value < size; ++value) {
        longer.push_back(row);
        longer.back().push_back(value);
      }
    }
    rows = std::move(longer);
  }
  return rows;
}

RC_GTEST_PROP(Cover, HoldsEveryPairThatAValidRowHolds, ()) {
  const auto sizes =
      *rc::gen::container<std::vector<std::size_t>>(4, rc::gen::inRange<std::size_t>(1, 5));
  // Forbidden pairs of values of two axes, as the rules of a case are.
  const auto forbidden = *rc::gen::container<std::vector<std::vector<std::size_t>>>(
      3, rc::gen::container<std::vector<std::size_t>>(4, rc::gen::inRange<std::size_t>(0, 4)));
  const auto is_valid = [&](const CoverRow& row) {
    return std::none_of(forbidden.begin(), forbidden.end(), [&](const auto& f) {
      return f[0] != f[1] && row[f[0]] == f[2] && row[f[1]] == f[3];
    });
  };
  const std::vector<CoverRow> rows = CoveringRows(sizes, CoverStrength::kPairs, is_valid);
  const std::vector<CoverRow> ones = CoveringRows(sizes, CoverStrength::kValues, is_valid);
  RC_ASSERT(std::all_of(rows.begin(), rows.end(), is_valid));
  RC_ASSERT(std::all_of(ones.begin(), ones.end(), is_valid));
  for (const CoverRow& row : Product(sizes)) {
    if (!is_valid(row)) {
      continue;
    }
    for (std::size_t a = 0; a < row.size(); ++a) {
      RC_ASSERT(Holds(ones, a, row[a], a, row[a]));
      for (std::size_t b = a + 1; b < row.size(); ++b) {
        RC_ASSERT(Holds(rows, a, row[a], b, row[b]));
      }
    }
  }
}

TEST(Cover, IsSmall) {
  const auto any = [](const CoverRow&) { return true; };
  EXPECT_EQ(CoveringRows({7}, CoverStrength::kPairs, any).size(), 7U);
  EXPECT_LE(CoveringRows({12, 8, 6, 5, 2, 2, 2}, CoverStrength::kPairs, any).size(), 110U)
      << "96 is the least";
  EXPECT_EQ(CoveringRows({12, 8, 6, 5, 2, 2, 2}, CoverStrength::kValues, any).size(), 12U);
}

TEST(Cover, OfAGridHoldsFeasiblePairsOnly) {
  const std::vector<Case> cases = ParseGrid(
      "t=1,2,8;path=m1,offset,dense;cols=interleaved,halves;layout=sorted,shuffled;cover=pairs");
  EXPECT_LT(cases.size(), 15U);
  std::set<std::pair<int, Path>> seen;
  for (const Case& c : cases) {
    EXPECT_NO_THROW(ValidateCase(c));
    seen.insert({c.shape.tokens, c.path});
  }
  EXPECT_EQ(seen.size(), 7U) << "three paths times three token counts, but m1 with one alone";
}

TEST(Cover, OfAGridHoldsEveryValueOnce) {
  const std::vector<Case> cases =
      ParseGrid("h=512;i=32;g=32;t=1,2,8,9;w13=all/*;w2=16x128x32/1;cover=values");
  EXPECT_EQ(cases.size(), 4U * 16U + 2U * 8U) << "every feasible tactic, and no more";
}

TEST(Cover, RefusesAnotherStrength) { EXPECT_THROW(ParseGrid("t=1,2;cover=triples"), Error); }

}  // namespace
}  // namespace voltcheck
