#ifndef VOLTCHECK_REFERENCE_DEQUANTISE_H_
#define VOLTCHECK_REFERENCE_DEQUANTISE_H_

#include <cstdint>

namespace voltcheck::reference {

/// Words of one row that are decoded together: 64 columns.
inline constexpr int kBlockWords = 8;

/// Scale and bias of one quantisation group for one block of columns, nibble-major: element
/// [i * kBlockWords + j] belongs to nibble i of word j. Decoding in this order makes every loop run
/// over neighbouring words; ColumnOfNibble leads back to columns.
struct BlockMetadata {
  alignas(64) float scale[8 * kBlockWords];
  alignas(64) float bias[8 * kBlockWords];
};

/// out[r * 64 + i * 8 + j] = q * scale + bias for nibble q = i of word j of row r, for `rows` rows
/// of kBlockWords words that lie `row_stride` words apart. `round_to_half` rounds each result to
/// the nearest half. Scales are halves, biases halves or exact products -z * s, so q * scale + bias
/// is exact in fp32 and the rounding to half is the only one.
void DequantiseBlock(const std::uint32_t* words, int row_stride, int rows,
                     const BlockMetadata& metadata, bool round_to_half, float* out);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_DEQUANTISE_H_
