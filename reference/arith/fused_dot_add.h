#ifndef VOLTCHECK_REFERENCE_ARITH_FUSED_DOT_ADD_H_
#define VOLTCHECK_REFERENCE_ARITH_FUSED_DOT_ADD_H_

#include <cstdint>
#include <span>

#include "reference/arith/half.h"

namespace voltcheck::arith {

/// How one tensor core sums: `terms` exact products and C are aligned to the largest exponent, cut
/// off `fraction_bits` below it (toward zero), added exactly and rounded once. docs/numerics.md
/// gives the rule step by step and its sources.
struct DotAddRule {
  int terms = 4;           ///< L, products per fused sum, at most 16
  int fraction_bits = 23;  ///< F
};
inline constexpr DotAddRule kV100DotAdd{4, 23};
inline constexpr DotAddRule kSm75DotAdd{4, 24};
inline constexpr DotAddRule kSm90WmmaDotAdd{16, 25};

/// fp32 accumulator: rounds toward zero, keeps subnormals. NaN in, Inf*0 or Inf-Inf give
/// 0x7FFFFFFF; an exact zero sum is +0. `a` and `b` hold at most rule.terms elements of equal
/// number; missing ones are 0.
float FusedDotAdd(const DotAddRule& rule, std::span<const HalfBits> a, std::span<const HalfBits> b,
                  float c);

/// fp16 output from the same wide sum, rounded to nearest even once. `c` is fp32 so that a fp16 C
/// is widened exactly first. NaN gives 0x7FFF.
HalfBits FusedDotAddToHalf(const DotAddRule& rule, std::span<const HalfBits> a,
                           std::span<const HalfBits> b, float c);

/// m8n8k4 on sm_80 and newer, a software routine of IEEE operations: s = fma chain over k = 0..3
/// from +0 (RN), D = C + s (RN).
float SoftwareDotAdd(std::span<const HalfBits, 4> a, std::span<const HalfBits, 4> b, float c);
/// Its fp16 form: p = fma(a1,b1,a0*b0), q = fma(a3,b3,a2*b2), D = RN16((C + p) + q).
HalfBits SoftwareDotAddToHalf(std::span<const HalfBits, 4> a, std::span<const HalfBits, 4> b,
                              float c);

/// Which arithmetic an m8n8k4 k-step has. The values match those of voltcheck::Numerics by name.
enum class StepArithmetic { kV100, kSm75, kSm80Software };

/// The exponent e of M = 2^e in the rule above (the largest over the nonzero terms, C included),
/// which the a-posteriori error bound of one step needs; INT32_MIN when every term is zero.
int DotAddExponent(std::span<const HalfBits> a, std::span<const HalfBits> b, float c);

/// One k-step of an m x n tile, for the order-faithful model and the simulator:
/// acc[i*ldacc + j] = step(a[i*4 .. i*4+3], b[j*4 .. j*4+3], acc[i*ldacc + j]) for i < m, j < n.
/// `a` is [m, 4], `b` is [n, 4] (k fastest). SIMD where the machine has it; bits equal the scalar
/// form.
void TileStep(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, float* acc, int m,
              int n, int ldacc);

/// One warp-wide m8n8k4 with fp32 accumulators: four independent 8x8x4 products. a, b: [4][8][4]
/// halves (quad, row or column, k); acc: [4][8][8] floats, updated in place.
void WarpMmaF32(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, float* acc);

/// `steps` k-steps of one dot product: acc = step(a[4s..4s+3], b[4s..4s+3], acc) in ascending s,
/// for `count` independent columns: a is [steps*4], b is [count][ldb] halves, acc is [count].
void DotChain(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, int ldb, float* acc,
              int count, int steps);

}  // namespace voltcheck::arith

#endif  // VOLTCHECK_REFERENCE_ARITH_FUSED_DOT_ADD_H_
