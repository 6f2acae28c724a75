#ifndef VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_FOOTPRINT_H_
#define VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_FOOTPRINT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/simulator/exec/observer.h"

namespace voltcheck::simulator {

/// What one visible operation of a thread touches that others can see: memory of the grid or of its
/// block as host addresses, and barriers with thread counts.
class Footprint {
 public:
  /// Called before the access happens.
  void Add(const ExecContext& context, const Instr& instr, const MemorySite& site,
           const LanePointers& pointers);
  void AddBarrier(std::uint64_t block, std::uint32_t barrier);
  void Clear() { touches_.clear(); }

  /// Whether the order of the two operations can matter.
  bool Conflicts(const Footprint& other) const;
  /// Called after the accesses have happened: writes that left what was there count as reads. Where
  /// such an operation stands in an order of others, a read could stand.
  void Settle();
  bool Writes() const;
  /// What lies at the touched addresses now, for comparison with what lay there earlier.
  std::vector<std::byte> Contents() const;

 private:
  static constexpr std::uint32_t kNothing = 0;
  struct Touch {
    std::uintptr_t begin = 0;
    std::uint32_t bytes = 0;
    bool memory = true;  ///< no barrier
    bool write = false;
    std::uint32_t commuting = kNothing;  ///< a number for each operation that commutes with itself
    std::array<std::byte, 16> old{};
  };
  static bool Overlap(const Touch& a, const Touch& b);
  std::vector<Touch> touches_;
};

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_FOOTPRINT_H_
