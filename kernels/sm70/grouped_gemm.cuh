// The grouped GEMM: rows of A, sorted into segments, times the four-bit weights of each segment's
// expert.
//
// Grid: x row tiles, y column tiles, z splits. One CTA computes one tile of one segment over one
// split:
//   1. find the tile's rows (segments.cuh) and the split's K rows (split_k.cuh);
//   2. walk K in stages: while one stage is multiplied from shared memory, the next one is on its
//   way
//      through registers to the other buffer (gemm_tile.cuh);
//   3. add to what earlier splits left, and either leave the sum for the next split or round it to
//   half.
//
// Every output bit is a function of (splits, max(kK, group)) alone: inside a split K ascends in
// steps of four through one accumulator, splits are added in ascending order in fp32, and there is
// one rounding.
#ifndef VOLTCHECK_KERNELS_SM70_GROUPED_GEMM_CUH_
#define VOLTCHECK_KERNELS_SM70_GROUPED_GEMM_CUH_

#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/sm70/gemm_tile.cuh"
#include "kernels/sm70/segments.cuh"
#include "kernels/sm70/silu.cuh"
#include "kernels/sm70/split_k.cuh"

namespace voltcheck::sm70 {

// One expert's matrix in a table that the operator's caller owns: 16 bytes.
struct ExpertMatrix {
  const void* data;
  std::int32_t
      stride;  // weights: words from one 32-column tile to the next; metadata: see MetadataLoader
  std::int32_t padding;
};

// What happens to the finished sums. The numbers are part of the entries' interface.
enum Epilogue {
  kStoreHalf = 0,  // out[row, column] = RN16(sum)
  // Columns 2j and 2j + 1 are gate and up: out[row, j] = silu(gate) * up. For the single-token
  // route, whose segments are single rows: only a warp's first eight rows have this code, which
  // would be long otherwise.
  kFusedSilu = 1,
};

struct GemmArguments {
  __half* out;
  int out_stride;
  const __half* a;
  const int* row_index;
  const int* offsets;
  const int* segment_expert;
  const ExpertMatrix* weights;
  const ExpertMatrix* metadata;
  float* partials;
  int* locks;
  int segments;
  int segment;
  int k;
  int n;
  int splits;
  int epilogue;
};

// Eight neighbouring columns of one finished row.
__device__ __forceinline__ void StoreRow(const GemmArguments& p, int row, int column, bool may_fuse,
                                         const float (&sum)[8]) {
  union {
    uint4 bits;
    __half h[8];
  } rounded;
#pragma unroll
  for (int i = 0; i < 8; ++i) rounded.h[i] = __float2half_rn(sum[i]);
  __half* out_row = p.out + static_cast<std::size_t>(row) * p.out_stride;
  if (may_fuse && p.epilogue == kFusedSilu) {
    union {
      uint2 bits;
      __half h[4];
    } activated;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      activated.h[i] = SiluMulApproximate(rounded.h[2 * i], rounded.h[2 * i + 1]);
    }
    *reinterpret_cast<uint2*>(out_row + column / 2) = activated.bits;
  } else {
    *reinterpret_cast<uint4*>(out_row + column) = rounded.bits;
  }
}

// A sum that travels from split to split, in fp32 at [row, column] of the workspace.
__device__ __forceinline__ void AddPartial(const float* partial, float (&sum)[8]) {
  const float4 low = *reinterpret_cast<const float4*>(partial);
  const float4 high = *reinterpret_cast<const float4*>(partial + 4);
  const float earlier[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int i = 0; i < 8; ++i) sum[i] = __fadd_rn(earlier[i], sum[i]);
}
__device__ __forceinline__ void StorePartial(float* partial, const float (&sum)[8]) {
  *reinterpret_cast<float4*>(partial) = make_float4(sum[0], sum[1], sum[2], sum[3]);
  *reinterpret_cast<float4*>(partial + 4) = make_float4(sum[4], sum[5], sum[6], sum[7]);
}

template <typename Shape, MetadataForm kForm>
__device__ __forceinline__ void GroupedGemm(const GemmArguments& p) {
  const RowTile tile = p.segment < 0 ? FindRowTile(p.offsets, p.segments, blockIdx.x, Shape::kM)
                                     : SegmentRowTile(p.offsets, p.segment, blockIdx.x, Shape::kM);
  if (tile.begin >= tile.end) return;  // the whole CTA: nothing to wait for, no lock touched

  __shared__ StageTiles<Shape> tiles[2];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int warp_tile = warp % Shape::kWarpsN;
  const int warp_row = warp / Shape::kWarpsN * Shape::kWarpRows;
  const int first_tile = blockIdx.y * Shape::kWarpsN;
  const int warp_column = (first_tile + warp_tile) * kTileColumns;
  // Blocks of eight rows that this warp has to compute: none behind the segment or the last column.
  const int warp_rows = warp_column < p.n ? tile.end - tile.begin - warp_row : 0;
  const int row_blocks = min((warp_rows + 7) >> 3, Shape::kRowBlocks);

  const int expert = p.segment_expert != nullptr ? p.segment_expert[tile.segment] : tile.segment;
  const ExpertMatrix weights = p.weights[expert];
  const ExpertMatrix metadata = p.metadata[expert];
  RowLoader<Shape> a(p.a, p.row_index, p.k, tile.begin, tile.end);
  WeightLoader<Shape> b(weights.data, weights.stride, first_tile,
                        (p.n + kTileColumns - 1) / kTileColumns);
  const MetadataLoader<kForm> columns(metadata.data, metadata.stride, warp_column, p.n, lane);

  const KRange range = SplitRows(p.k, Shape::kChunk, blockIdx.z, p.splits);
  float acc[Shape::kRowBlocks][8] = {};
  std::uint32_t groups[Shape::kStageGroups];
  std::uint32_t next_groups[Shape::kStageGroups];
  const auto fetch = [&](int k0) {
    a.Fetch(k0);
    b.Fetch(k0);
    if (k0 % Shape::kGroup != 0) return;  // the stage before was in the same group
#pragma unroll
    for (int i = 0; i < Shape::kStageGroups; ++i) {
      next_groups[i] = columns.Fetch(k0 / Shape::kGroup + i);
    }
  };
  fetch(range.begin);
  for (int k0 = range.begin, buffer = 0; k0 < range.end; k0 += Shape::kK, buffer ^= 1) {
    a.Store(tiles[buffer]);
    b.Store(tiles[buffer]);
#pragma unroll
    for (int i = 0; i < Shape::kStageGroups; ++i) groups[i] = next_groups[i];
    // One barrier a stage is enough: a buffer is written again two stages later, and no warp gets
    // there before all have passed the barrier of the stage between, behind their last read of this
    // one.
    __syncthreads();
    if (k0 + Shape::kK < range.end) fetch(k0 + Shape::kK);
    if (row_blocks > 0) {
      MultiplyStage<Shape>(tiles[buffer], warp_row, warp_tile, row_blocks, lane, groups, acc);
    }
  }

  const SplitTurn turn(p.locks + blockIdx.y * gridDim.x + blockIdx.x, blockIdx.z, p.splits);
  turn.Await();
  const LaneMap map(lane);
  const int column = warp_column + 8 * map.quad;
#pragma unroll
  for (int block = 0; block < Shape::kRowBlocks; ++block) {
    if (block >= row_blocks) break;
    float sum[8];
    AccumulatorRow(acc[block], lane, sum);
    const int row = tile.begin + warp_row + 8 * block + map.row;
    if (row >= tile.end || column >= p.n) continue;
    float* partial = p.partials + static_cast<std::size_t>(row) * p.n + column;
    if (!turn.first()) AddPartial(partial, sum);
    if (turn.last()) {
      StoreRow(p, row, column, block == 0, sum);
    } else {
      StorePartial(partial, sum);
    }
  }
  turn.Pass();
}

}  // namespace voltcheck::sm70

// The entries of one tile and group, one for each form of the metadata. docs/kernels.md lists the
// arguments; `row_index` and `segment_expert` may be null, `partials` and `locks` are touched only
// when splits > 1.
#define VOLTCHECK_GROUPED_GEMM_ENTRY(NAME, M, N, K, GROUP, FORM)                                   \
  extern "C" __global__ void __launch_bounds__(                                                    \
      voltcheck::sm70::GemmShape<M, N, K, GROUP>::kThreads, 1)                                     \
      NAME(__half* out, int out_stride, const __half* a, const int* row_index, const int* offsets, \
           const int* segment_expert, const voltcheck::sm70::ExpertMatrix* weights,                \
           const voltcheck::sm70::ExpertMatrix* metadata, float* partials, int* locks,             \
           int segments, int segment, int k, int n, int splits, int epilogue) {                    \
    voltcheck::sm70::GroupedGemm<voltcheck::sm70::GemmShape<M, N, K, GROUP>,                       \
                                 voltcheck::sm70::MetadataForm::FORM>(                             \
        {out, out_stride, a, row_index, offsets, segment_expert, weights, metadata, partials,      \
         locks, segments, segment, k, n, splits, epilogue});                                       \
  }
#define VOLTCHECK_GROUPED_GEMM_ENTRIES(M, N, K, GROUP)                                       \
  VOLTCHECK_GROUPED_GEMM_ENTRY(grouped_gemm_##M##x##N##x##K##_g##GROUP##_4b, M, N, K, GROUP, \
                               k4Byte)                                                       \
  VOLTCHECK_GROUPED_GEMM_ENTRY(grouped_gemm_##M##x##N##x##K##_g##GROUP##_3b, M, N, K, GROUP, k3Byte)
// The arguments may be macros themselves.
#define VOLTCHECK_GROUPED_GEMM(M, N, K, GROUP) VOLTCHECK_GROUPED_GEMM_ENTRIES(M, N, K, GROUP)

#endif  // VOLTCHECK_KERNELS_SM70_GROUPED_GEMM_CUH_
