#include "test_problem.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference/arith/half.h"

namespace voltcheck::reference {

std::vector<std::uint16_t> RandomHalves(std::size_t count, double deviation, bool positive,
                                        std::mt19937_64& random) {
  std::normal_distribution<double> normal(0, deviation);
  std::vector<std::uint16_t> halves(count);
  for (auto& h : halves) {
    const double x = normal(random);
    h = arith::DoubleToHalf(positive ? std::fabs(x) : x);
  }
  return halves;
}

AwqMatrix RandomMatrix(int k, int n, int group, const Fill& fill, std::mt19937_64& random) {
  AwqMatrix m{k, n, group, {}, {}, {}};
  const auto words = static_cast<std::size_t>(k) * n / 8;
  m.qweight.resize(words);
  m.qzeros.resize(words / group);
  m.scales.resize(static_cast<std::size_t>(k / group) * n);
  for (auto& word : m.qweight) {
    word = static_cast<std::uint32_t>(random());
  }
  for (auto& word : m.qzeros) {
    word = fill.positive ? 0 : static_cast<std::uint32_t>(random());
  }
  std::uniform_real_distribution<double> exponent(std::log(fill.scale_low),
                                                  std::log(fill.scale_high));
  for (auto& scale : m.scales) {
    scale = arith::DoubleToHalf(std::exp(exponent(random)));
  }
  return m;
}

Problem RandomProblem(const Case& c, const Fill& fill, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Shape& shape = c.shape;
  Problem p;
  p.c = c;
  p.hidden = RandomHalves(static_cast<std::size_t>(shape.tokens) * shape.hidden, fill.activation,
                          fill.positive, random);
  std::uniform_int_distribution<std::int32_t> expert(0, shape.experts - 1);
  std::uniform_real_distribution<float> weight(0.1F, 1.0F);
  for (int t = 0; t < shape.tokens; ++t) {
    float sum = 0;
    for (int j = 0; j < shape.top_k; ++j) {
      p.topk_ids.push_back(expert(random));
      p.topk_weights.push_back(weight(random));
      sum += p.topk_weights.back();
    }
    std::transform(p.topk_weights.end() - shape.top_k, p.topk_weights.end(),
                   p.topk_weights.end() - shape.top_k, [&](float w) { return w / sum; });
  }
  p.slot_order.resize(static_cast<std::size_t>(shape.slots()));
  std::iota(p.slot_order.begin(), p.slot_order.end(), 0);
  if (c.layout == SlotLayout::kShuffled) {
    std::shuffle(p.slot_order.begin(), p.slot_order.end(), random);
  } else {
    std::stable_sort(p.slot_order.begin(), p.slot_order.end(), [&](int a, int b) {
      return p.topk_ids[static_cast<std::size_t>(a)] < p.topk_ids[static_cast<std::size_t>(b)];
    });
  }
  for (int e = 0; e < shape.experts; ++e) {
    if (std::find(p.topk_ids.begin(), p.topk_ids.end(), e) != p.topk_ids.end()) {
      auto weights = std::make_shared<ExpertWeights>();
      weights->id = e;
      weights->w13 = RandomMatrix(c.w13_k(), c.w13_n(), shape.group, fill, random);
      weights->w2 = RandomMatrix(c.w2_k(), c.w2_n(), shape.group, fill, random);
      p.experts.push_back(std::move(weights));
    }
  }
  return p;
}

}  // namespace voltcheck::reference
