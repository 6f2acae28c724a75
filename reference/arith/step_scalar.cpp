#include "reference/arith/step_scalar.h"

namespace voltcheck::arith {

float StepScalar(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, float c) {
  const std::span<const HalfBits, 4> a4(a, 4);
  const std::span<const HalfBits, 4> b4(b, 4);
  switch (arithmetic) {
    case StepArithmetic::kV100:
      return FusedDotAdd(kV100DotAdd, a4, b4, c);
    case StepArithmetic::kSm75:
      return FusedDotAdd(kSm75DotAdd, a4, b4, c);
    case StepArithmetic::kSm80Software:
      break;
  }
  return SoftwareDotAdd(a4, b4, c);
}

HalfBits StepToHalfScalar(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b,
                          float c) {
  const std::span<const HalfBits, 4> a4(a, 4);
  const std::span<const HalfBits, 4> b4(b, 4);
  switch (arithmetic) {
    case StepArithmetic::kV100:
      return FusedDotAddToHalf(kV100DotAdd, a4, b4, c);
    case StepArithmetic::kSm75:
      return FusedDotAddToHalf(kSm75DotAdd, a4, b4, c);
    case StepArithmetic::kSm80Software:
      break;
  }
  return SoftwareDotAddToHalf(a4, b4, c);
}

void TileStepScalar(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, float* acc,
                    std::size_t m, std::size_t n, std::size_t ldacc) {
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      float& sum = acc[i * ldacc + j];
      sum = StepScalar(arithmetic, a + i * 4, b + j * 4, sum);
    }
  }
}

void DotChainScalar(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b,
                    std::size_t ldb, float* acc, std::size_t count, std::size_t steps) {
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t s = 0; s < steps; ++s) {
      acc[j] = StepScalar(arithmetic, a + s * 4, b + j * ldb + s * 4, acc[j]);
    }
  }
}

}  // namespace voltcheck::arith
