// From the checkpoint's AWQ packing to the one that the GEMM reads. Runs once, when weights are
// loaded.
#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/sm70/awq.cuh"

namespace voltcheck::sm70 {

// Where eight neighbouring columns of the checkpoint go in the packed matrix: column i of them to
// first + step * i, all inside one 32-column tile. A gate and up projection stands in the
// checkpoint as [gate | up]; interleaved, gate j goes to column 2j and up j to 2j + 1.
struct PackedColumns {
  int first;
  int step;
  __device__ PackedColumns(int column, int n, bool interleave) : first(column), step(1) {
    const int half = n / 2;
    if (interleave && column < n) {
      first = column < half ? 2 * column : 2 * (column - half) + 1;
      step = 2;
    }
  }
};

// Transposes eight words of eight nibbles: afterwards nibble p of word i is what was nibble i of
// word p. Blocks of 4x4 nibbles change places first, then 2x2, then single ones.
__device__ __forceinline__ void TransposeNibbles(std::uint32_t (&x)[8]) {
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    const std::uint32_t a = x[p];
    const std::uint32_t b = x[p + 4];
    x[p] = __byte_perm(a, b, 0x5410);
    x[p + 4] = __byte_perm(a, b, 0x7632);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int p = (i & 1) + (i & 2) * 2;  // 0, 1, 4, 5
    const std::uint32_t a = x[p];
    const std::uint32_t b = x[p + 2];
    x[p] = __byte_perm(a, b, 0x6240);
    x[p + 2] = __byte_perm(a, b, 0x7351);
  }
#pragma unroll
  for (int p = 0; p < 8; p += 2) {
    const std::uint32_t a = x[p];
    const std::uint32_t b = x[p + 1];
    x[p] = (a & 0x0f0f0f0fu) | ((b & 0x0f0f0f0fu) << 4);
    x[p + 1] = ((a >> 4) & 0x0f0f0f0fu) | (b & 0xf0f0f0f0u);
  }
}

}  // namespace voltcheck::sm70

using namespace voltcheck::sm70;

// qweight [experts, k, n / 8] -> packed [experts, ceil(n / 32) tiles, k / 8, 32] words. One thread
// turns eight rows of one checkpoint word into eight words; columns that fill up the last tile
// become zero. Grid: x covers k / 8 * tiles * 4 threads, y the experts.
extern "C" __global__ void __launch_bounds__(128)
    awq_repack_weights(std::uint32_t* packed, const std::uint32_t* qweight, int k, int n,
                       int interleave) {
  const int k_words = k / kWordRows;
  const int tiles = (n + kTileColumns - 1) / kTileColumns;
  const int column_words = tiles * (kTileColumns / 8);
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  const int k_word = index / column_words;
  const int column_word = index % column_words;
  if (k_word >= k_words) return;

  std::uint32_t words[8] = {};
  if (column_word < n / 8) {
    const std::uint32_t* source =
        qweight + (static_cast<std::size_t>(blockIdx.y) * k + k_word * kWordRows) * (n / 8) +
        column_word;
    // Row j goes to nibble PackedNibble(j); a checkpoint word has its columns in the same
    // permutation.
#pragma unroll
    for (int j = 0; j < kWordRows; ++j) words[PackedNibble(j)] = __ldg(source + j * (n / 8));
    TransposeNibbles(words);
  }
  const PackedColumns columns(8 * column_word, n, interleave != 0);
  std::uint32_t* target = packed +
                          static_cast<std::size_t>(blockIdx.y) * tiles * k_words * kTileColumns +
                          PackedWordIndex(k_words, k_word, columns.first);
#pragma unroll
  for (int i = 0; i < 8; ++i) target[columns.step * CheckpointColumn(i)] = words[i];
}

namespace voltcheck::sm70 {

// scales [experts, groups, n] and qzeros [experts, groups, n / 8] -> metadata [experts, groups, n].
// One thread does the eight columns of one word of zero points.
template <MetadataForm kForm>
__device__ __forceinline__ void RepackMetadata(std::uint8_t* metadata, const __half* scales,
                                               const std::uint32_t* qzeros, int groups, int n,
                                               bool interleave) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= groups * (n / 8)) return;
  const std::size_t row = static_cast<std::size_t>(blockIdx.y) * groups + index / (n / 8);
  const int column_word = index % (n / 8);
  const std::uint32_t zeros = __ldg(qzeros + row * (n / 8) + column_word);
  union {
    uint4 bits;
    __half h[8];
  } scale;
  const PackedColumns columns(8 * column_word, n, interleave);
  scale.bits = __ldg(reinterpret_cast<const uint4*>(scales + row * n) + column_word);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int zero = (zeros >> (4 * i)) & 0xf;
    const __half s = scale.h[CheckpointColumn(i)];
    const std::size_t target = row * n + columns.first + columns.step * CheckpointColumn(i);
    if constexpr (kForm == MetadataForm::k4Byte) {
      reinterpret_cast<std::uint32_t*>(metadata)[target] = PackMetadata(s, ZeroPointBias(zero, s));
    } else {
      const unsigned short bits = __half_as_ushort(s);
      metadata[3 * target] = static_cast<std::uint8_t>(bits & 0xff);
      metadata[3 * target + 1] = static_cast<std::uint8_t>(bits >> 8);
      metadata[3 * target + 2] = static_cast<std::uint8_t>(zero);
    }
  }
}

}  // namespace voltcheck::sm70

// Grid of both: x covers groups * n / 8 threads, y the experts.
extern "C" __global__ void __launch_bounds__(128)
    awq_repack_metadata_4b(std::uint8_t* metadata, const __half* scales,
                           const std::uint32_t* qzeros, int groups, int n, int interleave) {
  RepackMetadata<MetadataForm::k4Byte>(metadata, scales, qzeros, groups, n, interleave != 0);
}

extern "C" __global__ void __launch_bounds__(128)
    awq_repack_metadata_3b(std::uint8_t* metadata, const __half* scales,
                           const std::uint32_t* qzeros, int groups, int n, int interleave) {
  RepackMetadata<MetadataForm::k3Byte>(metadata, scales, qzeros, groups, n, interleave != 0);
}
