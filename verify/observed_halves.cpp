#include "verify/observed_halves.h"

#include <algorithm>

#include "reference/arith/half.h"

namespace voltcheck::verify {

using reference::HalfMatrix;
using reference::Matrix;

HalfMatrix ObservedMatrix(const std::vector<std::uint16_t>& bits, int rows, int cols,
                          int computed) {
  HalfMatrix m{rows, cols, bits};
  const auto from = static_cast<std::ptrdiff_t>(computed) * cols;
  std::fill(m.bits.begin() + from, m.bits.end(), std::uint16_t{0});
  return m;
}

void Deinterleave(HalfMatrix& w13) {
  const auto cols = static_cast<std::size_t>(w13.cols);
  const std::size_t half = cols / 2;
  std::vector<std::uint16_t> row(cols);
  for (std::size_t start = 0; start < w13.bits.size(); start += cols) {
    for (std::size_t j = 0; j < half; ++j) {
      row[j] = w13.bits[start + 2 * j];
      row[half + j] = w13.bits[start + 2 * j + 1];
    }
    std::copy(row.begin(), row.end(), w13.bits.begin() + static_cast<std::ptrdiff_t>(start));
  }
}

HalfMatrix PermutedBits(const Problem& problem, const reference::Permutation& permutation) {
  const auto hidden = static_cast<std::size_t>(problem.c.shape.hidden);
  HalfMatrix m{problem.c.shape.slots(), problem.c.shape.hidden, {}};
  m.bits.assign(static_cast<std::size_t>(m.rows) * hidden, 0);
  for (std::size_t r = 0; r < static_cast<std::size_t>(permutation.rows); ++r) {
    const auto token = static_cast<std::size_t>(permutation.source[r] / problem.c.shape.top_k);
    std::copy_n(problem.hidden.begin() + static_cast<std::ptrdiff_t>(token * hidden), hidden,
                m.bits.begin() + static_cast<std::ptrdiff_t>(r * hidden));
  }
  return m;
}

Matrix<double> Doubles(const HalfMatrix& bits) {
  Matrix<double> values(bits.rows, bits.cols);
  for (std::size_t i = 0; i < bits.bits.size(); ++i) {
    values.data()[i] = arith::HalfToFloat(bits.bits[i]);
  }
  return values;
}

}  // namespace voltcheck::verify
