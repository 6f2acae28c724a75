// One CTA's tiles in shared memory: who copies what, where it lies, and the multiplication.
#ifndef VOLTCHECK_KERNELS_SM70_GEMM_TILE_CUH_
#define VOLTCHECK_KERNELS_SM70_GEMM_TILE_CUH_

#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/sm70/awq.cuh"
#include "kernels/sm70/mma.cuh"

namespace voltcheck::sm70 {

// A CTA computes kM rows by kN columns and walks K in stages of kK; kGroup is the quantisation
// group. Each warp owns one 32-column weight tile and up to 64 rows, so a weight is dequantised
// once per 64 rows; in the largest tile it owns all 128, because the accumulators of 16 warps would
// not fit.
template <int M, int N, int K, int Group>
struct GemmShape {
  static constexpr int kM = M;
  static constexpr int kN = N;
  static constexpr int kK = K;
  static constexpr int kGroup = Group;
  static constexpr int kWarpRows = M * N > 128 * 128 || M < 64 ? M : 64;
  static constexpr int kRowBlocks = kWarpRows / 8;  // 8-row products of a warp
  static constexpr int kWarpsN = N / kTileColumns;
  static constexpr int kThreads = 32 * kWarpsN * (M / kWarpRows);
  static constexpr int kStageWords = K / kWordRows;  // k-words of a stage
  static constexpr int kStageGroups = K > Group ? K / Group : 1;
  static constexpr int kChunk = K > Group ? K : Group;  // the unit of split-K
  // 16-byte pieces of a stage, and how many of them a thread copies at most.
  static constexpr int kPiecesA = M * K / 8;
  static constexpr int kPiecesB = N * K / 32;
  static constexpr int kThreadPiecesA = (kPiecesA + kThreads - 1) / kThreads;
  static constexpr int kThreadPiecesB = (kPiecesB + kThreads - 1) / kThreads;
};

// The tiles of one stage.
//
// B lies as it does in global memory: per 32-column tile, kStageWords rows of 32 words. A warp
// reads one row of 32 words, one word a lane: no bank conflict.
//
// A row of A is kK / 8 pieces of 16 bytes, and 128 bytes (all banks) hold kRowsPerLine rows. A
// fragment reads the same piece of eight rows, which without care lie in few banks; so piece p of a
// row is stored at p ^ (row / kRowsPerLine): eight rows then cover all banks, and so do the eight
// neighbouring pieces that eight lanes store together.
template <typename Shape>
struct StageTiles {
  static constexpr int kRowPieces = Shape::kK / 8;
  static constexpr int kRowsPerLine = 8 / kRowPieces;
  uint4 a[Shape::kPiecesA];
  uint4 b[Shape::kPiecesB];

  static __device__ __forceinline__ int PieceIndex(int row, int piece) {
    return row * kRowPieces + (piece ^ ((row / kRowsPerLine) % kRowPieces));
  }
};

// Copies a CTA's rows of A to shared memory, by way of registers: Fetch starts the loads of a
// stage, Store puts them down one multiplication later. Rows behind the segment's end are zero.
template <typename Shape>
class RowLoader {
 public:
  // `row_index`: null, or the row of `a` for each row of the grouped product.
  __device__ RowLoader(const __half* __restrict__ a, const int* __restrict__ row_index, int k,
                       int first_row, int end_row) {
#pragma unroll
    for (int i = 0; i < Shape::kThreadPiecesA; ++i) {
      const int row = first_row + Piece(i) / StageTiles<Shape>::kRowPieces;
      source_[i] = nullptr;
      if (Mine(i) && row < end_row) {
        const int source_row = row_index != nullptr ? row_index[row] : row;
        source_[i] = reinterpret_cast<const uint4*>(a + static_cast<std::size_t>(source_row) * k) +
                     Piece(i) % StageTiles<Shape>::kRowPieces;
      }
    }
  }

  __device__ void Fetch(int k0) {
#pragma unroll
    for (int i = 0; i < Shape::kThreadPiecesA; ++i) {
      staged_[i] = source_[i] != nullptr ? __ldg(source_[i] + k0 / 8) : make_uint4(0, 0, 0, 0);
    }
  }

  __device__ void Store(StageTiles<Shape>& tiles) const {
#pragma unroll
    for (int i = 0; i < Shape::kThreadPiecesA; ++i) {
      if (Mine(i)) {
        tiles.a[StageTiles<Shape>::PieceIndex(Piece(i) / StageTiles<Shape>::kRowPieces,
                                              Piece(i) % StageTiles<Shape>::kRowPieces)] =
            staged_[i];
      }
    }
  }

 private:
  static __device__ int Piece(int i) { return threadIdx.x + i * Shape::kThreads; }
  static __device__ bool Mine(int i) {
    return Shape::kPiecesA % Shape::kThreads == 0 || Piece(i) < Shape::kPiecesA;
  }
  const uint4* source_[Shape::kThreadPiecesA];
  uint4 staged_[Shape::kThreadPiecesA];
};

// The same for the packed weights. A tile of 32 columns is K pieces of 16 bytes in a row, kK of
// them a stage. Tiles behind the last column are not touched: the warps that own them do nothing.
template <typename Shape>
class WeightLoader {
 public:
  __device__ WeightLoader(const void* __restrict__ weights, int tile_stride, int first_tile,
                          int tiles) {
#pragma unroll
    for (int i = 0; i < Shape::kThreadPiecesB; ++i) {
      const int tile = first_tile + Piece(i) / Shape::kK;
      const bool used = Mine(i) && tile < tiles;
      source_[i] = used ? static_cast<const uint4*>(weights) +
                              static_cast<std::size_t>(tile) * (tile_stride / 4) +
                              Piece(i) % Shape::kK
                        : nullptr;
    }
  }

  __device__ void Fetch(int k0) {
#pragma unroll
    for (int i = 0; i < Shape::kThreadPiecesB; ++i) {
      if (source_[i] != nullptr) staged_[i] = __ldg(source_[i] + k0);
    }
  }

  __device__ void Store(StageTiles<Shape>& tiles) const {
#pragma unroll
    for (int i = 0; i < Shape::kThreadPiecesB; ++i) {
      if (source_[i] != nullptr) tiles.b[Piece(i)] = staged_[i];
    }
  }

 private:
  static __device__ int Piece(int i) { return threadIdx.x + i * Shape::kThreads; }
  static __device__ bool Mine(int i) {
    return Shape::kPiecesB % Shape::kThreads == 0 || Piece(i) < Shape::kPiecesB;
  }
  const uint4* source_[Shape::kThreadPiecesB];
  uint4 staged_[Shape::kThreadPiecesB];
};

// Reads a lane's own column of the metadata [K / group, n], one group at a time, straight into a
// register: no other lane of the CTA needs it. Columns behind n give scale and bias 0.
template <MetadataForm kForm>
class MetadataLoader {
 public:
  // `row_stride`: columns from one group's row to the next; the 3-byte form carries it negated.
  __device__ MetadataLoader(const void* metadata, int row_stride, int first_column, int n, int lane)
      : lane_(lane), column_(LaneMap(lane).column()), valid_columns_(n - first_column) {
    constexpr int kBytes = kForm == MetadataForm::k4Byte ? 4 : 3;
    row_bytes_ = abs(row_stride) * kBytes;
    rows_ = static_cast<const char*>(metadata) + static_cast<std::ptrdiff_t>(first_column) * kBytes;
  }

  __device__ std::uint32_t Fetch(int group) const {
    const char* row = rows_ + static_cast<std::size_t>(group) * row_bytes_;
    if constexpr (kForm == MetadataForm::k4Byte) {
      return column_ < valid_columns_ ? __ldg(reinterpret_cast<const std::uint32_t*>(row) + column_)
                                      : 0;
    } else {
      // A lane's three bytes straddle words; the warp reads the 96 bytes as words and shares them
      // out.
      const std::uint32_t mine = 4 * lane_ < 3 * min(valid_columns_, kTileColumns)
                                     ? __ldg(reinterpret_cast<const std::uint32_t*>(row) + lane_)
                                     : 0;
      const int first_byte = 3 * column_;
      const std::uint32_t low = __shfl_sync(0xffffffffu, mine, first_byte / 4);
      const std::uint32_t high = __shfl_sync(0xffffffffu, mine, first_byte / 4 + 1);
      const std::uint32_t bytes = __byte_perm(low, high, 0x3210 + 0x1111 * (first_byte % 4));
      const __half scale = __ushort_as_half(static_cast<unsigned short>(bytes & 0xffffu));
      return PackMetadata(scale, ZeroPointBias((bytes >> 16) & 0xffu, scale));
    }
  }

 private:
  const char* rows_;
  int row_bytes_;
  int lane_;
  int column_;
  int valid_columns_;
};

// acc += A * B over one stage, for a warp that owns `row_blocks` (at least one) blocks of eight
// rows from row `warp_row` on and weight tile `warp_tile`. K ascends in steps of four; `metadata`
// holds the lane's column, one entry for each group that the stage touches.
template <typename Shape>
__device__ __forceinline__ void MultiplyStage(const StageTiles<Shape>& tiles, int warp_row,
                                              int warp_tile, int row_blocks, int lane,
                                              const std::uint32_t (&metadata)[Shape::kStageGroups],
                                              float (&acc)[Shape::kRowBlocks][8]) {
  const LaneMap map(lane);
  const std::uint32_t* words = reinterpret_cast<const std::uint32_t*>(tiles.b) +
                               warp_tile * Shape::kStageWords * kTileColumns + map.column();
  const int first_piece = StageTiles<Shape>::PieceIndex(warp_row + map.row, 0);
#pragma unroll
  for (int word = 0; word < Shape::kStageWords; ++word) {
    const ColumnScale column(metadata[word * kWordRows / Shape::kGroup]);
    std::uint32_t b[4];
    DequantiseWord(words[word * kTileColumns], column, b);
    // PieceIndex(row, word): a row's index has zeros where the piece goes.
    const uint4* a_piece = tiles.a + (first_piece ^ word);
#pragma unroll
    for (int block = 0; block < Shape::kRowBlocks; ++block) {
      if (block == 0 || block < row_blocks) {
        const uint4 a = a_piece[block * 8 * StageTiles<Shape>::kRowPieces];
        Mma884(acc[block], a.x, a.y, b[0], b[1]);
        Mma884(acc[block], a.z, a.w, b[2], b[3]);
      }
    }
  }
}

}  // namespace voltcheck::sm70

#endif  // VOLTCHECK_KERNELS_SM70_GEMM_TILE_CUH_
