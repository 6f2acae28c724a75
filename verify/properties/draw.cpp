#include "verify/properties/draw.h"

#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <mutex>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"

namespace voltcheck::properties {
namespace {

Tactic DrawTactic(int k, int n, int group) {
  std::vector<Tactic> feasible;
  for (const Tile& tile : TilesForGroup(group)) {
    for (const int splits : {1, 2, 3, 4}) {
      if (WhyInfeasible({tile, splits}, k, n, group).empty()) {
        feasible.push_back({tile, splits});
      }
    }
  }
  return *rc::gen::elementOf(feasible);
}

Routing DrawRouting(const Shape& shape, Path path) {
  Routing routing;
  routing.kind =
      *rc::gen::element(RoutingKind::kUniform, RoutingKind::kUniform, RoutingKind::kZipf,
                        RoutingKind::kOne, RoutingKind::kDistinct, RoutingKind::kDuplicate,
                        RoutingKind::kHole, RoutingKind::kSoftmax, RoutingKind::kInvalid);
  const bool impossible = (routing.kind == RoutingKind::kDuplicate && shape.top_k < 2) ||
                          (routing.kind == RoutingKind::kHole && shape.top_k >= shape.experts) ||
                          (routing.kind == RoutingKind::kInvalid && path != Path::kM1);
  if (impossible) {
    routing.kind = RoutingKind::kUniform;
  }
  if (routing.kind == RoutingKind::kZipf) {
    routing.zipf_exponent = *rc::gen::element(0.5, 1.1, 3.0);
  } else if (routing.kind == RoutingKind::kOne) {
    routing.expert = *rc::gen::inRange(0, shape.experts);
  } else if (routing.kind == RoutingKind::kInvalid) {
    routing.expert = *rc::gen::element<std::int64_t>(-1, shape.experts, 2147483647);
  } else if (routing.kind == RoutingKind::kHole) {
    routing.hole = *rc::gen::element(Routing::Hole::kFirst, Routing::Hole::kMiddle,
                                     Routing::Hole::kLast, Routing::Hole::kMost);
  }
  return routing;
}

Case DrawCase() {
  Case c;
  Shape& s = c.shape;
  s.tokens = *rc::gen::element(1, 1, 2, 2, 3, 7, 8, 8, 9, 9, 10, 16, 17, 127, 128, 129);
  const bool many = s.tokens > 100;  // then everything else is small: the simulator does all of it
  c.path = *rc::gen::element(Path::kOffset, Path::kOffset, Path::kSegment, Path::kDense,
                             Path::kIndexed, Path::kM1);
  if (c.path == Path::kM1 || (many && c.path == Path::kSegment)) {
    s.tokens = c.path == Path::kM1 ? 1 : 9;
  }
  s.group = *rc::gen::element(32, 32, 32, 64, 128);
  s.hidden = s.group * (many ? 1 : *rc::gen::inRange(1, 5));
  s.intermediate = s.group * (many ? 1 : *rc::gen::inRange(1, 3));
  s.experts = *rc::gen::element(1, 2, 3, 5, 8, 12);
  s.top_k = *rc::gen::inRange(1, std::min(s.experts, many ? 2 : 4) + 1);
  c.routing = DrawRouting(s, c.path);
  c.layout = c.path == Path::kDense ? SlotLayout::kSorted
                                    : *rc::gen::element(SlotLayout::kSorted, SlotLayout::kShuffled);
  c.metadata = *rc::gen::element(Metadata::k4Byte, Metadata::k3Byte);
  c.columns = c.path == Path::kM1 ? Columns::kInterleaved
                                  : *rc::gen::element(Columns::kInterleaved, Columns::kHalves);
  c.w13 = DrawTactic(c.w13_k(), c.w13_n(), s.group);
  c.w2 = DrawTactic(c.w2_k(), c.w2_n(), s.group);
  c.data = *rc::gen::element(Data::kNormal, Data::kNormal, Data::kInteger, Data::kOneHot,
                             Data::kSubnormal, Data::kExtreme, Data::kSigned, Data::kGates);
  c.numerics = *rc::gen::element(Numerics::kV100, Numerics::kV100, Numerics::kV100, Numerics::kSm75,
                                 Numerics::kSm80Software, Numerics::kSm90);
  c.ep_ranks = *rc::gen::element(1, 1, 1, std::min(s.experts, 3));
  c.ep_rank = *rc::gen::inRange(0, c.ep_ranks);
  c.seed = *rc::gen::inRange<std::uint64_t>(1, 1000000);
  return c;
}

/// Makes a changed case valid again where that needs other tactics, and keeps it when it is.
void Offer(Case c, const Case& original, std::vector<Case>& smaller) {
  if (!WhyInfeasible(c.w13, c.w13_k(), c.w13_n(), c.shape.group).empty()) {
    c.w13 = DefaultTactic(c.shape.slots(), c.w13_k(), c.w13_n(), c.shape.group);
  }
  if (!WhyInfeasible(c.w2, c.w2_k(), c.w2_n(), c.shape.group).empty()) {
    c.w2 = DefaultTactic(c.shape.slots(), c.w2_k(), c.w2_n(), c.shape.group);
  }
  if (c == original) {
    return;
  }
  try {
    ValidateCase(c);
  } catch (const Error&) {
    return;
  }
  smaller.push_back(std::move(c));
}

/// Smaller whole multiples of `unit` than `value`: the smallest, the half, one less.
std::vector<int> SmallerNumbers(int value, int unit) {
  std::vector<int> numbers;
  for (const int n : {unit, value / 2 / unit * unit, value - unit}) {
    if (n >= unit && n < value && std::find(numbers.begin(), numbers.end(), n) == numbers.end()) {
      numbers.push_back(n);
    }
  }
  return numbers;
}

}  // namespace

std::vector<Case> SmallerCases(const Case& c) {
  std::vector<Case> smaller;
  const auto offer = [&](const std::function<void(Case&)>& change) {
    Case changed = c;
    change(changed);
    Offer(std::move(changed), c, smaller);
  };
  const auto offer_numbers = [&](int Shape::*member, int unit) {
    for (const int n : SmallerNumbers(c.shape.*member, unit)) {
      offer([&](Case& o) { o.shape.*member = n; });
    }
  };
  const Case plain;
  offer_numbers(&Shape::tokens, 1);
  offer_numbers(&Shape::top_k, 1);
  for (const int experts : SmallerNumbers(c.shape.experts, 1)) {
    offer([&](Case& o) {
      o.shape.experts = experts;
      o.shape.top_k = std::min(o.shape.top_k, experts);
      o.ep_ranks = std::min(o.ep_ranks, experts);
      o.ep_rank = std::min(o.ep_rank, o.ep_ranks - 1);
      if (o.routing.kind == RoutingKind::kOne) {
        o.routing.expert = std::min<std::int64_t>(o.routing.expert, experts - 1);
      }
    });
  }
  offer_numbers(&Shape::hidden, c.shape.group);
  offer_numbers(&Shape::intermediate, c.shape.group);
  if (c.shape.group > 32) {
    offer([](Case& o) { o.shape.group = 32; });
  }
  offer([](Case& o) { o.routing = Routing{}; });
  offer([](Case& o) {
    o.ep_rank = 0;
    o.ep_ranks = 1;
  });
  offer([&](Case& o) { o.layout = plain.layout; });
  offer([&](Case& o) { o.path = plain.path; });
  offer([&](Case& o) { o.metadata = plain.metadata; });
  offer([&](Case& o) { o.columns = plain.columns; });
  offer([&](Case& o) { o.data = o.data == Data::kFixture ? o.data : plain.data; });
  offer([&](Case& o) { o.numerics = plain.numerics; });
  const auto offer_tactics = [&](Tactic Case::*member, int k, int n) {
    offer([&](Case& o) { o.*member = DefaultTactic(c.shape.slots(), k, n, c.shape.group); });
    if ((c.*member).splits > 1) {
      offer([&](Case& o) { (o.*member).splits = 1; });
    }
  };
  offer_tactics(&Case::w13, c.w13_k(), c.w13_n());
  offer_tactics(&Case::w2, c.w2_k(), c.w2_n());
  return smaller;
}

rc::Gen<Case> SmallCases() {
  const rc::Gen<Case> draw = rc::gen::exec(&DrawCase);
  return rc::Gen<Case>([draw](const rc::Random& random, int size) {
    // While RapidCheck runs a generator it keeps the state behind `*gen` in global variables.
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    return rc::shrinkable::shrinkRecur(draw(random, size).value(), [](const Case& c) {
      return rc::seq::fromContainer(SmallerCases(c));
    });
  });
}

}  // namespace voltcheck::properties
