#include "verify/random_cases.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "fixtures/case/descriptor.h"
#include "fixtures/counter_random.h"
#include "fixtures/generate.h"

namespace voltcheck::verify {
namespace {

using fixtures::CounterRandom;

// Streams of numbers of this file, apart from those of tensors.
constexpr std::uint64_t kCaseStream = std::uint64_t{1} << 62;
constexpr std::uint64_t kSampleStream = kCaseStream - 1;

// One draw after the other for one case.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t index) : random_(seed, kCaseStream + index) {}

  int Below(int bound) {
    return static_cast<int>(random_.Below(static_cast<std::uint64_t>(bound), next_++));
  }
  template <typename T, std::size_t kCount>
  T Of(const std::array<T, kCount>& values) {
    return values[static_cast<std::size_t>(Below(static_cast<int>(kCount)))];
  }
  std::uint64_t Bits() { return random_.Bits(next_++); }

 private:
  CounterRandom random_;
  std::uint64_t next_ = 0;
};

Tactic DrawTactic(Draws& draws, int k, int n, int group) {
  std::vector<Tactic> feasible;
  for (const Tile& tile : TilesForGroup(group)) {
    for (int splits = 1; splits <= 16; ++splits) {
      if (WhyInfeasible({tile, splits}, k, n, group).empty()) {
        feasible.push_back({tile, splits});
      }
    }
  }
  return feasible[static_cast<std::size_t>(draws.Below(static_cast<int>(feasible.size())))];
}

Routing DrawRouting(Draws& draws, const Case& c) {
  constexpr std::array kKinds{RoutingKind::kUniform,  RoutingKind::kZipf,      RoutingKind::kOne,
                              RoutingKind::kDistinct, RoutingKind::kDuplicate, RoutingKind::kHole,
                              RoutingKind::kSoftmax,  RoutingKind::kInvalid};
  const Shape& s = c.shape;
  Routing routing;
  routing.kind = draws.Of(kKinds);
  const bool impossible =
      (routing.kind == RoutingKind::kDuplicate && s.top_k < 2) ||
      (routing.kind == RoutingKind::kHole && s.top_k >= s.experts) ||
      // Only the single-token route leaves invalid ids out; slots 1, 4, ... name them.
      (routing.kind == RoutingKind::kInvalid && (c.path != Path::kM1 || s.top_k < 2));
  if (impossible) {
    routing.kind = RoutingKind::kUniform;
  }
  if (routing.kind == RoutingKind::kOne) {
    routing.expert = draws.Below(s.experts);
  } else if (routing.kind == RoutingKind::kInvalid) {
    routing.expert =
        draws.Of(std::array<std::int64_t, 4>{-1, s.experts, s.experts + 1, 2147483647});
  } else if (routing.kind == RoutingKind::kZipf) {
    routing.zipf_exponent = draws.Of(std::array{0.5, 1.1, 2.0, 4.0});
  }
  routing.hole = draws.Of(std::array{Routing::Hole::kFirst, Routing::Hole::kMiddle,
                                     Routing::Hole::kLast, Routing::Hole::kMost});
  return routing;
}

// Whether at least half of the tokens have a slot that the rank computes: with fewer, an output is
// mostly zeros and proves little.
bool ComputesEnough(const Case& c) {
  const fixtures::RoutedTokens routed = fixtures::GenerateRouting(c);
  int computed = 0;
  for (int t = 0; t < c.shape.tokens; ++t) {
    const auto first = routed.ids.begin() + static_cast<std::ptrdiff_t>(t) * c.shape.top_k;
    computed += std::any_of(first, first + c.shape.top_k,
                            [&](std::int32_t id) { return fixtures::IsLocalExpert(c, id); })
                    ? 1
                    : 0;
  }
  return 2 * computed >= c.shape.tokens;
}

Case DrawCase(std::uint64_t seed, std::uint64_t index) {
  Draws draws(seed, index);
  Case c;
  Shape& s = c.shape;
  s.group = draws.Of(std::array{32, 64, 128});
  s.hidden = s.group * (1 + draws.Below(512 / s.group));
  s.intermediate = s.group * (1 + draws.Below(256 / s.group));
  s.experts = draws.Of(std::array{1, 2, 3, 8, 16, 32});
  s.top_k = 1 + draws.Below(std::min(s.experts, 8));
  c.path = draws.Of(std::array{Path::kSegment, Path::kOffset, Path::kOffset, Path::kDense,
                               Path::kM1, Path::kIndexed});
  s.tokens = c.path == Path::kM1
                 ? 1
                 : draws.Of(std::array{1, 2, 3, 7, 8, 9, 10, 15, 16, 17, 33, 127, 128, 129});
  c.layout =
      c.path != Path::kDense && draws.Below(2) == 0 ? SlotLayout::kShuffled : SlotLayout::kSorted;
  c.metadata = draws.Of(std::array{Metadata::k4Byte, Metadata::k3Byte});
  c.columns = c.path != Path::kM1 && draws.Below(2) == 0 ? Columns::kHalves : Columns::kInterleaved;
  c.w13 = DrawTactic(draws, c.w13_k(), c.w13_n(), s.group);
  c.w2 = DrawTactic(draws, c.w2_k(), c.w2_n(), s.group);
  c.data = draws.Of(std::array{Data::kNormal, Data::kNormal, Data::kInteger, Data::kOneHot,
                               Data::kSubnormal, Data::kExtreme, Data::kSigned, Data::kGates});
  c.numerics = draws.Of(
      std::array{Numerics::kV100, Numerics::kV100, Numerics::kSm75, Numerics::kSm80Software});
  c.ep_ranks = draws.Below(4) == 0 ? 1 + draws.Below(std::min(s.experts, 4)) : 1;
  c.ep_rank = draws.Below(c.ep_ranks);
  c.routing = DrawRouting(draws, c);
  c.head = draws.Below(4) == 0 ? draws.Of(std::array{1, 5, 100, 257}) : 0;
  c.seed = draws.Bits();
  if (!ComputesEnough(c)) {
    c.ep_rank = 0;
    c.ep_ranks = 1;
  }
  ValidateCase(c);
  return c;
}

}  // namespace

std::vector<Case> RandomCases(std::size_t count, std::uint64_t seed) {
  std::vector<Case> cases;
  cases.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    cases.push_back(DrawCase(seed, i));
  }
  return cases;
}

std::vector<Case> SampleCases(const std::vector<Case>& cases, std::size_t count,
                              std::uint64_t seed) {
  if (count >= cases.size()) {
    return cases;
  }
  const CounterRandom random(seed, kSampleStream);
  std::vector<std::size_t> indices(cases.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(indices[i], indices[i + random.Below(indices.size() - i, i)]);
  }
  indices.resize(count);
  std::sort(indices.begin(), indices.end());
  std::vector<Case> sample;
  sample.reserve(count);
  for (const std::size_t i : indices) {
    sample.push_back(cases[i]);
  }
  return sample;
}

void ExactFirst(std::vector<Case>& cases) {
  std::stable_partition(cases.begin(), cases.end(),
                        [](const Case& c) { return HasExactW13(c.data); });
}

}  // namespace voltcheck::verify
