#ifndef VOLTCHECK_VERIFY_MUTATION_PLAN_OPERATORS_H_
#define VOLTCHECK_VERIFY_MUTATION_PLAN_OPERATORS_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/plan.h"

namespace voltcheck::mutation {

/// A fault in how kernels are launched, or in how the checkpoint's tensors reach them. The kernels
/// themselves are right.
struct PlanFault {
  std::string_view op;  ///< "wrong-offsets"
  std::string what;     ///< "W2 reads its rows one entry later"
  /// Plants it; false when this plan has no place for it (no split, no second repack, ...), which
  /// is then left as it was.
  std::function<bool(kernels::Plan&)> plant;
};

struct PlanOperator {
  std::string_view name;
  std::string_view summary;
  void (*find)(std::vector<PlanFault>& faults);
};

/// All of them: launches and buffers first, then data.
std::span<const PlanOperator> PlanOperators();

// Launches and workspaces (plan_operators.cpp).
void WrongOffsets(std::vector<PlanFault>& faults);
void StaleIds(std::vector<PlanFault>& faults);
void WrongSplits(std::vector<PlanFault>& faults);
void UnzeroedWorkspace(std::vector<PlanFault>& faults);
void WrongTactic(std::vector<PlanFault>& faults);
void SwappedStages(std::vector<PlanFault>& faults);
void MissingRepack(std::vector<PlanFault>& faults);
void WrongMetadataForm(std::vector<PlanFault>& faults);
void RouterWeightTwice(std::vector<PlanFault>& faults);
void WrongGroupStride(std::vector<PlanFault>& faults);
// Data (data_operators.cpp).
void ZeroPointOrder(std::vector<PlanFault>& faults);
void ScaleTransposed(std::vector<PlanFault>& faults);
void RaggedLastGroup(std::vector<PlanFault>& faults);

}  // namespace voltcheck::mutation

#endif  // VOLTCHECK_VERIFY_MUTATION_PLAN_OPERATORS_H_
