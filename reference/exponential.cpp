#include "reference/exponential.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace voltcheck::reference {

double Exp(double x) {
  if (std::isnan(x)) {
    return x;
  }
  if (x > 709.78) {
    return std::numeric_limits<double>::infinity();
  }
  if (x < -708) {
    return 0;
  }
  // x = n ln 2 + r with |r| <= ln 2 / 2. ln 2 stands in two parts; the first has 33 bits, so n
  // times it is exact.
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2High = 0x1.62e42feep-1;
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  const double n = std::floor(x * kLog2E + 0.5);
  const double high = x - n * kLn2High;
  const double low = n * kLn2Low;
  const double r = high - low;
  const double r_error = (high - r) - low;
  // Taylor's series: the first term left out, r^14 / 14!, is below 2^-57. The two leading terms are
  // added last, so their rounding is the only one that counts.
  double tail = 0;
  for (int i = 13; i >= 2; --i) {
    tail = (tail + 1) * r / i;
  }
  // Now tail = r/2 + r^2/6 + ..., and exp(r) = 1 + r + r * tail.
  const double exp_r = 1 + (r + (r * tail + r_error));
  const auto scale = static_cast<std::uint64_t>(static_cast<std::int64_t>(n) + 1022) << 52;
  return 2 * exp_r * std::bit_cast<double>(scale);
}

double Log(double x) {
  if (!(x > 0)) {
    return std::isnan(x) ? x : -std::numeric_limits<double>::infinity();
  }
  if (std::isinf(x)) {
    return x;
  }
  // x = 2^e m with m from sqrt(1/2) to sqrt(2); ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| <
  // 0.172.
  int e = 0;
  double m = std::frexp(x, &e);
  constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
  if (m < kSqrtHalf) {
    m *= 2;
    --e;
  }
  const double s = (m - 1) / (m + 1);
  const double s2 = s * s;
  // The first term left out, s^24 / 25, is below 2^-65.
  double tail = 0;
  for (int i = 23; i >= 3; i -= 2) {
    tail = (tail + 1.0 / i) * s2;
  }
  constexpr double kLn2High = 0x1.62e42feep-1;
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  return e * kLn2High + (2 * s + (2 * s * tail + e * kLn2Low));
}

}  // namespace voltcheck::reference
