#ifndef VOLTCHECK_VERIFY_PROPERTIES_CHECKS_H_
#define VOLTCHECK_VERIFY_PROPERTIES_CHECKS_H_

#include "fixtures/case/problem.h"
#include "verify/properties/bench.h"

namespace voltcheck::properties {

/// The properties, each as Property::check has it; property.cpp names and states them, and
/// docs/properties.md says why a correct kernel has them.

// invariance.cpp: the order of things changes no bit.
void TokenPermutation(const Problem& problem, Bench& bench);
void SlotLayouts(const Problem& problem, Bench& bench);
void ExpertRelabelling(const Problem& problem, Bench& bench);
void TokenAlone(const Problem& problem, Bench& bench);
void SegmentSplit(const Problem& problem, Bench& bench);
void PathsAgree(const Problem& problem, Bench& bench);
void ColumnLayouts(const Problem& problem, Bench& bench);
void MetadataForms(const Problem& problem, Bench& bench);

// router_weights.cpp: the reduction is linear in them.
void DuplicateSlotsAdd(const Problem& problem, Bench& bench);
void ZeroWeightAddsNothing(const Problem& problem, Bench& bench);
void LinearInWeights(const Problem& problem, Bench& bench);

// scaling.cpp
void ActivationScaling(const Problem& problem, Bench& bench);

// memory.cpp: what may be read and written.
void UnusedExperts(const Problem& problem, Bench& bench);
void UntouchedMemory(const Problem& problem, Bench& bench);
void InputsUnchanged(const Problem& problem, Bench& bench);
void PoisonChangesNothing(const Problem& problem, Bench& bench);

// repetition.cpp: the same launches again.
void Repeats(const Problem& problem, Bench& bench);
void Schedules(const Problem& problem, Bench& bench);
void BackToBack(const Problem& problem, Bench& bench);
void ReplayOtherRoutes(const Problem& problem, Bench& bench);

// nonfinite.cpp: NaN and Inf go where arithmetic takes them.
void NanStaysWithItsToken(const Problem& problem, Bench& bench);
void InfTimesZero(const Problem& problem, Bench& bench);
void ZeroWeightKeepsNan(const Problem& problem, Bench& bench);

// wide_index.cpp: element numbers of 2^31 and more.
void FarRows(const Problem& problem, Bench& bench);
void FarWeightTiles(const Problem& problem, Bench& bench);

}  // namespace voltcheck::properties

#endif  // VOLTCHECK_VERIFY_PROPERTIES_CHECKS_H_
