#ifndef VOLTCHECK_TESTS_ARITH_OPERANDS_H_
#define VOLTCHECK_TESTS_ARITH_OPERANDS_H_

#include <bit>
#include <cstdint>
#include <random>

#include "reference/arith/half.h"

namespace voltcheck::arith::testing {

/// What the operands of a random matrix instruction look like.
enum class Operands {
  kTypical,    ///< a few binades around 1
  kWide,       ///< any finite half
  kSparse,     ///< mostly zeros of both signs
  kSubnormal,  ///< mostly subnormals
  kSpecial,    ///< an occasional NaN or Inf
};
inline constexpr Operands kAllOperands[] = {Operands::kTypical, Operands::kWide, Operands::kSparse,
                                            Operands::kSubnormal, Operands::kSpecial};

inline HalfBits RandomHalf(Operands kind, std::mt19937& random) {
  const std::uint32_t bits = random();
  const auto sign = static_cast<HalfBits>(bits & 0x8000);
  const auto fraction = static_cast<HalfBits>(bits & 0x3FF);
  const std::uint32_t choice = bits >> 16;
  const auto typical = static_cast<HalfBits>(sign | (10 + choice % 7) << 10 | fraction);
  const auto finite = static_cast<HalfBits>(sign | choice % 31 << 10 | fraction);
  switch (kind) {
    case Operands::kTypical:
      return typical;
    case Operands::kWide:
      return finite;
    case Operands::kSparse:
      return choice % 8 == 0 ? finite : sign;
    case Operands::kSubnormal:
      return choice % 4 == 0 ? typical : static_cast<HalfBits>(sign | fraction);
    case Operands::kSpecial:
      return choice % 64 != 0    ? typical
             : choice % 128 == 0 ? static_cast<HalfBits>(sign | 0x7C00)
                                 : static_cast<HalfBits>(sign | 0x7C00 | fraction);
  }
  return 0;
}

/// An fp32 addend to go with them, of any magnitude, also zero, subnormal, huge.
inline float RandomAddend(Operands kind, std::mt19937& random) {
  const std::uint32_t bits = random();
  const std::uint32_t choice = random();
  const std::uint32_t fraction = bits & 0x807FFFFF;
  std::uint32_t exponent = 100 + choice % 40;
  if (choice % 16 == 1) exponent = choice / 16 % 255;
  if (choice % 32 == 2) exponent = 0;
  if (choice % 32 == 3) return std::bit_cast<float>(bits & 0x80000000U);
  if (kind == Operands::kSpecial && choice % 64 == 4) exponent = 255;
  return std::bit_cast<float>(fraction | exponent << 23);
}

}  // namespace voltcheck::arith::testing

#endif  // VOLTCHECK_TESTS_ARITH_OPERANDS_H_
