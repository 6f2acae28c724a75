#include "reference/awq.h"

#include "reference/arith/half.h"
#include "reference/weight_block.h"

namespace voltcheck::reference {

int AwqNibble(const std::uint32_t* packed, int columns, int row, int column) {
  const std::ptrdiff_t word =
      static_cast<std::ptrdiff_t>(row) * (columns / kWordColumns) + column / kWordColumns;
  return static_cast<int>(packed[word] >> (4 * NibbleOfColumn(column % kWordColumns)) & 15U);
}

std::uint16_t ContractWeight(int q, int z, std::uint16_t s) {
  // Small integers are exact in half.
  const arith::HalfBits bias = arith::HalfMul(arith::FloatToHalf(static_cast<float>(-z)), s);
  return arith::HalfFma(arith::FloatToHalf(static_cast<float>(q)), s, bias);
}

template <typename Scalar>
Matrix<Scalar> Decode(const AwqMatrix& m, WeightKind kind) {
  BlockDecoder decoder(m, kind);
  Matrix<Scalar> decoded(m.k, m.n);
  WeightBlock<Scalar> block;
  for (int row = 0; row < m.k; row += kBlockRows) {
    decoder.LoadRows(row);
    for (int b = 0; b < decoder.blocks(); ++b) {
      decoder.Decode(b, block);
      for (int c = 0; c < kBlockColumns; ++c) {
        if (BlockColumn(b, c) < m.n) {
          decoded.col(BlockColumn(b, c)).template segment<kBlockRows>(row) = block.col(c).matrix();
        }
      }
    }
  }
  return decoded;
}

template Matrix<float> Decode(const AwqMatrix&, WeightKind);
template Matrix<double> Decode(const AwqMatrix&, WeightKind);

HalfMatrix DecodeContract(const AwqMatrix& m) {
  const Matrix<float> decoded = Decode<float>(m, WeightKind::kContract);
  HalfMatrix halves{m.k, m.n, std::vector<std::uint16_t>(static_cast<std::size_t>(decoded.size()))};
  arith::FloatToHalf(decoded.data(), halves.bits.data(), halves.bits.size());
  return halves;
}

}  // namespace voltcheck::reference
