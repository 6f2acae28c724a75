// Four-bit AWQ weights: the packing that the GEMM reads, and how a nibble becomes a half.
#ifndef VOLTCHECK_KERNELS_SM70_AWQ_CUH_
#define VOLTCHECK_KERNELS_SM70_AWQ_CUH_

#include <cuda_fp16.h>

#include <cstdint>

namespace voltcheck::sm70 {

// Weights lie in tiles of 32 columns, one per warp. A word holds eight neighbouring k of one
// column; the 32 words of a tile for one k-word are neighbours, and the k-words of a tile follow
// each other.
constexpr int kTileColumns = 32;
constexpr int kWordRows = 8;

__device__ __forceinline__ std::size_t PackedWordIndex(int k_words, int k_word, int column) {
  return (static_cast<std::size_t>(column / kTileColumns) * k_words + k_word) * kTileColumns +
         column % kTileColumns;
}

// Where row j (0..7) of a word sits: the even rows in the low 16 bits, the odd ones in the high 16
// bits, so that one mask takes rows 2i and 2i + 1 out as the two halves of a register.
__host__ __device__ constexpr int PackedNibble(int j) { return ((j & 1) << 2) + (j >> 1); }

// Column of each nibble in a checkpoint's word, which packs eight columns of one row.
__host__ __device__ constexpr int CheckpointColumn(int nibble) {
  return nibble < 4 ? 2 * nibble : 2 * (nibble - 4) + 1;
}

// What a quantisation group holds for one column.
//
//   4 bytes: { half s, half RN16(-z*s) }, ready for the multiply-add.
//   3 bytes: { half s, u8 z }; the bias is rebuilt, to the same bits.
enum class MetadataForm { k4Byte, k3Byte };

// RN16(-z * s). The multiply carries .rn so that the assembler may not fuse it with anything.
__device__ __forceinline__ __half ZeroPointBias(int z, __half s) {
  return __hmul_rn(__hneg(__int2half_rn(z)), s);
}

__device__ __forceinline__ std::uint32_t PackMetadata(__half s, __half bias) {
  return __half_as_ushort(s) | (static_cast<std::uint32_t>(__half_as_ushort(bias)) << 16);
}

// A column's scale and bias, each doubled for two-way arithmetic.
struct ColumnScale {
  std::uint32_t scale;
  std::uint32_t bias;
  __device__ explicit ColumnScale(std::uint32_t metadata)
      : scale(__byte_perm(metadata, 0, 0x1010)), bias(__byte_perm(metadata, 0, 0x3232)) {}
};

__device__ __forceinline__ __half2 AsHalf2(std::uint32_t bits) {
  return *reinterpret_cast<const __half2*>(&bits);
}
__device__ __forceinline__ std::uint32_t AsBits(__half2 value) {
  return *reinterpret_cast<const std::uint32_t*>(&value);
}

// (a & b) | c in one instruction.
__device__ __forceinline__ std::uint32_t AndOr(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t d;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}

// The eight weights of one word, as four registers of two neighbouring k.
//
// 0x6400 is 1024 with a unit in the last place of 1, so or-ing a nibble into its low bits gives
// 1024 + q without a conversion; one nibble further up gives 1024 + 16 q. Both steps back to q are
// exact. Then w = RN16(q * s + RN16(-z * s)), one fused multiply-add: the contract's only rounding.
__device__ __forceinline__ void DequantiseWord(std::uint32_t word, const ColumnScale& column,
                                               std::uint32_t (&w)[4]) {
  constexpr std::uint32_t kMagic = 0x64006400u;        // 1024, 1024
  const __half2 one_sixteenth = AsHalf2(0x2c002c00u);  // 1/16
  const __half2 minus_64 = AsHalf2(0xd400d400u);       // -64
  const __half2 scale = AsHalf2(column.scale);
  const __half2 bias = AsHalf2(column.bias);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const std::uint32_t shifted = word >> (8 * i);
    const __half2 low = __hsub2(AsHalf2(AndOr(shifted, 0x000f000fu, kMagic)), AsHalf2(kMagic));
    const __half2 high =
        __hfma2(AsHalf2(AndOr(shifted, 0x00f000f0u, kMagic)), one_sixteenth, minus_64);
    w[2 * i] = AsBits(__hfma2(low, scale, bias));
    w[2 * i + 1] = AsBits(__hfma2(high, scale, bias));
  }
}

}  // namespace voltcheck::sm70

#endif  // VOLTCHECK_KERNELS_SM70_AWQ_CUH_
