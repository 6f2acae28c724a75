// Element numbers of 2^31 and more, without memory of that size: row numbers that stand in memory
// are raised by a bias, and the pointers that they are added to are lowered by as many rows. Every
// address is then the same as before, but only for who multiplies in 64 bits.
#include <cstring>

#include "kernels/plan_memory.h"
#include "kernels/plan_parts.h"
#include "kernels/stage_outputs.h"
#include "reference/routing.h"
#include "verify/properties/breach.h"
#include "verify/properties/checks.h"
#include "verify/properties/edits.h"
#include "verify/properties/sameness.h"

namespace voltcheck::properties {
namespace {

using kernels::At;
using kernels::BufferArgument;
using kernels::BufferSpec;
using kernels::Plan;
using kernels::PlanLaunch;
using kernels::PlanStage;

/// A bias of so many rows puts even the number of a row's first 16-byte piece beyond 2^31.
std::int32_t Bias(int row_elements) {
  return static_cast<std::int32_t>((std::int64_t{1} << 34) / row_elements + 1);
}

/// Adds an int32 input buffer with `values` raised by `bias`; gives its address.
BufferArgument AddBiased(Plan& plan, const std::string& name, std::vector<std::int32_t> values,
                         std::int32_t bias) {
  for (std::int32_t& value : values) {
    value += bias;
  }
  std::vector<std::byte> contents = kernels::ContentsOf(values);
  plan.buffers.push_back({name, contents.size(), BufferSpec::Role::kInput, std::move(contents)});
  return At(name);
}

/// Lowers a pointer argument by `bias` rows; null stays null. The offset wraps around below zero,
/// as 64-bit addresses do.
void Lower(kernels::PlanArgument& argument, std::int32_t bias, std::int64_t row_bytes) {
  if (auto* buffer = std::get_if<BufferArgument>(&argument)) {
    buffer->offset -= static_cast<std::uint64_t>(bias) * static_cast<std::uint64_t>(row_bytes);
  }
}

/// Tokens are numbered from far up where the activations are gathered, and rows where they are
/// reduced.
Plan WithFarSources(const Problem& problem, const reference::Permutation& permutation) {
  Plan plan = kernels::MakePlan(problem);
  const Shape& shape = problem.c.shape;
  const std::int32_t bias = Bias(shape.hidden);
  const std::int64_t row_bytes = std::int64_t{2} * shape.hidden;
  std::vector<std::int32_t> row_token;
  for (const std::int32_t slot : permutation.source) {
    row_token.push_back(slot / shape.top_k);
  }
  const BufferArgument tokens = AddBiased(plan, "far.row_token", row_token, bias);
  const BufferArgument inverse = AddBiased(plan, "far.inverse", permutation.inverse, bias);
  const BufferArgument rows = AddBiased(plan, "far.rows", {permutation.rows}, bias);
  for (PlanLaunch& launch : plan.launches) {
    if (launch.kernel == "moe_gather") {
      Lower(launch.arguments[1], bias, row_bytes);
      launch.arguments[2] = tokens;
    } else if (launch.stage == PlanStage::kW13 &&
               std::holds_alternative<BufferArgument>(launch.arguments[3])) {
      Lower(launch.arguments[2], bias, row_bytes);
      launch.arguments[3] = tokens;
    } else if (launch.kernel == "moe_reduce") {
      Lower(launch.arguments[1], bias, row_bytes);
      launch.arguments[3] = inverse;
      launch.arguments[4] = rows;
    }
  }
  return plan;
}

/// Segments begin far down the rows: their inputs, outputs and partial sums.
Plan WithFarSegments(const Problem& problem, const reference::Permutation& permutation) {
  Plan plan = kernels::MakePlan(problem);
  const Case& c = problem.c;
  const std::int32_t bias = Bias(std::min(c.shape.hidden, c.shape.intermediate));
  const BufferArgument offsets = AddBiased(plan, "far.offsets", permutation.offsets, bias);
  for (PlanLaunch& launch : plan.launches) {
    const bool is_w13 = launch.stage == PlanStage::kW13;
    if (!is_w13 && launch.stage != PlanStage::kW2) {
      continue;
    }
    const std::int64_t k = is_w13 ? c.w13_k() : c.w2_k();
    const std::int64_t n = is_w13 ? c.w13_n() : c.w2_n();
    Lower(launch.arguments[0], bias, 2 * n);
    Lower(launch.arguments[2], bias, 2 * k);
    launch.arguments[4] = offsets;
    Lower(launch.arguments[8], bias, static_cast<std::int64_t>(sizeof(float)) * n);
  }
  return plan;
}

// Weight tiles of 32 columns, and how far apart they lie once spread out.
constexpr int kTileColumns = 32;
constexpr std::uint64_t kTableEntry = 16;
struct Spread {
  std::string name;  ///< "w13" or "w2"
  std::uint64_t experts = 0, tiles = 0;
  std::uint64_t tile_bytes = 0;
  std::uint64_t stride_words = 0;  ///< from tile to tile; the last one begins beyond word 2^31
  std::uint64_t expert_bytes() const { return 4 * stride_words * (tiles - 1) + tile_bytes; }
};

Spread SpreadOf(const Problem& problem, bool is_w13, const Plan& plan) {
  const Case& c = problem.c;
  Spread s;
  s.name = is_w13 ? "w13" : "w2";
  s.tiles = static_cast<std::uint64_t>(((is_w13 ? c.w13_n() : c.w2_n()) + kTileColumns - 1) /
                                       kTileColumns);
  s.tile_bytes =
      static_cast<std::uint64_t>(4 * kTileColumns * ((is_w13 ? c.w13_k() : c.w2_k()) / 8));
  s.experts = plan.FindBuffer(s.name + ".packed")->bytes / (s.tiles * s.tile_bytes);
  s.stride_words = ((std::uint64_t{1} << 31) / (s.tiles - 1) + 32) / 32 * 32;
  return s;
}

/// The plan with the tiles of one GEMM's weights far apart; they are not repacked by it.
Plan WithSpreadWeights(Plan plan, const Spread& s) {
  BufferSpec& packed = BufferOf(plan, s.name + ".packed");
  const std::uint64_t close = packed.bytes / s.experts;
  packed.bytes = s.experts * s.expert_bytes();
  std::erase_if(plan.launches, [&](const PlanLaunch& launch) {
    return launch.kernel == "awq_repack_weights" &&
           launch.arguments[0] == kernels::PlanArgument(At(s.name + ".packed"));
  });
  std::vector<std::byte>& table = BufferOf(plan, s.name + ".weight_table").contents;
  for (kernels::PointerFixup& fixup : plan.fixups) {
    if (fixup.target.buffer == s.name + ".packed") {
      fixup.target.offset = fixup.target.offset / close * s.expert_bytes();
      const auto stride = static_cast<std::int32_t>(s.stride_words);
      std::memcpy(table.data() + fixup.offset / kTableEntry * kTableEntry + 8, &stride,
                  sizeof(stride));
    }
  }
  return plan;
}

StageRun RunSpread(const Problem& problem, bool is_w13, Bench& bench) {
  const Plan plan = kernels::MakePlan(problem);
  Station& station = bench.Untracked(problem.c.numerics);
  const auto run = [&](const Plan& launches, const kernels::PlanMemory& memory, bool repack_only) {
    for (const PlanLaunch& launch : launches.launches) {
      if (!repack_only || launch.stage == PlanStage::kRepack) {
        station.device->Run(memory.Bind(launch, *station.kernels));
      }
    }
    station.device->Synchronize();
    bench.ExpectClean(station);
  };
  const Spread s = SpreadOf(problem, is_w13, plan);
  std::vector<std::byte> packed;
  {
    kernels::PlanMemory memory(*station.device, plan, 0);
    memory.Upload();
    run(plan, memory, true);
    packed = memory.Download(s.name + ".packed");
  }
  const Plan spread = WithSpreadWeights(plan, s);
  kernels::PlanMemory memory(*station.device, spread, 0);
  memory.Upload();
  for (std::uint64_t tile = 0; tile < s.experts * s.tiles; ++tile) {
    const std::uint64_t to =
        tile / s.tiles * s.expert_bytes() + tile % s.tiles * 4 * s.stride_words;
    station.device->CopyToDevice(
        memory.AddressOf(At(s.name + ".packed", to)),
        std::span<const std::byte>(packed).subspan(tile * s.tile_bytes, s.tile_bytes));
  }
  run(spread, memory, false);
  StageRun result{problem.c, {}};
  kernels::DownloadOutputs(memory, spread, problem.c.shape, result.out);
  return result;
}

}  // namespace

void FarRows(const Problem& problem, Bench& bench) {
  const reference::Permutation permutation = reference::Permute(problem);
  const StageRun base = bench.Run(problem);
  ExpectSameStage(base, bench.Run(WithFarSources(problem, permutation), problem.c),
                  "the bits when tokens and rows are numbered from 0 and not from beyond 2^31 "
                  "elements");
  if (problem.c.path == Path::kM1) {
    return;  // its SiLU is fused, which the segment loop does not do
  }
  // Only a launch for one segment takes its first row from the offsets alone; the entries are the
  // same on every path.
  Problem segments = problem;
  segments.c.path = Path::kSegment;
  ExpectSameStage(base, bench.Run(WithFarSegments(segments, permutation), segments.c),
                  "the bits when segments begin at row 0 and not beyond 2^31 elements");
}

void FarWeightTiles(const Problem& problem, Bench& bench) {
  const StageRun base = bench.Run(problem);
  for (const bool is_w13 : {true, false}) {
    if ((is_w13 ? problem.c.w13_n() : problem.c.w2_n()) > 2 * kTileColumns && base.out.rows > 0) {
      ExpectSameStage(base, RunSpread(problem, is_w13, bench),
                      std::string("the bits when the weight tiles of ") + (is_w13 ? "w13" : "w2") +
                          " lie close together and not 2^31 words apart");
    }
  }
}

}  // namespace voltcheck::properties
