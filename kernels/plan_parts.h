#ifndef VOLTCHECK_KERNELS_PLAN_PARTS_H_
#define VOLTCHECK_KERNELS_PLAN_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/plan.h"

namespace voltcheck::kernels {

/// The bytes of a vector, for a buffer's contents.
template <typename T>
std::vector<std::byte> ContentsOf(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span<const T>(values));
  return {bytes.begin(), bytes.end()};
}

inline BufferArgument At(std::string buffer, std::uint64_t offset = 0) {
  return {std::move(buffer), offset};
}

/// A pointer argument that is null.
inline constexpr std::int64_t kNull = 0;

/// Blocks of `block` threads that cover `threads`.
inline std::uint32_t BlocksFor(std::int64_t threads, std::int64_t block) {
  return static_cast<std::uint32_t>((threads + block - 1) / block);
}

/// Adds one GEMM's weights to a plan: the checkpoint's tensors of every expert that is held, the
/// launches that repack them, and the two pointer tables "NAME.weight_table" and
/// "NAME.metadata_table" with an entry for each of the `experts` ids.
struct WeightPart {
  std::string name;                        ///< prefix of the buffers, "w13" or "w2"
  std::vector<const AwqMatrix*> matrices;  ///< of the held experts
  std::vector<int> ids;                    ///< their ids, ascending
  int experts = 0;
  int k = 0, n = 0, group = 0;
  bool interleave = false;  ///< [gate | up] columns become g0, u0, g1, u1, ...
  Metadata metadata = Metadata::k4Byte;
};
void AddWeights(const WeightPart& part, Plan& plan);

/// How the rows of a GEMM find their expert.
enum class Schedule {
  kOffsets,   ///< one launch over all segments
  kSegments,  ///< one launch a segment, empty ones included
  kExperts,   ///< one launch an expert, over buffers "first_row"
};

/// One grouped GEMM: [slots, k] times the weights "NAME.weight_table" to [slots, n]. Adds the
/// workspaces that its splits need and its launches; the output buffer must exist.
struct GemmPart {
  std::string name;
  PlanStage stage = PlanStage::kW13;
  Schedule schedule = Schedule::kOffsets;
  Tactic tactic;
  Metadata metadata = Metadata::k4Byte;
  int k = 0, n = 0, group = 0;
  int slots = 0;     ///< rows, of which the last ones may belong to no segment
  int segments = 0;  ///< segments, or experts for kExperts
  std::string input;
  std::string output;
  std::string offsets;         ///< buffer of segment offsets
  std::string segment_expert;  ///< buffer of segment experts
  bool gather = false;         ///< rows of `input` by way of buffer "row_token"
  bool fuse_silu = false;      ///< output is [slots, n / 2]
};
void AddGemm(const GemmPart& part, Plan& plan);

/// Entry name of a tile, e.g. "grouped_gemm_8x128x64_g32_4b".
std::string GemmEntry(const Tile& tile, int group, Metadata metadata);
/// Rows that a warp of that entry computes (kWarpRows of sm70/gemm_tile.cuh).
int GemmWarpRows(const Tile& tile);
/// Threads of a CTA of that entry: a warp for every 32 columns and 64 rows (128 in the largest
/// tile).
std::uint32_t GemmThreads(const Tile& tile);

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_PLAN_PARTS_H_
