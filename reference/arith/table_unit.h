#ifndef VOLTCHECK_REFERENCE_ARITH_TABLE_UNIT_H_
#define VOLTCHECK_REFERENCE_ARITH_TABLE_UNIT_H_

#include <string_view>

namespace voltcheck::arith {

/// The approximate special functions of the GPU. PTX gives only an error bound for them; these are
/// models of one measured chip, named by TableUnitChip(), and equal it for each of the 2^32 inputs.
/// docs/numerics.md says how that was seen. NaN in gives 0x7FFFFFFF.

/// `ex2.approx.ftz.f32`. Subnormals and zeros give 1, x >= 128 gives Inf, results below 2^-126 and
/// -Inf give +0.
float Ex2ApproxFtz(float x);
/// `rcp.approx.ftz.f32`. Subnormals and zeros give Inf of their sign, results below 2^-126 and
/// infinities zero of their sign.
float RcpApproxFtz(float x);

/// The forms without `.ftz`, which the assembler builds out of the same unit (read from the SM70
/// machine code of ptxas 11.8): `ex2.approx.f32`: below -126 the square of the unit's result for x
/// / 2, so results may be subnormal.
float Ex2Approx(float x);
/// `rcp.approx.f32`: s * unit(s * x) with s = 2^24 for |x| < 2^-126, 1/4 for |x| > 2^126, else 1.
float RcpApprox(float x);

/// The chip and driver on which the tables were measured, for the record.
std::string_view TableUnitChip();

/// Bounds on the relative error that stand beside the measured model in a budget, since the tables
/// of other chips are not known here. They hold where the result is normal.
inline constexpr double kEx2RelativeBound = 0x1p-22;
inline constexpr double kRcpRelativeBound = 0x1p-23;

}  // namespace voltcheck::arith

#endif  // VOLTCHECK_REFERENCE_ARITH_TABLE_UNIT_H_
