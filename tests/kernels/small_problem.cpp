#include "small_problem.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace voltcheck::kernels::testing {

std::uint64_t TestBits::Next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint16_t TestBits::Activation() {
  const std::uint64_t bits = Next();
  return static_cast<std::uint16_t>(((bits & 1) << 15) | ((11 + (bits >> 1) % 5) << 10) |
                                    ((bits >> 8) & 0x3ff));
}

std::uint16_t TestBits::Scale() {
  const std::uint64_t bits = Next();
  return static_cast<std::uint16_t>(((6 + bits % 4) << 10) | ((bits >> 8) & 0x3ff));
}

AwqMatrix RandomMatrix(int k, int n, int group, TestBits& bits) {
  AwqMatrix m{k, n, group, {}, {}, {}};
  m.qweight.resize(static_cast<std::size_t>(k) * n / 8);
  m.qzeros.resize(static_cast<std::size_t>(k / group) * n / 8);
  m.scales.resize(static_cast<std::size_t>(k / group) * n);
  for (std::uint32_t& word : m.qweight) {
    word = static_cast<std::uint32_t>(bits.Next());
  }
  for (std::uint32_t& word : m.qzeros) {
    word = static_cast<std::uint32_t>(bits.Next());
  }
  for (std::uint16_t& scale : m.scales) {
    scale = bits.Scale();
  }
  return m;
}

Problem MakeProblem(const Case& c, std::vector<std::int32_t> ids) {
  TestBits bits(c.seed);
  Problem problem;
  problem.c = c;
  const Shape& shape = c.shape;
  const auto slots = static_cast<std::size_t>(shape.slots());
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.tokens) * shape.hidden; ++i) {
    problem.hidden.push_back(bits.Activation());
  }
  if (ids.empty()) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(shape.experts));
    for (int t = 0; t < shape.tokens; ++t) {
      std::iota(all.begin(), all.end(), 0);
      for (int j = 0; j < shape.top_k; ++j) {
        std::swap(all[static_cast<std::size_t>(j)],
                  all[static_cast<std::size_t>(j + bits.Below(shape.experts - j))]);
        ids.push_back(all[static_cast<std::size_t>(j)]);
      }
    }
  }
  problem.topk_ids = std::move(ids);
  for (std::size_t i = 0; i < slots; ++i) {
    problem.topk_weights.push_back(static_cast<float>(1 + bits.Below(1000)) / 4096.0F);
  }
  problem.slot_order.resize(slots);
  std::iota(problem.slot_order.begin(), problem.slot_order.end(), 0);
  if (c.layout == SlotLayout::kShuffled) {
    for (std::size_t i = 0; i + 1 < slots; ++i) {
      std::swap(problem.slot_order[i], problem.slot_order[i + static_cast<std::size_t>(bits.Below(
                                                                  static_cast<int>(slots - i)))]);
    }
  } else {
    std::stable_sort(problem.slot_order.begin(), problem.slot_order.end(),
                     [&](std::int32_t a, std::int32_t b) {
                       return problem.topk_ids[static_cast<std::size_t>(a)] <
                              problem.topk_ids[static_cast<std::size_t>(b)];
                     });
  }
  const std::set<std::int32_t> named(problem.topk_ids.begin(), problem.topk_ids.end());
  for (const std::int32_t id : named) {
    if (id < 0 || id >= shape.experts) {
      continue;
    }
    TestBits expert_bits(c.seed * 1000003 + static_cast<std::uint64_t>(id));
    problem.experts.push_back(std::make_shared<ExpertWeights>(
        ExpertWeights{id, RandomMatrix(c.w13_k(), c.w13_n(), shape.group, expert_bits),
                      RandomMatrix(c.w2_k(), c.w2_n(), shape.group, expert_bits)}));
  }
  return problem;
}

Case SmallCase() {
  Case c;
  c.shape = {256, 128, 16, 4, 32, 8};
  c.w13 = {{8, 128, 64}, 1};
  c.w2 = {{16, 128, 32}, 1};
  c.seed = 7;
  return c;
}

}  // namespace voltcheck::kernels::testing
