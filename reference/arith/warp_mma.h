#ifndef VOLTCHECK_REFERENCE_ARITH_WARP_MMA_H_
#define VOLTCHECK_REFERENCE_ARITH_WARP_MMA_H_

#include <cstdint>

#include "reference/arith/fused_dot_add.h"

namespace voltcheck::arith {

/// One `mma.sync.aligned.m8n8k4.<a>.<b>.<d>.f16.f16.<c>` of a whole warp, straight on register
/// rows.
///
/// A register row is one 32-bit register of all 32 lanes: row[lane]. The fragment layouts are those
/// of PTX (docs/numerics.md): four independent 8x8x4 products, product q on lanes 4q..4q+3 and
/// 16+4q..16+4q+3.
enum class MmaLayout : std::uint8_t { kRow, kCol };

struct WarpMmaForm {
  StepArithmetic arithmetic = StepArithmetic::kV100;
  MmaLayout a = MmaLayout::kRow;
  MmaLayout b = MmaLayout::kCol;
  bool c_half = false;  ///< C is fp16: four rows of packed halves; else eight rows of fp32 bits
  bool d_half = false;  ///< D is fp16. PTX has (c, d) = f32 f32, f16 f16 and f16 f32, no other
};

/// D = A * B + C. `a` and `b` are two rows each, `c` and `d` four (fp16) or eight (fp32). A row of
/// D may be any row of A, B or C: all inputs are read before the first result is written. Rows need
/// no alignment; 32 or 64 bytes is fastest. Results equal FusedDotAdd and SoftwareDotAdd bit for
/// bit.
///
/// An fp32 output whose row of A is all zeros takes a short cut that is exact: D = C, -0 becoming
/// +0. Returns how many of the eight rows of A were zeros in all four products and left out for
/// that; always 0 with fp16 outputs, or where an operand is NaN or infinite.
int WarpMma884(const WarpMmaForm& form, const std::uint32_t* const* a,
               const std::uint32_t* const* b, const std::uint32_t* const* c,
               std::uint32_t* const* d);

/// Two of them in a row on the same accumulators, as code unrolled over k has them: D = A * B + D
/// and then D = A' * B' + D, fp32 throughout. `a` and `b` are four rows each, those of the first
/// instruction in front; the eight rows of `d` are distinct and none of theirs. Bits and count are
/// those of two calls of WarpMma884; it costs less, as D is fetched, checked and stored once.
int WarpMma884Twice(const WarpMmaForm& form, const std::uint32_t* const* a,
                    const std::uint32_t* const* b, std::uint32_t* const* d);

}  // namespace voltcheck::arith

#endif  // VOLTCHECK_REFERENCE_ARITH_WARP_MMA_H_
