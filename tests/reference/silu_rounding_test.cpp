// Which halves tell SiLU from a SiLU of which one instruction rounds or fuses another way: all 2^16
// gates through the instructions that nvcc emits. `data=ties` is made of the answer, and proofs of
// equivalent mutants stand on it.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <set>

#include "reference/arith/half.h"
#include "reference/arith/table_unit.h"
#include "reference/order_model.h"

namespace voltcheck::reference {
namespace {

enum Instruction { kScale, kWhole, kExponent, kHigh, kLow, kPower, kDivisor, kQuotient, kNone };

// How one instruction departs: its rounding mode, kUnfused for a multiplication and an addition, or
// kExchanged for its second factor and its addend in each other's place.
constexpr int kUnfused = -1;
constexpr int kExchanged = -2;
struct Departure {
  Instruction where = kNone;
  int mode = FE_TONEAREST;
};

// The operations in the rounding mode under way; the compiler must not move them out of it.
[[gnu::noinline]] float Fma(float a, float b, float c) { return std::fma(a, b, c); }
[[gnu::noinline]] float Add(float a, float b) { return a + b; }
[[gnu::noinline]] float Mul(float a, float b) { return a * b; }
[[gnu::noinline]] float Div(float a, float b) { return a / b; }

template <typename Operation>
float Rounded(const Departure& d, Instruction where, int usual, Operation operation) {
  std::fesetround(d.where == where ? d.mode : usual);
  const float result = operation();
  std::fesetround(FE_TONEAREST);
  return result;
}

float FmaOf(const Departure& d, Instruction where, int usual, float a, float b, float c) {
  if (d.where == where && d.mode == kUnfused) {
    const float product = Rounded({}, where, usual, [&] { return Mul(a, b); });
    return Rounded({}, where, usual, [&] { return Add(product, c); });
  }
  if (d.where == where && d.mode == kExchanged) {
    return Rounded({}, where, usual, [&] { return Fma(a, c, b); });
  }
  return Rounded(d, where, usual, [&] { return Fma(a, b, c); });
}

std::uint16_t Silu(float gate, bool approximate, const Departure& d) {
  const float x = -gate;
  const float t = FmaOf(d, kScale, FE_TONEAREST, x, std::bit_cast<float>(0x3BBB989DU), 0.5F);
  const float clamped = std::isnan(t) ? 0.0F : std::min(std::max(t, 0.0F), 1.0F);
  const float whole = FmaOf(d, kWhole, FE_DOWNWARD, clamped, 252.0F, 12582913.0F);
  const float i = Rounded(d, kExponent, FE_TONEAREST, [&] { return Add(whole, -12583039.0F); });
  float w = FmaOf(d, kHigh, FE_TONEAREST, x, std::bit_cast<float>(0x3FB8AA3BU), -i);
  w = FmaOf(d, kLow, FE_TONEAREST, x, std::bit_cast<float>(0x32A57060U), w);
  const float scale = std::bit_cast<float>(std::bit_cast<std::uint32_t>(whole) << 23);
  const float power = arith::Ex2ApproxFtz(w);
  const float e = Rounded(d, kPower, FE_TONEAREST, [&] { return Mul(power, scale); });
  const float divisor = Rounded(d, kDivisor, FE_TONEAREST, [&] { return Add(1.0F, e); });
  const float reciprocal = approximate ? arith::RcpApproxFtz(divisor) : 0.0F;
  const float quotient = Rounded(d, kQuotient, FE_TONEAREST, [&] {
    return approximate ? Mul(reciprocal, gate) : Div(gate, divisor);
  });
  return arith::FloatToHalf(quotient);
}

std::set<std::uint16_t> GatesThatTell(bool approximate) {
  std::set<std::uint16_t> gates;
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const auto bits = static_cast<std::uint16_t>(h);
    const float gate = arith::HalfToFloat(bits);
    if (!std::isfinite(gate)) {
      continue;
    }
    const std::uint16_t honest = Silu(gate, approximate, {});
    for (int where = kScale; where < kNone; ++where) {
      for (const int mode : {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD, kUnfused}) {
        const auto instruction = static_cast<Instruction>(where);
        const bool fused = instruction == kScale || instruction == kWhole || instruction == kHigh ||
                           instruction == kLow;
        if ((mode == kUnfused && !fused) || (mode == FE_TONEAREST && instruction != kWhole)) {
          continue;
        }
        if (arith::HalfUlpDistance(Silu(gate, approximate, {instruction, mode}), honest) != 0) {
          gates.insert(bits);
        }
      }
    }
  }
  return gates;
}

TEST(SiluRounding, FiveGatesTellOneInstructionFromAnother) {
  EXPECT_EQ(GatesThatTell(false),
            (std::set<std::uint16_t>{0x9000, 0x9e00, 0xb9b6, 0xc173, 0xc4ec}));
  EXPECT_EQ(GatesThatTell(true), (std::set<std::uint16_t>{0x9000, 0x9e00, 0xc173, 0xc4ec}));
}

// The power of two that is split off may be another one for most gates, since what is left makes up
// for it; so constants that are exchanged show at few gates. `data=gates` holds the normal ones.
TEST(SiluRounding, FewGatesTellThatTheConstantsOfTheFirstInstructionAreExchanged) {
  std::set<std::uint16_t> gates[2];
  for (const bool approximate : {false, true}) {
    for (std::uint32_t h = 0; h < 0x10000; ++h) {
      const auto bits = static_cast<std::uint16_t>(h);
      const float gate = arith::HalfToFloat(bits);
      const bool normal = (bits & 0x7c00U) != 0 && (bits & 0x7c00U) != 0x7c00U;
      if (normal && arith::HalfUlpDistance(Silu(gate, approximate, {}),
                                           Silu(gate, approximate, {kScale, kExchanged})) != 0) {
        gates[approximate].insert(bits);
      }
    }
  }
  std::set<std::uint16_t> expected{0x11a8, 0x1400, 0x16ed, 0x1f36, 0x1fbf, 0x222a, 0x2700, 0x2bb7,
                                   0x3728, 0x91a8, 0x96ed, 0x9a53, 0x9ea2, 0x9f36, 0x9fbf, 0xa22a,
                                   0xa700, 0xabb7, 0xac14, 0xb6d9, 0xc282, 0xc75b, 0xc7a5};
  EXPECT_EQ(gates[1], expected);
  expected.insert({0x1a53, 0xc173});
  EXPECT_EQ(gates[0], expected);
}

TEST(SiluRounding, TheInstructionsAreTheModel) {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const auto gate = static_cast<std::uint16_t>(h);
    const HalfMatrix w13{1, 2, {gate, 0x3c00}};
    if (std::isnan(arith::HalfToFloat(gate))) {
      continue;
    }
    ASSERT_EQ(
        arith::HalfUlpDistance(PredictSilu(w13).bits[0], Silu(arith::HalfToFloat(gate), false, {})),
        0)
        << h;
    ASSERT_EQ(arith::HalfUlpDistance(PredictFusedSilu(w13).bits[0],
                                     Silu(arith::HalfToFloat(gate), true, {})),
              0)
        << h;
    ASSERT_TRUE(SiluAllows(gate, 0x3c00, PredictSilu(w13).bits[0])) << h;
    ASSERT_TRUE(SiluAllows(gate, 0x3c00, PredictFusedSilu(w13).bits[0], SiluDivision::kApproximate))
        << h;
  }
}

}  // namespace
}  // namespace voltcheck::reference
