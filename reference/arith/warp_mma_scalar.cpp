#include "reference/arith/warp_mma_scalar.h"

#include <array>
#include <bit>
#include <cstddef>

#include "reference/arith/step_scalar.h"

namespace voltcheck::arith {
namespace {

using Step4 = std::array<HalfBits, 4>;

/// Element `i` (0..3) of a fragment of packed halves.
HalfBits Element(const std::uint32_t* const* rows, int lane, int i) {
  return static_cast<HalfBits>(rows[i / 2][lane] >> (16 * (i % 2)));
}

/// Row `row` of A (or column `row` of B) of product `quad` over k. `along_k` is true where a lane
/// holds consecutive k (A by rows, B by columns); else a lane holds four rows at one k.
Step4 Gather(const std::uint32_t* const* rows, int quad, int row, bool along_k) {
  Step4 step;
  for (int k = 0; k < 4; ++k) {
    const int lane = 4 * quad + 16 * (row / 4) + (along_k ? row % 4 : k);
    step[static_cast<std::size_t>(k)] = Element(rows, lane, along_k ? k : row % 4);
  }
  return step;
}

struct Place {
  int row, col;
};

Place HalfPlace(int lane, int i) { return {lane % 4 + 4 * (lane / 16), i}; }
Place FloatPlace(int lane, int i) {
  return {(lane & 1) + (i & 2) + 4 * (lane / 16), (i & 4) + (lane & 2) + (i & 1)};
}

}  // namespace

void WarpMma884Scalar(const WarpMmaForm& form, const std::uint32_t* const* a,
                      const std::uint32_t* const* b, const std::uint32_t* const* c,
                      std::uint32_t* const* d) {
  std::uint32_t result[8][32] = {};
  float addend[4][8][8];
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 8; ++i) {
      const Place place = form.c_half ? HalfPlace(lane, i) : FloatPlace(lane, i);
      addend[lane % 16 / 4][place.row][place.col] =
          form.c_half ? HalfToFloat(Element(c, lane, i)) : std::bit_cast<float>(c[i][lane]);
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    const int quad = lane % 16 / 4;
    for (int i = 0; i < 8; ++i) {
      const Place place = form.d_half ? HalfPlace(lane, i) : FloatPlace(lane, i);
      const Step4 row = Gather(a, quad, place.row, form.a == MmaLayout::kRow);
      const Step4 col = Gather(b, quad, place.col, form.b == MmaLayout::kCol);
      const float sum = addend[quad][place.row][place.col];
      if (form.d_half) {
        const HalfBits value = StepToHalfScalar(form.arithmetic, row.data(), col.data(), sum);
        result[i / 2][lane] |= static_cast<std::uint32_t>(value) << (16 * (i % 2));
      } else {
        const float value = StepScalar(form.arithmetic, row.data(), col.data(), sum);
        result[i][lane] = std::bit_cast<std::uint32_t>(value);
      }
    }
  }
  for (int i = 0; i < (form.d_half ? 4 : 8); ++i) {
    for (int lane = 0; lane < 32; ++lane) d[i][lane] = result[i][lane];
  }
}

}  // namespace voltcheck::arith
