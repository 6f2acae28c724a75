#ifndef VOLTCHECK_REFERENCE_ARITH_TABLE_UNIT_H_
#define VOLTCHECK_REFERENCE_ARITH_TABLE_UNIT_H_

#include <string_view>

namespace voltcheck::arith {

/// The approximate special functions of the GPU. PTX gives only an error bound for them; these are models
/// of one measured chip, named by TableUnitChip(). docs/numerics.md says how they were measured.

/// `ex2.approx.ftz.f32`: complete model of the measured chip.
float Ex2ApproxFtz(float x);
/// `rcp.approx.ftz.f32`: complete model of the measured chip.
float RcpApproxFtz(float x);

/// The chip and driver on which the tables were measured, for the record.
std::string_view TableUnitChip();

/// PTX's documented bounds, valid on every chip: |ex2.approx - 2^x| <= 2^-22 * 2^x (2 + 2^-22 ulp class),
/// rcp.approx within 1 ulp.
inline constexpr double kEx2RelativeBound = 0x1p-22;
inline constexpr double kRcpRelativeBound = 0x1p-23;

}  // namespace voltcheck::arith

#endif  // VOLTCHECK_REFERENCE_ARITH_TABLE_UNIT_H_
