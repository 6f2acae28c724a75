// The running bound against the order-faithful arithmetic and an exact integer sum, on inputs that
// are looking for trouble.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

#include "reference/arith/fused_dot_add.h"
#include "reference/arith/half.h"
#include "reference/order_model.h"
#include "reference/rounding_error.h"
#include "reference/running_bound.h"

namespace voltcheck::reference {
namespace {

using arith::HalfBits;
using Halves = std::vector<HalfBits>;
__extension__ using Wide = __int128;

constexpr Numerics kModes[] = {Numerics::kV100, Numerics::kSm75, Numerics::kSm80Software};

// Every half is a multiple of 2^-24, so a sum of products is an integer number of 2^-48.
Wide ExactSum(const Halves& a, const Halves& w) {
  Wide sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const auto scaled = [](HalfBits h) {
      return static_cast<Wide>(std::ldexp(static_cast<double>(arith::HalfToFloat(h)), 24));
    };
    sum += scaled(a[k]) * scaled(w[k]);
  }
  return sum;
}

double Distance(double x, Wide exact) {
  // |x| is at most 2^45 and has 24 bits, so it is an integer number of 2^-100.
  const Wide scaled = static_cast<Wide>(std::ldexp(x, 70));
  return std::ldexp(static_cast<double>(scaled - (exact << 22)), -70);
}

struct Outcome {
  double error = 0;  // the kernel's fp32 result minus the exact one
  double bound = 0;  // what the budget allows it
  double half_error = 0;
  double half_bound = 0;
  double use() const { return bound > 0 ? std::fabs(error) / bound : error == 0 ? 0 : INFINITY; }
};

float Model(Numerics numerics, const Halves& a, const Halves& w, std::size_t begin,
            std::size_t end) {
  float acc = 0;
  arith::DotChain(StepArithmeticOf(numerics), a.data() + begin, w.data() + begin,
                  static_cast<int>(w.size()), &acc, 1, static_cast<int>((end - begin) / 4));
  return acc;
}

Outcome RunChain(Numerics numerics, const Halves& a, const Halves& w, int splits = 1) {
  RunningBound bound;
  float total = 0;
  const std::size_t length = a.size() / static_cast<std::size_t>(splits) / 4 * 4;
  for (int s = 0; s < splits; ++s) {
    const std::size_t begin = length * static_cast<std::size_t>(s);
    const std::size_t end = s + 1 == splits ? a.size() : begin + length;
    for (std::size_t k = begin; k < end; k += 4) {
      std::array<double, 4> value{};
      std::array<std::array<double, kBlockColumns>, 4> weight{};
      std::array<std::array<double, kBlockColumns>, 4> exponent{};
      StepWeights weights{};
      for (std::size_t i = 0; i < 4; ++i) {
        value[i] = arith::HalfToFloat(a[k + i]);
        weight[i][0] = arith::HalfToFloat(w[k + i]);
        exponent[i][0] = weight[i][0] == 0 ? 0 : std::max(PowerOfTwoBelow(weight[i][0]), 0x1p-14);
        weights.value[i] = weight[i].data();
        weights.exponent[i] = exponent[i].data();
      }
      bound.Step(numerics, MakeStepInput(value.data(), nullptr), weights);
    }
    bound.EndSplit();
    const float partial = Model(numerics, a, w, begin, end);
    total = s == 0 ? partial : total + partial;
  }
  const Wide exact = ExactSum(a, w);
  Outcome outcome{Distance(total, exact), bound.error()[0], 0, 0};
  double value = bound.value()[0];
  outcome.half_bound = outcome.bound;
  FinishWithHalfRounding(value, outcome.half_bound);
  const float rounded = arith::HalfToFloat(arith::FloatToHalf(total));
  if (std::isfinite(value) && std::isfinite(rounded)) {
    outcome.half_error = Distance(rounded, exact);
  } else if (std::isfinite(value)) {
    outcome.half_error = Distance(std::copysign(65536.0, rounded), exact);
  } else {
    outcome.half_error = rounded == value ? 0 : INFINITY;
  }
  return outcome;
}

// One half of a hazard class, from random bits.
HalfBits HazardHalf(int hazard, std::uint32_t bits) {
  const auto sign = static_cast<HalfBits>(bits >> 16 & 0x8000);
  const auto fraction = static_cast<HalfBits>(bits & 0x3FF);
  const std::uint32_t choice = bits >> 12 & 0xFF;
  switch (hazard) {
    case 0:  // exponents -3..0
      return static_cast<HalfBits>(sign | (12 + choice % 4) << 10 | fraction);
    case 1:  // positive, exponents -3..0
      return static_cast<HalfBits>((12 + choice % 4) << 10 | fraction);
    case 2:  // any finite half
      return static_cast<HalfBits>(sign | choice % 31 << 10 | fraction);
    case 3:  // subnormals and zeros
      return static_cast<HalfBits>(sign | (fraction & (choice % 2 == 0 ? 0x3FF : 0x3)));
    case 4:  // near 1
      return static_cast<HalfBits>(sign | (0x3C00 + (choice % 3) - 1));
    case 5:  // sparse
      return choice % 4 != 0 ? HalfBits{0} : static_cast<HalfBits>(sign | 0x3C00 | fraction);
    default:  // large
      return static_cast<HalfBits>(sign | (28 + choice % 3) << 10 | fraction);
  }
}
constexpr int kHazards = 7;

Halves HazardVector(int hazard, int length, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Halves v(static_cast<std::size_t>(length));
  for (auto& h : v) {
    h = HazardHalf(hazard, static_cast<std::uint32_t>(random() >> 13));
  }
  return v;
}

RC_GTEST_PROP(RunningBoundProperty, Holds, ()) {
  const int steps = *rc::gen::inRange(1, 65);
  const int hazard_a = *rc::gen::inRange(0, kHazards);
  const int hazard_w = *rc::gen::inRange(0, kHazards);
  const auto seed = *rc::gen::noShrink(rc::gen::arbitrary<std::uint64_t>());
  const bool cancels = *rc::gen::arbitrary<bool>();
  Halves a = HazardVector(hazard_a, 4 * steps, seed);
  Halves w = HazardVector(hazard_w, 4 * steps, seed + 1);
  if (cancels) {  // the second half of the sum takes the first one away again, in another order
    const std::size_t half = a.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
      a[a.size() - 1 - i] = static_cast<HalfBits>(a[i] ^ 0x8000);
      w[a.size() - 1 - i] = w[i];
    }
  }
  for (const auto numerics : kModes) {
    for (const int splits : {1, 3}) {
      if (splits > steps) {
        continue;
      }
      const Outcome outcome = RunChain(numerics, a, w, splits);
      RC_ASSERT(std::fabs(outcome.error) <= outcome.bound);
      RC_ASSERT(std::fabs(outcome.half_error) <= outcome.half_bound);
    }
  }
}

// A step whose C is tiny beside the clamped exponent of a subnormal: the bound from magnitudes
// alone would be wrong by a factor of 200.
TEST(RunningBound, SubnormalOperandsPushTheAccumulatorOut) {
  for (const auto numerics : {Numerics::kV100, Numerics::kSm75}) {
    // C becomes 2^-37 - 2^-48; then 0001 * 3c00 = 2^-24 arrives with exponent -14.
    const Halves a{0x0001, 0, 0, 0, 0x0001, 0, 0, 0};
    const Halves w{0x07FF, 0, 0, 0, 0x3C00, 0, 0, 0};
    const Outcome outcome = RunChain(numerics, a, w);
    EXPECT_LE(std::fabs(outcome.error), outcome.bound);
    const double magnitude = 0x1p-24 + 0x1p-37;
    if (numerics == Numerics::kV100) {
      EXPECT_GT(std::fabs(outcome.error), 200 * 5 * 0x1p-23 * magnitude);
    }
  }
}

TEST(RunningBound, AStepOfZerosChangesNothing) {
  Halves a(64, 0);
  Halves w(64, 0x3C01);
  a[0] = 0x3C01;
  const Outcome once =
      RunChain(Numerics::kV100, {a.begin(), a.begin() + 4}, {w.begin(), w.begin() + 4});
  const Outcome padded = RunChain(Numerics::kV100, a, w);
  EXPECT_NEAR(padded.bound, once.bound, 1e-18);
}

TEST(RunningBound, NearTheOverflowOfHalfBothSidesAreRight) {
  // 65504 + 16 is the middle to 2^16: the sum may end on either side of it.
  const Halves a{0x7BFF, 0x3C00, 0, 0};
  for (int w = 0x4B00; w <= 0x4D00; ++w) {
    const Outcome outcome = RunChain(Numerics::kV100, a, {0x3C00, static_cast<HalfBits>(w), 0, 0});
    ASSERT_LE(std::fabs(outcome.half_error), outcome.half_bound) << w;
  }
}

// Hill climbing towards the bound, per mode: it must never be passed, and the worst input must
// reach a tenth of it, or the bound is too loose to be worth its name.
TEST(RunningBound, AdversariesStayBelowTheBoundAndComeNearIt) {
  for (const auto numerics : kModes) {
    double best_use = 0;
    for (const int steps : {1, 2, 8, 40}) {
      for (int start = 0; start < 6; ++start) {
        std::mt19937_64 random(static_cast<std::uint64_t>(100 * steps + start));
        Halves a = HazardVector(start % 2, 4 * steps, random());
        Halves w = HazardVector(start % 3 == 2 ? 0 : 1, 4 * steps, random());
        double use = RunChain(numerics, a, w).use();
        for (int trial = 0; trial < 2500; ++trial) {
          Halves& changed = trial % 2 == 0 ? a : w;
          HalfBits& h = changed[random() % changed.size()];
          const HalfBits before = h;
          h = random() % 4 == 0 ? HazardHalf(start % 2, static_cast<std::uint32_t>(random()))
                                : static_cast<HalfBits>(h ^ (1U << random() % 10));
          const double now = RunChain(numerics, a, w).use();
          ASSERT_LE(now, 1);
          if (now < use) {
            h = before;
          } else {
            use = now;
          }
        }
        best_use = std::max(best_use, use);
      }
    }
    RecordProperty("largest_use_mode_" + std::to_string(static_cast<int>(numerics)),
                   std::to_string(best_use));
    EXPECT_GT(best_use, 0.1);
  }
}

}  // namespace
}  // namespace voltcheck::reference
