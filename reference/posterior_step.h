#ifndef VOLTCHECK_REFERENCE_POSTERIOR_STEP_H_
#define VOLTCHECK_REFERENCE_POSTERIOR_STEP_H_

#include <array>
#include <cstddef>

#include "reference/arith/fused_dot_add.h"
#include "reference/weight_block.h"

namespace voltcheck::reference {

template <typename T>
using PerColumn = std::array<T, kBlockColumns>;

/// The kernel's accumulators after each step, as the order-faithful model has them, the exact
/// values of the same sums, and how far the two can be apart: one row through a block of columns.
struct Trace {
  alignas(64) PerColumn<float> accumulator{};
  alignas(64) PerColumn<double> exact{};
  alignas(64) PerColumn<double> error{};
};

/// Four rows of a weight block in the forms that a step needs.
struct PosteriorWeights {
  alignas(64) std::array<arith::HalfBits, std::size_t{kBlockColumns} * 4> halves;  ///< [column, 4]
  alignas(64) std::array<PerColumn<double>, 4> value;
  /// 2^e as the tensor core takes it; 0 for zero.
  alignas(64) std::array<PerColumn<double>, 4> exponent;
};

/// Rows [4 step, 4 step + 4) of `block`.
PosteriorWeights MakePosteriorWeights(const WeightBlock<float>& block, int step);

/// One k-step of four products: the model's accumulators, the exact sums and the bound of their
/// distance (docs/numerics.md, "The a-posteriori bound"). `a` is [4].
void PosteriorStep(arith::StepArithmetic arithmetic, const arith::HalfBits* a,
                   const PosteriorWeights& w, Trace& trace);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_POSTERIOR_STEP_H_
