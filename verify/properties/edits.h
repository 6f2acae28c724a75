#ifndef VOLTCHECK_VERIFY_PROPERTIES_EDITS_H_
#define VOLTCHECK_VERIFY_PROPERTIES_EDITS_H_

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "fixtures/case/problem.h"
#include "fixtures/counter_random.h"
#include "kernels/plan.h"

namespace voltcheck::properties {

/// Random numbers of a property about a case. They follow from the descriptor alone, so that it
/// reproduces the property's choices too, and from a stream that no tensor uses.
fixtures::CounterRandom ChoicesOf(const Case& c);

/// The problem whose token i is token `tokens[i]` of `problem` (any selection, in any order), with
/// its routes, and whose slots lie as the case's layout says.
Problem WithTokens(const Problem& problem, const std::vector<int>& tokens);

/// The problem in which expert e is called rename(e). `rename` must be one to one and keep an
/// expert's rank.
Problem WithExpertsRenamed(const Problem& problem, const std::function<int(int)>& rename);

/// The problem without one of its routes; top_k must be more than 1.
Problem WithoutRoute(const Problem& problem, int route);

/// Lays the slots anew after ids or layout have changed.
void LayOutSlots(Problem& problem);

/// Gives a buffer contents to upload, as an input that must not change or an index that may.
void SetContents(kernels::Plan& plan, std::string_view buffer, std::vector<std::byte> contents,
                 kernels::BufferSpec::Role role);
/// The buffer of that name; it must exist.
kernels::BufferSpec& BufferOf(kernels::Plan& plan, std::string_view buffer);

/// The plan without the launches of `stage`, whose results the caller uploads instead.
void RemoveStage(kernels::Plan& plan, kernels::PlanStage stage);

}  // namespace voltcheck::properties

#endif  // VOLTCHECK_VERIFY_PROPERTIES_EDITS_H_
