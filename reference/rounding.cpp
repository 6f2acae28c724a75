#include "reference/rounding.h"

#include <algorithm>

namespace voltcheck::reference {

template <typename Scalar>
HalfMatrix ToHalfMatrix(const Matrix<Scalar>& m) {
  HalfMatrix halves{static_cast<int>(m.rows()), static_cast<int>(m.cols()), {}};
  halves.bits.resize(static_cast<std::size_t>(m.size()));
  std::transform(m.data(), m.data() + m.size(), halves.bits.begin(),
                 [](Scalar x) { return arith::DoubleToHalf(static_cast<double>(x)); });
  return halves;
}

template <typename Scalar>
Matrix<Scalar> FromHalfMatrix(const HalfMatrix& m) {
  Matrix<Scalar> values(m.rows, m.cols);
  std::transform(m.bits.begin(), m.bits.end(), values.data(),
                 [](arith::HalfBits h) { return static_cast<Scalar>(arith::HalfToFloat(h)); });
  return values;
}

template HalfMatrix ToHalfMatrix(const Matrix<float>&);
template HalfMatrix ToHalfMatrix(const Matrix<double>&);
template Matrix<float> FromHalfMatrix(const HalfMatrix&);
template Matrix<double> FromHalfMatrix(const HalfMatrix&);

}  // namespace voltcheck::reference
