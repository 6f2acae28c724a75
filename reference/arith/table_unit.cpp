#include "reference/arith/table_unit.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/arith/correction_table.h"

namespace voltcheck::arith {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kSmallestNormal = std::numeric_limits<float>::min();
constexpr std::uint32_t kMantissa = 0x7FFFFF;

float Float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t Bits(float f) { return std::bit_cast<std::uint32_t>(f); }
float CanonicalNan(float f) { return std::isnan(f) ? Float(0x7FFFFFFF) : f; }

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

std::string_view TableUnitChip() { return "NVIDIA H200, driver 580.159.04"; }

}  // namespace voltcheck::arith
