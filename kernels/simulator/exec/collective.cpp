// shfl, vote, match. The warp calls these when all lanes of the member mask have arrived;
// context.mask is the lanes that take part.
#include <bit>
#include <cstring>

#include "kernels/simulator/exec/scalar.h"

namespace voltcheck::simulator {
namespace {

enum class ShflMode { kUp, kDown, kButterfly, kIndex };

/// op: d, p, a, b, c, member mask. c holds the clamp (bits 0-4) and the segment mask (bits 8-12).
template <ShflMode kMode>
void Shfl(ExecContext& context, const Instr& instr) {
  std::uint32_t a[kWarpSize];
  std::memcpy(a, context.Row<const std::uint32_t>(instr.op[2]), sizeof(a));
  const std::uint32_t* b = context.Row<const std::uint32_t>(instr.op[3]);
  const std::uint32_t* c = context.Row<const std::uint32_t>(instr.op[4]);
  std::uint32_t results[kWarpSize];
  std::uint32_t valid = 0;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const std::uint32_t value = b[lane] & 31;
    const std::uint32_t clamp = c[lane] & 31;
    const std::uint32_t segment = c[lane] >> 8 & 31;
    const std::uint32_t max_lane = (lane & segment) | (clamp & ~segment);
    const std::uint32_t min_lane = lane & segment;
    std::uint32_t source = 0;
    bool inside = false;
    switch (kMode) {
      case ShflMode::kUp:
        source = lane - value;
        inside = static_cast<std::int32_t>(source) >= static_cast<std::int32_t>(max_lane);
        break;
      case ShflMode::kDown:
        source = lane + value;
        inside = source <= max_lane;
        break;
      case ShflMode::kButterfly:
        source = lane ^ value;
        inside = source <= max_lane;
        break;
      case ShflMode::kIndex:
        source = min_lane | (value & ~segment);
        inside = source <= max_lane;
        break;
    }
    results[lane] = a[inside ? source & 31 : lane];
    valid |= static_cast<std::uint32_t>(inside) << lane;
  }
  std::uint32_t* d = context.Row<std::uint32_t>(instr.op[0]);
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    d[lane] = (context.mask >> lane & 1) != 0 ? results[lane] : d[lane];
  }
  std::uint32_t* p = context.Row<std::uint32_t>(instr.op[1]);
  *p = (*p & ~context.mask) | (valid & context.mask);
}

enum class VoteMode { kAll, kAny, kUniform, kBallot };

/// op: d, predicate, member mask.
template <VoteMode kMode>
void Vote(ExecContext& context, const Instr& instr) {
  const std::uint32_t votes = *context.Row<const std::uint32_t>(instr.op[1]) & context.mask;
  if constexpr (kMode == VoteMode::kBallot) {
    std::uint32_t* d = context.Row<std::uint32_t>(instr.op[0]);
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
      d[lane] = (context.mask >> lane & 1) != 0 ? votes : d[lane];
    }
  } else {
    const bool all = votes == context.mask;
    const bool any = votes != 0;
    const bool result = kMode == VoteMode::kAll ? all : kMode == VoteMode::kAny ? any : all || !any;
    std::uint32_t* p = context.Row<std::uint32_t>(instr.op[0]);
    *p = (*p & ~context.mask) | (result ? context.mask : 0);
  }
}

/// op: d, p, a, member mask.
template <typename T, bool kAll>
void Match(ExecContext& context, const Instr& instr) {
  T a[kWarpSize];
  std::memcpy(a, context.Row<const T>(instr.op[2]), sizeof(a));
  std::uint32_t* d = context.Row<std::uint32_t>(instr.op[0]);
  std::uint32_t same_as_all = 0;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((context.mask >> lane & 1) == 0) {
      continue;
    }
    std::uint32_t equal = 0;
    for (std::uint32_t other = 0; other < kWarpSize; ++other) {
      if ((context.mask >> other & 1) != 0 && a[other] == a[lane]) {
        equal |= 1u << other;
      }
    }
    const bool all = equal == context.mask;
    d[lane] = kAll && !all ? 0 : equal;
    same_as_all |= static_cast<std::uint32_t>(all) << lane;
  }
  std::uint32_t* p = context.Row<std::uint32_t>(instr.op[1]);
  *p = (*p & ~context.mask) | same_as_all;
}

void Add(OpList& list, const char* key, Handler handler) {
  list.push_back({key, "", handler, handler});
}

}  // namespace

void AppendCollectiveOps(OpList& list) {
  Add(list, "@shfl.up", Shfl<ShflMode::kUp>);
  Add(list, "@shfl.down", Shfl<ShflMode::kDown>);
  Add(list, "@shfl.bfly", Shfl<ShflMode::kButterfly>);
  Add(list, "@shfl.idx", Shfl<ShflMode::kIndex>);
  Add(list, "@vote.all.pred", Vote<VoteMode::kAll>);
  Add(list, "@vote.any.pred", Vote<VoteMode::kAny>);
  Add(list, "@vote.uni.pred", Vote<VoteMode::kUniform>);
  Add(list, "@vote.ballot.b32", Vote<VoteMode::kBallot>);
  Add(list, "@match.any.b32", Match<std::uint32_t, false>);
  Add(list, "@match.any.b64", Match<std::uint64_t, false>);
  Add(list, "@match.all.b32", Match<std::uint32_t, true>);
  Add(list, "@match.all.b64", Match<std::uint64_t, true>);
}

}  // namespace voltcheck::simulator
