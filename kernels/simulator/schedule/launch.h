#ifndef VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_LAUNCH_H_
#define VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_LAUNCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/simulator/exec/context.h"
#include "kernels/simulator/program/program.h"
#include "kernels/simulator/simulator.h"

namespace voltcheck::simulator {

class AddressSpace;
class BatchMemory;
class Footprint;
class GlobalRaces;
struct SpinLoops;

/// One kernel launch, the same for all its blocks. Never written while they run.
struct LaunchState {
  const Program* program = nullptr;
  const FunctionCode* entry = nullptr;
  kernels::Dim3 grid;
  kernels::Dim3 block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;
  Window constants;
  AddressSpace* global = nullptr;
  Options options;
  std::uint64_t number = 0;  ///< launches of this device before it
  /// Whether blocks of this kernel that ran side by side read what they also write; remembered from
  /// launch to launch. Saves a second try, never changes a result.
  bool* reads_what_it_writes = nullptr;
  const SpinLoops* spins = nullptr;  ///< of the program
  /// Not null: what every block reads and writes is logged, and the old contents kept here.
  BatchMemory* memory = nullptr;
  /// Not null: contested bytes are known, and one thread runs all blocks to look at them closely.
  GlobalRaces* global_races = nullptr;
  /// Not null: every lane runs alone, and its accesses are recorded here (Interleaving).
  Footprint* footprint = nullptr;

  std::uint32_t threads() const { return static_cast<std::uint32_t>(block.count()); }
  std::uint32_t warps() const { return (threads() + kWarpSize - 1) / kWarpSize; }
  std::uint64_t shared_bytes() const {
    return dynamic_shared_bytes == 0
               ? entry->static_shared_bytes
               : std::uint64_t{entry->dynamic_shared_offset} + dynamic_shared_bytes;
  }
};

/// The coordinates of the i-th block or thread, x fastest.
inline kernels::Dim3 CoordinatesOf(std::uint64_t index, const kernels::Dim3& extent) {
  return {static_cast<std::uint32_t>(index % extent.x),
          static_cast<std::uint32_t>(index / extent.x % extent.y),
          static_cast<std::uint32_t>(index / extent.x / extent.y)};
}

/// A counter-based stream of numbers for schedules: the same on every machine.
class ScheduleRandom {
 public:
  ScheduleRandom() = default;
  ScheduleRandom(std::uint64_t seed, std::uint64_t stream)
      : state_(Mix(seed * 0x9e3779b97f4a7c15u + stream)) {}
  std::uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15u;
    return Mix(state_);
  }
  std::uint32_t Below(std::uint32_t n) { return static_cast<std::uint32_t>((Next() >> 33) % n); }

 private:
  static std::uint64_t Mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_ = 0;
};

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_LAUNCH_H_
