#include <algorithm>

#include "kernels/plan_parts.h"

namespace voltcheck::kernels {

std::string GemmEntry(const Tile& tile, int group, Metadata metadata) {
  return "grouped_gemm_" + ToString(tile) + "_g" + std::to_string(group) +
         (metadata == Metadata::k3Byte ? "_3b" : "_4b");
}

int GemmWarpRows(const Tile& tile) {
  return tile.m * tile.n > 128 * 128 ? tile.m : std::min(tile.m, 64);
}

std::uint32_t GemmThreads(const Tile& tile) {
  // kThreads of sm70/gemm_tile.cuh.
  return static_cast<std::uint32_t>(32 * (tile.n / 32) * (tile.m / GemmWarpRows(tile)));
}

void AddGemm(const GemmPart& part, Plan& plan) {
  const Tile& tile = part.tactic.tile;
  // A launch over all segments has room for every way of cutting the rows into segments; a launch
  // for one segment has room for all rows in it (sm70/segments.cuh).
  const int row_tiles = part.schedule == Schedule::kOffsets ? part.slots / tile.m + part.segments
                                                            : (part.slots + tile.m - 1) / tile.m;
  const Dim3 grid{static_cast<std::uint32_t>(row_tiles), BlocksFor(part.n, tile.n),
                  static_cast<std::uint32_t>(part.tactic.splits)};

  PlanArgument partials = kNull;
  PlanArgument locks = kNull;
  if (part.tactic.splits > 1) {
    plan.buffers.push_back({part.name + ".partials",
                            sizeof(float) * static_cast<std::size_t>(part.slots) * part.n,
                            BufferSpec::Role::kWorkspace,
                            {}});
    plan.buffers.push_back({part.name + ".locks",
                            sizeof(std::int32_t) * grid.x * grid.y,
                            BufferSpec::Role::kLock,
                            {}});
    partials = At(part.name + ".partials");
    locks = At(part.name + ".locks");
  }

  const bool dense = part.schedule == Schedule::kExperts;
  const std::int32_t out_stride = part.fuse_silu ? part.n / 2 : part.n;
  const auto launch = [&](std::int32_t segment) {
    plan.launches.push_back(
        {part.stage,
         GemmEntry(tile, part.group, part.metadata),
         grid,
         {GemmThreads(tile), 1, 1},
         0,
         {At(part.output), out_stride, At(part.input),
          part.gather ? PlanArgument(At("row_token")) : PlanArgument(kNull), At(part.offsets),
          dense ? PlanArgument(kNull) : PlanArgument(At(part.segment_expert)),
          At(part.name + ".weight_table"), At(part.name + ".metadata_table"), partials, locks,
          part.segments, segment, part.k, part.n, part.tactic.splits,
          static_cast<std::int32_t>(part.fuse_silu)}});
  };
  if (part.schedule == Schedule::kOffsets) {
    launch(-1);
    return;
  }
  for (std::int32_t segment = 0; segment < part.segments; ++segment) {
    launch(segment);
  }
}

}  // namespace voltcheck::kernels
