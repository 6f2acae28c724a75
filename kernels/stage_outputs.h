#ifndef VOLTCHECK_KERNELS_STAGE_OUTPUTS_H_
#define VOLTCHECK_KERNELS_STAGE_OUTPUTS_H_

#include "kernels/plan_memory.h"
#include "kernels/stage_runner.h"

namespace voltcheck::kernels {

/// Fills in what the plan's buffers hold: indices, stages, the number of computed rows.
void DownloadOutputs(const PlanMemory& memory, const Plan& plan, const Shape& shape,
                     ObservedStage& observed);

/// One sentence for each tensor of `now` whose bits differ from those of `first`.
std::vector<std::string> DifferencesBetween(const ObservedStage& first, const ObservedStage& now,
                                            const std::string& name_of_first,
                                            const std::string& name_of_now);

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_STAGE_OUTPUTS_H_
