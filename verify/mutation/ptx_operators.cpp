#include "verify/mutation/ptx_operators.h"

#include <array>

namespace voltcheck::mutation {

std::span<const PtxOperator> PtxOperators() {
  static constexpr std::array<PtxOperator, 15> kOperators{{
      {"drop-barrier", "remove a barrier", DropBarrier},
      {"move-barrier", "move a barrier past the nearest shared-memory access", MoveBarrier},
      {"weaken-order", "acquire or release becomes relaxed, a fence goes", WeakenMemoryOrder},
      {"drop-predicate", "a guard is ignored or negated", DropPredicate},
      {"widen-bound", "< becomes <=, >= becomes >", WidenBound},
      {"off-by-one", "a constant or an offset is one element off", OffByOne},
      {"shift-mask", "a shift by one more, a mask with one bit less", ShiftOrMask},
      {"address-register", "an access through the address of the one before", AddressRegister},
      {"thread-index", "another thread, block or lane index", ThreadIndex},
      {"swap-operands", "a - b becomes b - a, A and B of an mma change places", SwapOperands},
      {"rounding", "another rounding mode", ChangeRounding},
      {"split-fma", "a fused multiply-add becomes a multiply and an add", SplitFma},
      {"mma-layout", "row becomes col in an mma", MmaLayout},
      {"skip-step", "a step of the sum is left out", SkipStep},
      {"half-accumulator", "an accumulator goes through fp16", HalfAccumulator},
  }};
  return kOperators;
}

}  // namespace voltcheck::mutation
