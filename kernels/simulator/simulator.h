#ifndef VOLTCHECK_KERNELS_SIMULATOR_SIMULATOR_H_
#define VOLTCHECK_KERNELS_SIMULATOR_SIMULATOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

/// A thread of the grid (block * threads of a block + thread) does `count` visible operations.
struct ScheduleStep {
  std::uint32_t thread = 0;
  std::uint32_t count = 1;
};

struct Options {
  Numerics numerics = Numerics::kV100;
  std::uint64_t schedule =
      0;  ///< 0: natural order; others permute CTAs and warps and split lane groups
  /// Not 0: every launch runs in all orders of its visible operations that can differ, at most this
  /// many (schedule/explore.h). For tiny grids.
  std::uint64_t interleavings = 0;
  /// Not empty: the first launch runs in this order of visible operations, each lane on its own.
  std::vector<ScheduleStep> steps;
  Checks checks;
  /// Lane instructions after which a launch is stopped with a "limit" finding.
  std::uint64_t instruction_limit = std::uint64_t{1} << 40;
  /// Trips of a warp through loops that do nothing but compute, one right after the other, after
  /// which it is stopped with a "limit" finding. 0: any number.
  std::uint64_t most_idle_trips = 0;
  /// CTAs that cannot communicate may run on this many threads; 0: all cores. Never changes a bit.
  int jobs = 0;
};

/// What a kernel needs, as far as its PTX says: registers are the assembler's choice.
struct KernelNeeds {
  std::uint32_t static_shared_bytes = 0;
  std::uint64_t local_bytes = 0;           ///< of a thread
  std::uint32_t max_threads = 0;           ///< .maxntid or .reqntid; 0: not given
  std::uint32_t dynamic_shared_begin = 0;  ///< where dynamic shared memory starts in a block's
};

/// A variable of a module in global memory. `bytes` 0: the module has none of that name.
struct ModuleVariable {
  kernels::DeviceAddress address = 0;
  std::uint64_t bytes = 0;
};

/// How far the launches' orders were explored.
struct Exploration {
  std::uint64_t interleavings = 0;     ///< orders that ran to their end
  std::uint64_t pruned = 0;            ///< given up because others had led to the same
  std::uint64_t operations = 0;        ///< visible operations in all of them
  bool complete = true;                ///< no order that can differ is left
  std::vector<std::string> differing;  ///< two schedules with different outcomes, or none
};

/// The simulator as a device, and what only a host program beside it asks for.
class SimulatorDevice : public kernels::Device {
 public:
  /// Memory that host and device see at the same address: managed and pinned memory. Zero, and all
  /// of it counts as written. Freed by Free.
  virtual kernels::DeviceAddress AllocateShared(std::size_t bytes, std::string_view name) = 0;
  /// Makes the host's own memory visible to kernels at its host address, until Free. Throws Error
  /// (status 2) when part of it is the device's already.
  virtual void Adopt(void* host, std::size_t bytes, std::string_view name) = 0;
  /// Copies inside the device; bytes that were never written stay so.
  virtual void CopyOnDevice(kernels::DeviceAddress to, kernels::DeviceAddress from,
                            std::size_t bytes) = 0;
  /// Where the memory that holds `address` begins and how long it is; 0 bytes: there is none.
  virtual ModuleVariable Extent(kernels::DeviceAddress address) const = 0;

  virtual KernelNeeds Needs(kernels::KernelHandle kernel) const = 0;
  virtual ModuleVariable FindVariable(std::uint32_t module, std::string_view name) const = 0;
  /// Frees the module's variables; its kernels must not be launched again.
  virtual void UnloadModule(std::uint32_t module) = 0;

  /// Of all launches so far, if Options::interleavings asks for it.
  virtual const Exploration& exploration() const = 0;
};

/// A device that interprets PTX. Deterministic: (PTX, inputs, Options without jobs) fixes all bits,
/// findings and counters.
std::unique_ptr<SimulatorDevice> MakeSimulator(const Options& options);

/// Reads "steps:3x2,0,5": thread 3 twice, then 0, then 5. Throws Error (status 2), naming `where`.
std::vector<ScheduleStep> ParseSteps(const std::string& where, const std::string& text);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_SIMULATOR_H_
