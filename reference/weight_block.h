#ifndef VOLTCHECK_REFERENCE_WEIGHT_BLOCK_H_
#define VOLTCHECK_REFERENCE_WEIGHT_BLOCK_H_

#include <Eigen/Core>

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

/// Decodes one expert's matrix a block at a time, so that a product with few rows never writes the
/// whole matrix (eight times the size of the packed one) to memory.
class BlockDecoder {
 public:
  /// `m` must outlive the decoder. Throws Error (status 2) for sizes that cannot be: K not a
  /// multiple of the group, a group that is not a multiple of 32, N not a multiple of 8, arrays of
  /// another length.
  BlockDecoder(const AwqMatrix& m, WeightKind kind);

  int column_blocks() const { return (m_.n + kBlockColumns - 1) / kBlockColumns; }
  /// Rows [first_row, first_row + 32) of column block `block`; first_row is a multiple of 32.
  /// Padding columns are zero. Defined for float and double.
  template <typename Scalar>
  void Decode(int first_row, int block, WeightBlock<Scalar>& out);

 private:
  void LoadMetadata(int group, int block);

  const AwqMatrix& m_;
  const WeightKind kind_;
  BlockMetadata metadata_{};
};

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_WEIGHT_BLOCK_H_
