#ifndef VOLTCHECK_KERNELS_SIMULATOR_EXEC_EXACT_DOUBLE_H_
#define VOLTCHECK_KERNELS_SIMULATOR_EXEC_EXACT_DOUBLE_H_

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/simulator/exec/rounding.h"

namespace voltcheck::simulator {

/// An exact sum of doubles and of products of two doubles: a fixed-point number wide enough for
/// every bit that such a product can have, 2^-2148 to 2^2048 and some carries. Slow, simple,
/// without exceptions.
class ExactSum {
 public:
  void Add(double a) { AddProduct(a, 1.0); }
  void AddProduct(double a, double b) {
    int ea = 0;
    int eb = 0;
    const auto ma = static_cast<std::int64_t>(std::ldexp(std::frexp(a, &ea), 53));
    const auto mb = static_cast<std::int64_t>(std::ldexp(std::frexp(b, &eb), 53));
    __int128 product = static_cast<__int128>(ma) * mb;
    if (product == 0) {
      return;
    }
    // The product counts in units of 2^(ea + eb - 106); fewer than 2^-2148 cannot occur, as the
    // mantissas of subnormal numbers end in zeros.
    int position = ea + eb - 106 + kBias;
    while (position < 0) {
      product /= 2;
      ++position;
    }
    const auto word = static_cast<std::size_t>(position) / 32;
    const int shift = position % 32;
    // 32-bit digits in 64-bit cells: carries wait for Normalise.
    const bool negative = product < 0;
    auto magnitude = static_cast<unsigned __int128>(negative ? -product : product);
    const std::uint64_t lowest = static_cast<std::uint64_t>(magnitude & 0xffffffffu) << shift;
    AddDigit(word, lowest & 0xffffffffu, negative);
    std::uint64_t carry = lowest >> 32;
    for (std::size_t i = 1; i < 5; ++i) {
      magnitude >>= 32;
      const std::uint64_t next =
          (static_cast<std::uint64_t>(magnitude & 0xffffffffu) << shift) + carry;
      AddDigit(word + i, next & 0xffffffffu, negative);
      carry = next >> 32;
    }
  }
  /// -1, 0 or 1.
  int Sign() {
    std::int64_t carry = 0;
    bool zero = true;
    for (std::int64_t& digit : digits_) {
      const std::int64_t value = digit + carry;
      carry = value >> 32;
      zero &= (value & 0xffffffff) == 0;
    }
    return carry < 0 ? -1 : zero && carry == 0 ? 0 : 1;
  }

 private:
  static constexpr int kBias = 2176;
  void AddDigit(std::size_t index, std::uint64_t digit, bool negative) {
    digits_[index] +=
        negative ? -static_cast<std::int64_t>(digit) : static_cast<std::int64_t>(digit);
  }
  std::array<std::int64_t, 144> digits_{};
};

/// The neighbour of `nearest` that a directed rounding chooses; `error` is the sign of exact -
/// nearest.
template <Rounding kMode>
double Direct(double nearest, int error) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (error == 0 || kMode == Rounding::kNearest) {
    return nearest;
  }
  const bool up = kMode == Rounding::kUp ||
                  (kMode == Rounding::kZero && (nearest < 0 || (nearest == 0 && error < 0)));
  if (up) {
    return error > 0 ? std::nextafter(nearest, kInf) : nearest;
  }
  return error < 0 ? std::nextafter(nearest, -kInf) : nearest;
}

/// a * b + c in one directed rounding (b = 1 for a sum, c = 0 for a product).
template <Rounding kMode>
double FmaDirected(double a, double b, double c) {
  for (const double operand : {b, c, a}) {  // of several NaN this is the order
    if (std::isnan(operand)) {
      return operand + operand;
    }
  }
  const double nearest = std::fma(a, b, c);
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) {
    return nearest;
  }
  if (std::isinf(nearest)) {  // overflow: the exact value is finite
    return Direct<kMode>(nearest, nearest > 0 ? -1 : 1);
  }
  ExactSum difference;
  difference.AddProduct(a, b);
  difference.Add(c);
  difference.Add(-nearest);
  const int error = difference.Sign();
  if (error == 0 && nearest == 0) {
    // An exact zero of two parts with opposite signs is -0 when rounding down.
    const bool product_negative = std::signbit(a) != std::signbit(b);
    if (product_negative != std::signbit(c)) {
      return kMode == Rounding::kDown ? -0.0 : 0.0;
    }
  }
  return Direct<kMode>(nearest, error);
}

template <Rounding kMode>
double DivDirected(double a, double b) {
  const double nearest = a / b;
  if (!std::isfinite(a) || !std::isfinite(b) || b == 0) {
    return nearest;
  }
  if (std::isinf(nearest)) {
    return Direct<kMode>(nearest, nearest > 0 ? -1 : 1);
  }
  ExactSum difference;  // (a - nearest * b) / b has the sign of exact - nearest
  difference.Add(a);
  difference.AddProduct(-nearest, b);
  return Direct<kMode>(nearest, difference.Sign() * (b < 0 ? -1 : 1));
}

template <Rounding kMode>
double SqrtDirected(double a) {
  const double nearest = std::sqrt(a);
  if (!std::isfinite(nearest) || a == 0) {
    return nearest;
  }
  ExactSum difference;
  difference.Add(a);
  difference.AddProduct(-nearest, nearest);
  return Direct<kMode>(nearest, difference.Sign());
}

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_EXEC_EXACT_DOUBLE_H_
