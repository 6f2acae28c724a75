#ifndef VOLTCHECK_REFERENCE_RUNNING_BOUND_H_
#define VOLTCHECK_REFERENCE_RUNNING_BOUND_H_

#include <array>

#include "fixtures/case/case.h"
#include "reference/weight_block.h"

namespace voltcheck::reference {

/// The input of one k-step of four products, as the bound needs it.
struct StepInput {
  std::array<double, 4> value{};        ///< the fp64 oracle's input
  std::array<double, 4> uncertainty{};  ///< how far the kernel's may lie from it
  /// The largest power of two that the tensor core may take as the weight of its exponent: 2^-14
  /// for fp16 subnormals, 0 for zero.
  std::array<double, 4> exponent{};
  int nonzero = 0;  ///< inputs that are not certainly zero
};
StepInput MakeStepInput(const double* value, const double* uncertainty);

/// Four rows of a weight block and the powers of two of their exponents, likewise.
struct StepWeights {
  const double* value[4];
  const double* exponent[4];
};

/// Error bound of the accumulation of one row of a weight block, carried along with the exact
/// partial sums: docs/numerics.md derives every line. All 64 columns at once.
class RunningBound {
 public:
  using Values = std::array<double, kBlockColumns>;

  /// One k-step D = A B + C of `numerics`.
  void Step(Numerics numerics, const StepInput& a, const StepWeights& w);
  /// Adds the split that ends here to those before it, in fp32.
  void EndSplit();

  const Values& value() const { return total_; }          ///< the exact sum over all splits so far
  const Values& error() const { return total_error_; }    ///< accumulation and reduction
  const Values& spread() const { return total_spread_; }  ///< from the input's uncertainty

 private:
  // Of the split under way.
  alignas(64) Values sum_{};
  alignas(64) Values error_{};
  alignas(64) Values spread_{};
  // Of the splits before it.
  alignas(64) Values total_{};
  alignas(64) Values total_error_{};
  alignas(64) Values total_spread_{};
  bool first_split_ = true;
};

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_RUNNING_BOUND_H_
