#ifndef VOLTCHECK_REFERENCE_ARITH_TABLE_UNIT_H_
#define VOLTCHECK_REFERENCE_ARITH_TABLE_UNIT_H_

#include <string_view>

namespace voltcheck::arith {

/// The approximate special functions of the GPU. PTX gives only an error bound for them; these are
/// models of one measured chip, named by TableUnitChip(), and equal it for each of the 2^32 inputs
/// (fp64: for each of the 2^32 high words). docs/numerics.md says how that was seen. NaN in gives
/// 0x7FFFFFFF unless said otherwise.

/// `ex2.approx.ftz.f32`. Subnormals and zeros give 1, x >= 128 gives Inf, results below 2^-126 and
/// -Inf give +0.
float Ex2ApproxFtz(float x);
/// `rcp.approx.ftz.f32`. Subnormals and zeros give Inf of their sign, results below 2^-126 and
/// infinities zero of their sign.
float RcpApproxFtz(float x);
/// `sqrt.approx.ftz.f32`. Subnormals and zeros give zero of their sign, other negative numbers NaN.
float SqrtApproxFtz(float x);
/// `rsqrt.approx.ftz.f32`. Subnormals and zeros give Inf of their sign, other negative numbers NaN.
float RsqrtApproxFtz(float x);
/// `lg2.approx.ftz.f32`. Subnormals and zeros of either sign give -Inf, other negative numbers NaN.
float Lg2ApproxFtz(float x);

/// `sin.approx.f32` and `cos.approx.f32`, with `.ftz` or without. The unit takes turns, so the
/// assembler multiplies by 1 / (2 pi) first, toward zero (SM70 machine code of ptxas 11.8).
/// Infinities give NaN.
float SinApprox(float x);
float CosApprox(float x);

/// The forms without `.ftz`, which the assembler builds out of the same unit (read from the SM70
/// machine code of ptxas 11.8): `ex2.approx.f32`: below -126 the square of the unit's result for x
/// / 2, so results may be subnormal.
float Ex2Approx(float x);
/// `rcp.approx.f32`: s * unit(s * x) with s = 2^24 for |x| < 2^-126, 1/4 for |x| > 2^126, else 1.
float RcpApprox(float x);
/// `sqrt.approx.f32`, `rsqrt.approx.f32`, `lg2.approx.f32`: for |x| < 2^-126 the unit's result for
/// 2^24 x, times 2^-12, times 2^12, less 24.
float SqrtApprox(float x);
float RsqrtApprox(float x);
float Lg2Approx(float x);

/// `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64`: the high word of the result out of the high
/// word of x, the low word is zero. Subnormals count as zeros.
double RcpApproxFtz(double x);
double RsqrtApproxFtz(double x);
/// `rsqrt.approx.f64`: the unit and one step of refinement (SM70 machine code of ptxas 11.8). NaN
/// passes, made quiet.
double RsqrtApprox(double x);

/// The chip and driver on which the tables were measured, for the record.
std::string_view TableUnitChip();

/// The manual's bounds (PTX ISA), which stand beside the measured model in a budget, since the
/// tables of other chips are not known here. Relative errors, where the result is normal:
inline constexpr double kEx2RelativeBound = 0x1p-22;
inline constexpr double kRcpRelativeBound = 0x1p-23;
inline constexpr double kSqrtRelativeBound = 0x1p-23;
inline constexpr double kRsqrtRelativeBound = 0x1.125fcp-23;  ///< 2^-22.9
/// lg2: absolute for x in (1/2, 2), relative outside.
inline constexpr double kLg2Bound = 0x1p-22;
/// sin and cos: absolute, for |x| <= pi (CUDA C++ Programming Guide, `__sinf` and `__cosf`).
inline constexpr double kSinAbsoluteBound = 0x1.815p-22;  ///< 2^-21.41
inline constexpr double kCosAbsoluteBound = 0x1.c0dp-22;  ///< 2^-21.19

}  // namespace voltcheck::arith

#endif  // VOLTCHECK_REFERENCE_ARITH_TABLE_UNIT_H_
