// The fp64 units, which know the high words alone.
#include <bit>
#include <cmath>
#include <cstdint>

#include "reference/arith/table_unit.h"
#include "reference/arith/value_table.h"

namespace voltcheck::arith {
namespace {

constexpr std::uint32_t kMantissa = 0xFFFFF;
constexpr std::uint32_t kSign = 0x80000000;
constexpr std::uint32_t kInfinity = 0x7FF00000;
constexpr std::uint32_t kNan = 0x7FFFFFFF;

std::uint32_t High(double x) {
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(x) >> 32);
}
double FromHigh(std::uint32_t high) { return std::bit_cast<double>(std::uint64_t{high} << 32); }

std::uint32_t RcpHigh(std::uint32_t high) {
  const std::uint32_t sign = high & kSign;
  const std::uint32_t magnitude = high & ~kSign;
  if (magnitude > kInfinity) return kNan;
  if (magnitude == kInfinity) return sign;
  if (magnitude <= kMantissa) return sign | kInfinity;
  const std::int32_t exponent = static_cast<std::int32_t>(magnitude >> 20) - 1023;
  const std::int32_t result =
      static_cast<std::int32_t>(Rcp64()[magnitude & kMantissa]) - exponent * (1 << 20);
  return sign | (result < (1 << 20) ? 0U : static_cast<std::uint32_t>(result));
}

std::uint32_t RsqrtHigh(std::uint32_t high) {
  const std::uint32_t magnitude = high & ~kSign;
  if (magnitude > kInfinity) return kNan;
  if (magnitude <= kMantissa) return (high & kSign) | kInfinity;
  if ((high & kSign) != 0) return kNan;
  if (magnitude == kInfinity) return 0;
  const std::int32_t exponent = static_cast<std::int32_t>(magnitude >> 20) - 1023;
  const std::int32_t odd = exponent & 1;
  const std::size_t entry = (magnitude & kMantissa) + (static_cast<std::size_t>(odd) << 20);
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(Rsqrt64()[entry]) -
                                    (exponent - odd) / 2 * (1 << 20));
}

}  // namespace

double RcpApproxFtz(double x) { return FromHigh(RcpHigh(High(x))); }
double RsqrtApproxFtz(double x) { return FromHigh(RsqrtHigh(High(x))); }

double RsqrtApprox(double x) {
  if (std::isnan(x)) return x + x;
  if (x == 0) return std::copysign(FromHigh(kInfinity), x);
  if (x < 0) return FromHigh(0xFFF80000);
  if (std::isinf(x)) return 0;
  const bool subnormal = x < 0x1p-1022;
  const double scaled = subnormal ? x * 0x1p54 : x;
  const double y = RsqrtApproxFtz(scaled);
  const double error = std::fma(scaled, -(y * y), 1.0);
  const double refined = std::fma(std::fma(error, 0.375, 0.5), y * error, y);
  return subnormal ? refined * 0x1p27 : refined;
}

}  // namespace voltcheck::arith
