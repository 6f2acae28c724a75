#ifndef VOLTCHECK_REFERENCE_ARITH_HALF_H_
#define VOLTCHECK_REFERENCE_ARITH_HALF_H_

#include <cstddef>
#include <cstdint>

namespace voltcheck::arith {

/// IEEE binary16 as its bits. Every conversion and operation here is exact or correctly rounded (to
/// nearest, ties to even), keeps subnormals, and gives the same bits on every machine.
using HalfBits = std::uint16_t;

/// Exact.
float HalfToFloat(HalfBits h);
/// Rounds to nearest even; overflow (from 65520 up) gives Inf; NaN gives 0x7FFF, as the GPU's cvt
/// does.
HalfBits FloatToHalf(float f);
/// Rounds once, straight from the double.
HalfBits DoubleToHalf(double d);

/// a * b + c with one rounding.
HalfBits HalfFma(HalfBits a, HalfBits b, HalfBits c);
HalfBits HalfMul(HalfBits a, HalfBits b);
HalfBits HalfAdd(HalfBits a, HalfBits b);
HalfBits HalfSub(HalfBits a, HalfBits b);

/// Bulk forms of the conversions, same bits as the scalar ones.
void HalfToFloat(const HalfBits* in, float* out, std::size_t n);
void FloatToHalf(const float* in, HalfBits* out, std::size_t n);

/// The distance between `h` and the next half of larger magnitude, 2^-24 for zero and subnormals.
double HalfUlp(HalfBits h);
/// The signed number of representable halves from a to b (0 between -0 and +0); NaN on either side
/// gives INT32_MAX unless both are NaN, which gives 0.
std::int32_t HalfUlpDistance(HalfBits a, HalfBits b);

}  // namespace voltcheck::arith

#endif  // VOLTCHECK_REFERENCE_ARITH_HALF_H_
