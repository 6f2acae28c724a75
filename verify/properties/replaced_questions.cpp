#include "verify/properties/replaced_questions.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/tactic.h"

namespace voltcheck::properties {
namespace {

constexpr std::array<std::string_view, 8> kAsked = {
    "far-rows",       "far-weight-tiles", "poison",         "back-to-back",
    "unused-experts", "nan-token",        "inf-times-zero", "schedules"};

Case QuestionCase(const verify::ReplacedGemm& gemm, std::uint64_t seed) {
  Case c;
  const int chunk = std::max(gemm.tile.k, gemm.group);
  c.shape.hidden = 3 * chunk;  // more than two weight tiles of W2
  c.shape.intermediate = 2 * chunk;
  c.shape.experts = 4;
  c.shape.top_k = 2;
  c.shape.group = gemm.group;
  c.shape.tokens = 3;
  c.metadata = gemm.metadata;
  // Three splits, so that there is an order in which they may come that is not theirs.
  c.w13 = {gemm.tile, 3};
  c.w2 = {gemm.tile, 2};
  if (!WhyInfeasible(c.w13, c.w13_k(), c.w13_n(), gemm.group).empty()) {
    c.w13.splits = c.w2.splits = 1;
  }
  c.seed += seed;
  return c;
}

}  // namespace

std::vector<Regression> ReplacedQuestions(const std::vector<verify::ReplacedGemm>& gemms,
                                          std::uint64_t seed) {
  std::vector<Regression> questions;
  for (const verify::ReplacedGemm& gemm : gemms) {
    const Case c = QuestionCase(gemm, seed);
    for (const std::string_view property : kAsked) {
      questions.push_back({std::string(property), c});
    }
  }
  return questions;
}

}  // namespace voltcheck::properties
