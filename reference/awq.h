#ifndef VOLTCHECK_REFERENCE_AWQ_H_
#define VOLTCHECK_REFERENCE_AWQ_H_

#include <cstdint>

#include "fixtures/case/problem.h"
#include "reference/matrix.h"

namespace voltcheck::reference {

/// Which value a quantised weight stands for.
enum class WeightKind {
  kContract,  ///< RN16(q*s + RN16(-z*s)): what the kernels must use; a half
  kIdeal,     ///< (q - z)*s, exact in fp32; the difference belongs to the format, not to the GEMM
};

/// Columns that a 32-bit word holds. AWQ packs along N.
inline constexpr int kWordColumns = 8;

/// The column, inside its word's group of eight, that nibble `i` holds: {0, 2, 4, 6, 1, 3, 5,
/// 7}[i].
constexpr int ColumnOfNibble(int i) { return i < 4 ? 2 * i : 2 * i - 7; }
/// Its inverse: the nibble that holds column `c` of the group of eight.
constexpr int NibbleOfColumn(int c) { return c % 2 == 0 ? c / 2 : c / 2 + 4; }

/// The nibble of row `row`, column `column` of a packed [*, columns/8] array.
int AwqNibble(const std::uint32_t* packed, int columns, int row, int column);

/// The contract weight of one element: q and z in 0..15, s as fp16 bits.
std::uint16_t ContractWeight(int q, int z, std::uint16_t s);

/// All of one expert's matrix as [K, N], contract weights as fp16 bits.
HalfMatrix DecodeContract(const AwqMatrix& m);

/// All of one expert's matrix as [K, N] in `Scalar`, either kind. Defined for float and double.
template <typename Scalar>
Matrix<Scalar> Decode(const AwqMatrix& m, WeightKind kind);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_AWQ_H_
