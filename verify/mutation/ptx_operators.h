#ifndef VOLTCHECK_VERIFY_MUTATION_PTX_OPERATORS_H_
#define VOLTCHECK_VERIFY_MUTATION_PTX_OPERATORS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verify/mutation/kernel_text.h"

namespace voltcheck::mutation {

/// One fault that an operator can plant into a kernel.
struct PtxFault {
  std::size_t instruction = 0;  ///< index into KernelText::body()
  std::string what;             ///< "setp.lt.s32 -> setp.le.s32"
  std::vector<Edit> edits;
};
using PtxFaults = std::vector<PtxFault>;

/// A kind of fault: a function that appends every place of a kernel where it can be planted, in the
/// order of the text.
struct PtxOperator {
  std::string_view name;
  std::string_view summary;
  void (*find)(const KernelText& kernel, PtxFaults& faults);
};

/// All of them; docs/commands/mutate.md lists them in this order.
std::span<const PtxOperator> PtxOperators();

// Synchronisation and memory order (ptx_sync_operators.cpp).
void DropBarrier(const KernelText& kernel, PtxFaults& faults);
void MoveBarrier(const KernelText& kernel, PtxFaults& faults);
void WeakenMemoryOrder(const KernelText& kernel, PtxFaults& faults);
// Control and indices (ptx_index_operators.cpp).
void DropPredicate(const KernelText& kernel, PtxFaults& faults);
void WidenBound(const KernelText& kernel, PtxFaults& faults);
void OffByOne(const KernelText& kernel, PtxFaults& faults);
void ShiftOrMask(const KernelText& kernel, PtxFaults& faults);
void AddressRegister(const KernelText& kernel, PtxFaults& faults);
void ThreadIndex(const KernelText& kernel, PtxFaults& faults);
// Arithmetic (ptx_arithmetic_operators.cpp).
void SwapOperands(const KernelText& kernel, PtxFaults& faults);
void ChangeRounding(const KernelText& kernel, PtxFaults& faults);
void SplitFma(const KernelText& kernel, PtxFaults& faults);
void MmaLayout(const KernelText& kernel, PtxFaults& faults);
void SkipStep(const KernelText& kernel, PtxFaults& faults);
void HalfAccumulator(const KernelText& kernel, PtxFaults& faults);

}  // namespace voltcheck::mutation

#endif  // VOLTCHECK_VERIFY_MUTATION_PTX_OPERATORS_H_
