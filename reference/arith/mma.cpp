#include <cstddef>

#include "reference/arith/fused_dot_add.h"

namespace voltcheck::arith {
namespace {

float Step(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, float c) {
  const std::span<const HalfBits, 4> a_span(a, 4);
  const std::span<const HalfBits, 4> b_span(b, 4);
  switch (arithmetic) {
    case StepArithmetic::kV100:
      return FusedDotAdd(kV100DotAdd, a_span, b_span, c);
    case StepArithmetic::kSm75:
      return FusedDotAdd(kSm75DotAdd, a_span, b_span, c);
    case StepArithmetic::kSm80Software:
      break;
  }
  return SoftwareDotAdd(a_span, b_span, c);
}

}  // namespace

void TileStep(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, float* acc, int m,
              int n, int ldacc) {
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      float& d = acc[i * ldacc + j];
      d = Step(arithmetic, a + i * 4, b + j * 4, d);
    }
  }
}

void WarpMmaF32(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, float* acc) {
  for (std::ptrdiff_t quad = 0; quad < 4; ++quad) {
    TileStep(arithmetic, a + quad * 32, b + quad * 32, acc + quad * 64, 8, 8, 8);
  }
}

void DotChain(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, int ldb, float* acc,
              int count, int steps) {
  for (std::ptrdiff_t j = 0; j < count; ++j) {
    for (std::ptrdiff_t s = 0; s < steps; ++s) {
      acc[j] = Step(arithmetic, a + s * 4, b + j * ldb + s * 4, acc[j]);
    }
  }
}

}  // namespace voltcheck::arith
