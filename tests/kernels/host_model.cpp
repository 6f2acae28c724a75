#include "host_model.h"

#include <cmath>

#include "reference/arith/half.h"

namespace voltcheck::kernels::testing {
namespace {

/// Nibble i of a word holds column {0,2,4,6,1,3,5,7}[i] of its group of eight.
int NibbleAt(const std::vector<std::uint32_t>& words, int columns, int row, int column) {
  constexpr int kColumnOfNibble[8] = {0, 2, 4, 6, 1, 3, 5, 7};
  const std::uint32_t word = words[static_cast<std::size_t>(row) * (columns / 8) + column / 8];
  for (int i = 0; i < 8; ++i) {
    if (kColumnOfNibble[i] == column % 8) {
      return static_cast<int>((word >> (4 * i)) & 15U);
    }
  }
  return -1;
}

std::uint16_t SmallInteger(int value) { return arith::FloatToHalf(static_cast<float>(value)); }

std::uint16_t Bias(const AwqMatrix& m, int row, int column) {
  const std::uint16_t minus_z = SmallInteger(ZeroPoint(m, row, column)) ^ 0x8000U;
  return arith::HalfMul(minus_z, ScaleOf(m, row, column));
}

float Step(arith::StepArithmetic arithmetic, const std::uint16_t* a, const std::uint16_t* b,
           float c) {
  const std::span<const std::uint16_t, 4> a4(a, 4);
  const std::span<const std::uint16_t, 4> b4(b, 4);
  switch (arithmetic) {
    case arith::StepArithmetic::kSm80Software:
      return arith::SoftwareDotAdd(a4, b4, c);
    case arith::StepArithmetic::kSm75:
      return arith::FusedDotAdd(arith::kSm75DotAdd, a4, b4, c);
    case arith::StepArithmetic::kV100:
      break;
  }
  return arith::FusedDotAdd(arith::kV100DotAdd, a4, b4, c);
}

}  // namespace

int Quantised(const AwqMatrix& m, int row, int column) {
  return NibbleAt(m.qweight, m.n, row, column);
}

int ZeroPoint(const AwqMatrix& m, int row, int column) {
  return NibbleAt(m.qzeros, m.n, row / m.group, column);
}

std::uint16_t ScaleOf(const AwqMatrix& m, int row, int column) {
  return m.scales[static_cast<std::size_t>(row / m.group) * m.n + column];
}

std::uint16_t ContractWeight(const AwqMatrix& m, int row, int column) {
  return arith::HalfFma(SmallInteger(Quantised(m, row, column)), ScaleOf(m, row, column),
                        Bias(m, row, column));
}

int CheckpointColumnOf(int column, int n, bool interleave) {
  if (!interleave) {
    return column;
  }
  return column % 2 == 0 ? column / 2 : n / 2 + column / 2;
}

std::vector<std::uint32_t> PackedWeights(const AwqMatrix& m, bool interleave) {
  const int tiles = (m.n + 31) / 32;
  std::vector<std::uint32_t> words(static_cast<std::size_t>(tiles) * (m.k / 8) * 32);
  for (int column = 0; column < m.n; ++column) {
    const int source = CheckpointColumnOf(column, m.n, interleave);
    for (int row = 0; row < m.k; ++row) {
      const int j = row % 8;
      const std::size_t word =
          (static_cast<std::size_t>(column / 32) * (m.k / 8) + row / 8) * 32 + column % 32;
      words[word] |= static_cast<std::uint32_t>(Quantised(m, row, source))
                     << (4 * (((j & 1) << 2) + (j >> 1)));
    }
  }
  return words;
}

std::vector<std::uint8_t> PackedMetadata(const AwqMatrix& m, bool interleave, Metadata form) {
  std::vector<std::uint8_t> bytes;
  for (int row = 0; row < m.k; row += m.group) {
    for (int column = 0; column < m.n; ++column) {
      const int source = CheckpointColumnOf(column, m.n, interleave);
      const std::uint16_t s = ScaleOf(m, row, source);
      bytes.push_back(static_cast<std::uint8_t>(s & 255));
      bytes.push_back(static_cast<std::uint8_t>(s >> 8));
      if (form == Metadata::k3Byte) {
        bytes.push_back(static_cast<std::uint8_t>(ZeroPoint(m, row, source)));
      } else {
        const std::uint16_t bias = Bias(m, row, source);
        bytes.push_back(static_cast<std::uint8_t>(bias & 255));
        bytes.push_back(static_cast<std::uint8_t>(bias >> 8));
      }
    }
  }
  return bytes;
}

Halves GemmRow(const std::uint16_t* a, const AwqMatrix& m, int splits, int chunk,
               arith::StepArithmetic arithmetic) {
  const int chunks = m.k / chunk;
  Halves result;
  for (int column = 0; column < m.n; ++column) {
    float total = 0;
    int first_chunk = 0;
    for (int split = 0; split < splits; ++split) {
      // What does not divide evenly goes to the last splits.
      const int mine = chunks / splits + (split >= splits - chunks % splits ? 1 : 0);
      float sum = 0;
      for (int k = first_chunk * chunk; k < (first_chunk + mine) * chunk; k += 4) {
        std::uint16_t weights[4];
        for (int i = 0; i < 4; ++i) {
          weights[i] = ContractWeight(m, k + i, column);
        }
        sum = Step(arithmetic, a + k, weights, sum);
      }
      total = split == 0 ? sum : total + sum;
      first_chunk += mine;
    }
    result.push_back(arith::FloatToHalf(total));
  }
  return result;
}

bool IsSiluMul(std::uint16_t gate, std::uint16_t up, std::uint16_t got) {
  const double g = arith::HalfToFloat(gate);
  const double s = g / (1.0 + std::exp(-g));
  if (std::isnan(s) || std::isinf(g)) {
    return std::isnan(arith::HalfToFloat(got)) || g > 0;
  }
  for (const double error : {-0x1p-20, 0.0, 0x1p-20}) {
    if (arith::HalfMul(arith::DoubleToHalf(s * (1 + error)), up) == got) {
      return true;
    }
  }
  return false;
}

Halves ReduceToken(const Halves& y, const std::vector<int>& rows, const float* weights,
                   int hidden) {
  Halves result;
  for (int column = 0; column < hidden; ++column) {
    float sum = 0;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      if (rows[j] >= 0) {
        const std::size_t at = static_cast<std::size_t>(rows[j]) * static_cast<std::size_t>(hidden);
        sum =
            std::fma(weights[j], arith::HalfToFloat(y[at + static_cast<std::size_t>(column)]), sum);
      }
    }
    result.push_back(arith::FloatToHalf(sum));
  }
  return result;
}

}  // namespace voltcheck::kernels::testing
