#include "reference/arith/table_unit.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/arith/correction_table.h"
#include "reference/arith/value_table.h"

namespace voltcheck::arith {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kSmallestNormal = std::numeric_limits<float>::min();
constexpr std::uint32_t kMantissa = 0x7FFFFF;

float Float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t Bits(float f) { return std::bit_cast<std::uint32_t>(f); }
float CanonicalNan(float f) { return std::isnan(f) ? Float(0x7FFFFFFF) : f; }

/// x = 2^exponent * (1 + mantissa 2^-23), x normal and positive.
struct Parts {
  std::uint32_t mantissa;
  std::int32_t exponent;
};
Parts Split(float x) {
  return {Bits(x) & kMantissa, static_cast<std::int32_t>((Bits(x) >> 23) & 0xFF) - 127};
}

/// x = 4^half * base with base in [1, 4), for the roots.
struct RootParts {
  float base;
  std::uint32_t mantissa;
  bool odd;
  std::int32_t half;
};
RootParts SplitForRoot(float x) {
  const Parts parts = Split(x);
  const std::int32_t odd = parts.exponent & 1;
  return {Float(static_cast<std::uint32_t>(127 + odd) << 23 | parts.mantissa), parts.mantissa,
          odd != 0, (parts.exponent - odd) / 2};
}

float Moved(float rounded, std::int32_t correction, std::int32_t exponent) {
  return Float(static_cast<std::uint32_t>(static_cast<std::int32_t>(Bits(rounded)) + correction +
                                          exponent * (1 << 23)));
}

/// value * 2^-23, toward zero.
float FromFixed(std::uint32_t value) {
  const std::int32_t extra = 8 - std::countl_zero(value);  // bits beyond the 24 of a float
  return std::ldexp(static_cast<float>(extra > 0 ? value >> extra << extra : value), -23);
}

}  // namespace

float Ex2ApproxFtz(float x) {
  if (std::isnan(x)) return Float(0x7FFFFFFF);
  if (x >= 128.0F) return kInfinity;
  if (x < -126.0F) return 0.0F;
  // Fixed point with 23 fraction bits, toward zero; the unit takes the one's complement for
  // negative x.
  const auto magnitude = static_cast<std::int32_t>(std::fabs(x) * 0x1p23F);
  if (magnitude == 0) return 1.0F;
  const bool whole = x == std::trunc(x);
  const std::int32_t fixed = x > 0 ? magnitude : whole ? -magnitude : -1 - magnitude;
  const auto fraction = static_cast<std::uint32_t>(fixed) & kMantissa;
  const std::int32_t exponent = fixed >> 23;  // floor
  // The table holds 2^(1 + fraction), one binade up.
  const auto rounded = static_cast<float>(std::exp2(1.0 + fraction * 0x1p-23));
  const std::int32_t bits = static_cast<std::int32_t>(Bits(rounded)) + Ex2Corrections()[fraction] +
                            (exponent - 1) * (1 << 23);
  return bits < (1 << 23) ? 0.0F : Float(static_cast<std::uint32_t>(bits));
}

float RcpApproxFtz(float x) {
  if (std::isnan(x)) return Float(0x7FFFFFFF);
  const float sign = std::signbit(x) ? -1.0F : 1.0F;
  if (std::fabs(x) < kSmallestNormal) return sign * kInfinity;
  if (std::isinf(x)) return sign * 0.0F;
  const std::uint32_t mantissa = Bits(x) & kMantissa;
  const auto exponent = static_cast<std::int32_t>((Bits(x) >> 23) & 0xFF) - 127;
  const float rounded = 1.0F / Float(0x3F800000U | mantissa);
  const std::int32_t bits =
      static_cast<std::int32_t>(Bits(rounded)) + RcpCorrections()[mantissa] - exponent * (1 << 23);
  return sign * (bits < (1 << 23) ? 0.0F : Float(static_cast<std::uint32_t>(bits)));
}

float SqrtApproxFtz(float x) {
  if (std::isnan(x)) return Float(0x7FFFFFFF);
  if (std::fabs(x) < kSmallestNormal) return std::copysign(0.0F, x);
  if (x < 0) return Float(0x7FFFFFFF);
  if (std::isinf(x)) return x;
  const RootParts parts = SplitForRoot(x);
  return Moved(std::sqrt(parts.base), SqrtCorrections(parts.odd)[parts.mantissa], parts.half);
}

float RsqrtApproxFtz(float x) {
  if (std::isnan(x)) return Float(0x7FFFFFFF);
  if (std::fabs(x) < kSmallestNormal) return std::copysign(kInfinity, x);
  if (x < 0) return Float(0x7FFFFFFF);
  if (std::isinf(x)) return 0.0F;
  const RootParts parts = SplitForRoot(x);
  const auto rounded = static_cast<float>(1.0 / std::sqrt(static_cast<double>(parts.base)));
  return Moved(rounded, RsqrtCorrections(parts.odd)[parts.mantissa], -parts.half);
}

float Lg2ApproxFtz(float x) {
  if (std::isnan(x)) return Float(0x7FFFFFFF);
  if (std::fabs(x) < kSmallestNormal) return -kInfinity;
  if (x < 0) return Float(0x7FFFFFFF);
  if (std::isinf(x)) return x;
  const Parts parts = Split(x);
  if (parts.exponent == 0) return Float(Lg2From1()[parts.mantissa]);
  if (parts.exponent == -1) return Float(Lg2FromHalf()[parts.mantissa]);
  // Fixed point with 23 fraction bits; negative results are one's complements.
  const auto fraction =
      static_cast<std::int32_t>(Float(Lg2From1()[parts.mantissa]) * 0x1p23F);  // toward zero
  const std::int32_t fixed = parts.exponent * (1 << 23) + fraction;
  return fixed >= 0 ? FromFixed(static_cast<std::uint32_t>(fixed))
                    : -FromFixed(static_cast<std::uint32_t>(-1 - fixed));
}

float Ex2Approx(float x) {
  if (!(x < -126.0F)) return Ex2ApproxFtz(x);
  const float root = Ex2ApproxFtz(x * 0.5F);
  return root * root;
}

float RcpApprox(float x) {
  const float magnitude = std::fabs(x);
  const float scale = magnitude < kSmallestNormal ? 0x1p24F : magnitude > 0x1p126F ? 0.25F : 1.0F;
  return CanonicalNan(scale * RcpApproxFtz(x * scale));
}

float SqrtApprox(float x) {
  if (!(std::fabs(x) < kSmallestNormal)) return SqrtApproxFtz(x);
  return CanonicalNan(SqrtApproxFtz(x * 0x1p24F) * 0x1p-12F);
}

float RsqrtApprox(float x) {
  if (!(std::fabs(x) < kSmallestNormal)) return RsqrtApproxFtz(x);
  return CanonicalNan(RsqrtApproxFtz(x * 0x1p24F) * 0x1p12F);
}

float Lg2Approx(float x) {
  if (!(std::fabs(x) < kSmallestNormal)) return Lg2ApproxFtz(x);
  return CanonicalNan(Lg2ApproxFtz(x * 0x1p24F) - 24.0F);
}

std::string_view TableUnitChip() { return "NVIDIA H200, driver 580.159.04"; }

}  // namespace voltcheck::arith
