#ifndef VOLTCHECK_REFERENCE_MATRIX_H_
#define VOLTCHECK_REFERENCE_MATRIX_H_

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

namespace voltcheck::reference {

/// Row-major dense matrix, rows are slots or tokens, columns are channels.
template <typename Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Row-major fp16 bits with their shape.
struct HalfMatrix {
  int rows = 0;
  int cols = 0;
  std::vector<std::uint16_t> bits;  ///< [rows, cols]
  std::span<const std::uint16_t> row(int r) const {
    return {bits.data() + static_cast<std::size_t>(r) * cols, static_cast<std::size_t>(cols)};
  }
};

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_MATRIX_H_
