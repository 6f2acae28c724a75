#ifndef VOLTCHECK_TESTS_CASE_ARBITRARY_CASE_H_
#define VOLTCHECK_TESTS_CASE_ARBITRARY_CASE_H_

#include <rapidcheck.h>

#include "fixtures/case/descriptor.h"

namespace voltcheck::testing {

inline Tactic ArbitraryTactic(int k, int n, int group) {
  std::vector<Tactic> feasible;
  for (const Tile& tile : TilesForGroup(group)) {
    for (int splits = 1; splits <= 16; ++splits) {
      if (WhyInfeasible({tile, splits}, k, n, group).empty()) {
        feasible.push_back({tile, splits});
      }
    }
  }
  return *rc::gen::elementOf(feasible);
}

inline Routing ArbitraryRouting(const Shape& shape) {
  Routing routing;
  routing.kind = *rc::gen::element(
      RoutingKind::kUniform, RoutingKind::kZipf, RoutingKind::kOne, RoutingKind::kDistinct,
      RoutingKind::kDuplicate, RoutingKind::kHole, RoutingKind::kSoftmax, RoutingKind::kInvalid);
  routing.zipf_exponent = *rc::gen::inRange(0, 16000001) * 1e-6;
  routing.expert = routing.kind == RoutingKind::kInvalid
                       ? *rc::gen::element<std::int64_t>(-1, shape.experts, shape.experts + 1,
                                                         2147483647, -2147483648LL)
                       : *rc::gen::inRange(0, shape.experts);
  routing.hole = *rc::gen::element(Routing::Hole::kFirst, Routing::Hole::kMiddle,
                                   Routing::Hole::kLast, Routing::Hole::kMost);
  return routing;
}

/// A valid case, over all keys.
inline Case ArbitraryCase() {
  Case c;
  Shape& s = c.shape;
  s.group = *rc::gen::element(32, 64, 128);
  s.hidden = s.group * *rc::gen::inRange(1, 21);
  s.intermediate = s.group * *rc::gen::inRange(1, 6);
  s.experts = *rc::gen::inRange(1, 513);
  s.top_k = *rc::gen::inRange(1, std::min(s.experts, 64) + 1);
  s.tokens = *rc::gen::element(1, 2, 8, 9, 127, 128);
  c.routing = ArbitraryRouting(s);
  c.layout = *rc::gen::element(SlotLayout::kSorted, SlotLayout::kShuffled);
  c.path =
      *rc::gen::element(Path::kSegment, Path::kOffset, Path::kDense, Path::kM1, Path::kIndexed);
  c.metadata = *rc::gen::element(Metadata::k4Byte, Metadata::k3Byte);
  c.columns = *rc::gen::element(Columns::kInterleaved, Columns::kHalves);
  c.w13 = ArbitraryTactic(c.w13_k(), c.w13_n(), s.group);
  c.w2 = ArbitraryTactic(c.w2_k(), c.w2_n(), s.group);
  c.data =
      *rc::gen::element(Data::kNormal, Data::kInteger, Data::kOneHot, Data::kSubnormal,
                        Data::kExtreme, Data::kTies, Data::kSigned, Data::kGates, Data::kFixture);
  c.numerics =
      *rc::gen::element(Numerics::kV100, Numerics::kSm75, Numerics::kSm80Software, Numerics::kSm90);
  c.stage = *rc::gen::element(StageSelection::kAll, StageSelection::kW13, StageSelection::kSilu,
                              StageSelection::kW2, StageSelection::kOutput);
  c.ep_ranks = *rc::gen::inRange(1, std::min(s.experts, 8) + 1);
  c.ep_rank = *rc::gen::inRange(0, c.ep_ranks);
  c.head = *rc::gen::element(0, 0, 1, 37, 65536);
  c.seed = *rc::gen::arbitrary<std::uint64_t>();
  if (c.data == Data::kFixture) {
    c.routing = Routing{};
    c.head = 0;
    c.fixture = *rc::gen::element<std::string>("a", "smollm2_l29", "X-1.2");
    c.fixture_hash = *rc::gen::element<std::string>("", "0123456789ab");
  }
  // The few combinations that no kernel could run.
  const bool needs_two = c.routing.kind == RoutingKind::kDuplicate && s.top_k < 2;
  const bool no_hole = c.routing.kind == RoutingKind::kHole && s.top_k >= s.experts;
  if (needs_two || no_hole) {
    c.routing = Routing{};
  }
  if (c.path == Path::kM1) {
    s.tokens = 1;
    c.columns = Columns::kInterleaved;
  }
  if (c.path == Path::kDense) {
    c.layout = SlotLayout::kSorted;
  }
  return c;
}

}  // namespace voltcheck::testing

#endif  // VOLTCHECK_TESTS_CASE_ARBITRARY_CASE_H_
