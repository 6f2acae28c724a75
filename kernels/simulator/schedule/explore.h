#ifndef VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_EXPLORE_H_
#define VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_EXPLORE_H_

#include "kernels/simulator/schedule/grid.h"
#include "kernels/simulator/schedule/launch.h"
#include "kernels/simulator/simulator.h"

namespace voltcheck::simulator {

/// Runs a launch in every order of its visible operations that can make a difference, up to
/// Options::interleavings of them. Memory is then as the first one leaves it; findings are those of
/// all, each once, and a "nondeterministic" one if two orders differ in global memory or in the
/// kinds of findings.
///
/// Every lane counts as a thread of its own. Orders that differ in operations alone which do not
/// conflict are run once: dynamic partial-order reduction with source sets and sleep sets
/// (Abdulla, Aronis, Jonsson, Sagonas, "Optimal Dynamic Partial Order Reduction", 2014).
///
/// Throws Error (status 2) for a grid with too many threads.
GridResult ExploreGrid(const LaunchState& launch, Exploration& exploration);

/// Runs a launch once, in the order that `steps` gives; behind its end the first thread that can
/// goes on.
GridResult FollowSteps(const LaunchState& launch, const std::vector<ScheduleStep>& steps);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_EXPLORE_H_
