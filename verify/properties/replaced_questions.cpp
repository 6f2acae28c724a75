#include "verify/properties/replaced_questions.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/tactic.h"
#include "verify/replaced_cases.h"

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

// The questions about the kernels beside the GEMMs.
struct Question {
  std::string_view entry;
  std::string_view property;
  std::string_view descriptor;
};
constexpr std::string_view kPlain = "h=64,i=64,e=4,k=2,g=32,t=3";
constexpr std::string_view kHalves = "h=64,i=64,e=4,k=2,g=32,t=3,cols=halves";
constexpr std::string_view kRank = "h=64,i=64,e=4,k=2,g=32,t=5,ep=0/2";
constexpr std::string_view kRankHalves = "h=64,i=64,e=4,k=2,g=32,t=5,ep=0/2,cols=halves";
constexpr std::array<Question, 15> kQuestions = {{
    {"moe_gather", "far-rows", kPlain},
    {"moe_gather", "untouched-memory", kRank},
    {"silu_mul_interleaved", "inf-times-zero", kPlain},
    {"silu_mul_interleaved", "nan-token", kPlain},
    {"silu_mul_interleaved", "untouched-memory", kRank},
    {"silu_mul_halves", "inf-times-zero", kHalves},
    {"silu_mul_halves", "nan-token", kHalves},
    {"silu_mul_halves", "untouched-memory", kRankHalves},
    {"moe_reduce", "far-rows", kPlain},
    {"moe_reduce", "zero-weight-nan", kPlain},
    {"moe_reduce", "poison", kRank},
    {"moe_permute", "poison", kRank},
    {"moe_permute", "back-to-back", kRank},
    {"moe_segments", "poison", kRank},
    {"moe_segments", "back-to-back", kRank},
}};

}  // namespace

std::vector<Regression> ReplacedQuestions(const std::set<std::string>& entries,
                                          std::uint64_t seed) {
  std::vector<Regression> questions;
  for (const Question& question : kQuestions) {
    if (entries.contains(std::string(question.entry))) {
      Case c = ParseDescriptor(question.descriptor);
      c.seed += seed;
      questions.push_back({std::string(question.property), c});
    }
  }
  for (const verify::ReplacedGemm& gemm : verify::ReplacedGemms(entries)) {
    const Case c = QuestionCase(gemm, seed);
    for (const std::string_view property : kAsked) {
      questions.push_back({std::string(property), c});
    }
  }
  return questions;
}

}  // namespace voltcheck::properties
