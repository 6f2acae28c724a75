#ifndef VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_GRID_H_
#define VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_GRID_H_

#include "kernels/device.h"
#include "kernels/simulator/check/findings.h"
#include "kernels/simulator/schedule/launch.h"

namespace voltcheck::simulator {

struct GridResult {
  FindingList findings;
  kernels::Counters counters;
  bool faulted = false;  ///< stopped before all blocks had finished
};

/// Runs all blocks of a launch. The result does not depend on the number of threads.
GridResult RunGrid(const LaunchState& launch);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_GRID_H_
