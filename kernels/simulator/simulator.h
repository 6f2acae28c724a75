#ifndef VOLTCHECK_KERNELS_SIMULATOR_SIMULATOR_H_
#define VOLTCHECK_KERNELS_SIMULATOR_SIMULATOR_H_

#include <cstdint>
#include <memory>

#include "fixtures/case/case.h"
#include "kernels/device.h"

namespace voltcheck::simulator {

/// Which checkers run. Bounds and alignment of every access are always checked; a miss is always a
/// fault.
struct Checks {
  bool uninitialised = false;
  bool shared_races = false;
  bool global_races = false;
  bool barriers = true;
  bool leaked_locks = false;
  bool counters = false;  ///< bank conflicts and sectors
  static Checks All() { return {true, true, true, true, true, true}; }
};

struct Options {
  Numerics numerics = Numerics::kV100;
  std::uint64_t schedule =
      0;  ///< 0: natural order; others permute CTAs and warps and split lane groups
  Checks checks;
  /// Lane instructions after which a launch is stopped with a "limit" finding.
  std::uint64_t instruction_limit = std::uint64_t{1} << 40;
  /// CTAs that cannot communicate may run on this many threads; 0: all cores. Never changes a bit.
  int jobs = 0;
};

/// A device that interprets PTX. Deterministic: (PTX, inputs, Options without jobs) fixes all bits,
/// findings and counters.
std::unique_ptr<kernels::Device> MakeSimulator(const Options& options);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_SIMULATOR_H_
