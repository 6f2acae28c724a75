#ifndef VOLTCHECK_KERNELS_FOREIGN_PLAN_H_
#define VOLTCHECK_KERNELS_FOREIGN_PLAN_H_

#include <span>
#include <string>
#include <vector>

#include "kernels/implementation.h"
#include "kernels/plan.h"

namespace voltcheck::kernels {

/// Neighbouring parts that launches of somebody else's compute together, and which of their tensors
/// they leave in memory: bit 1 << part.
struct ForeignStep {
  unsigned computes = 0;
  unsigned writes = 0;
  Part first() const;
  Part last() const;
};
inline unsigned Bit(Part part) { return 1U << static_cast<unsigned>(part); }

/// What is wrong with a list of steps, as a phrase; empty when nothing is: each computes
/// neighbouring parts, writes the last of them and nothing that it does not compute, and they
/// ascend without overlap.
std::string WhyNoSteps(std::span<const ForeignStep> steps);

/// The plan in which `steps` compute what they name: the built-in plan of the case without the
/// launches, tensors and workspaces that are theirs, always with a permuted copy of the activations
/// and segments (whatever the case's path; a single token is a batch of one). Beside the built-in
/// buffers it has "expert_slot" [E], int32: the place of each expert in the checkpoint's tensors,
/// or -1. The launches of a step are still to be put in by InsertStep.
///
/// Throws Declined (`who`) when `stage=` ends inside a step, and what MakePlan throws.
Plan MakeForeignPlan(const Problem& problem, std::span<const ForeignStep> steps,
                     const std::string& who);

/// The steps that run: those that begin before the stage of the case ends.
bool Runs(const ForeignStep& step, StageSelection stage);

/// Puts launches where the step belongs, behind all launches of earlier parts. Their stage is set.
void InsertStep(const ForeignStep& step, std::vector<PlanLaunch> launches, Plan& plan);
/// Puts launches behind the repacking: what runs once, before the batches.
void InsertPreparation(std::vector<PlanLaunch> launches, Plan& plan);

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_FOREIGN_PLAN_H_
