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

/// The nibble of row `k`, column `n` of a packed [*, N/8] array.
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
