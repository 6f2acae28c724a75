#ifndef VOLTCHECK_REFERENCE_WEIGHT_BLOCK_H_
#define VOLTCHECK_REFERENCE_WEIGHT_BLOCK_H_

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "fixtures/case/problem.h"
#include "reference/awq.h"
#include "reference/dequantise.h"

namespace voltcheck::reference {

inline constexpr int kBlockRows = 32;                             ///< divides every group size
inline constexpr int kBlockColumns = kBlockWords * kWordColumns;  ///< 64

/// 32 rows of K by 64 columns, small enough for the first-level cache. Columns stand nibble-major:
/// see BlockColumn.
template <typename Scalar>
using WeightBlock = Eigen::Array<Scalar, kBlockRows, kBlockColumns, Eigen::RowMajor>;

/// The column of the matrix that column `c` of a block holds; at least m.n in the padding of the
/// last block.
constexpr int BlockColumn(int block, int c) {
  return block * kBlockColumns + c % kBlockWords * kWordColumns + ColumnOfNibble(c / kBlockWords);
}

/// Decodes one expert's matrix 32 rows at a time, block by block, so that a product with few rows
/// never writes the whole decoded matrix (eight times the size of the packed one) to memory.
class BlockDecoder {
 public:
  /// `m` must outlive the decoder. Throws Error (status 2) for sizes that cannot be: K not a
  /// multiple of the group, a group that is not a multiple of 32, N not a multiple of 8, arrays of
  /// another length.
  BlockDecoder(const AwqMatrix& m, WeightKind kind);

  int blocks() const { return static_cast<int>(metadata_.size()); }
  /// Turns to rows [first_row, first_row + 32); first_row is a multiple of 32.
  void LoadRows(int first_row);
  /// Column block `block` of these rows. Padding columns are zero. Defined for float and double.
  template <typename Scalar>
  void Decode(int block, WeightBlock<Scalar>& out) const;

 private:
  void LoadGroup(int group);

  const AwqMatrix& m_;
  const WeightKind kind_;
  int group_ = -1;
  std::vector<BlockMetadata> metadata_;  ///< of group_, one per block
  std::vector<std::uint32_t> words_;     ///< [32, blocks * 8], padded with zero words
};

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_WEIGHT_BLOCK_H_
