#ifndef VOLTCHECK_KERNELS_SIMULATOR_CHECK_ORDER_CHECKER_H_
#define VOLTCHECK_KERNELS_SIMULATOR_CHECK_ORDER_CHECKER_H_

#include <cstdint>
#include <map>
#include <string>

#include "kernels/simulator/check/global_races.h"
#include "kernels/simulator/exec/observer.h"
#include "kernels/simulator/schedule/launch.h"

namespace voltcheck::simulator {

class FindingList;

/// A word of global memory that threads use as a lock or wait on.
struct LockUse {
  std::uint32_t bytes = 0;
  std::uint32_t pc = 0;
  std::uint32_t thread = 0;  ///< of the block: the first that used it
};

/// One block's part in the checkers that concern the order between threads of the whole grid: races
/// in global memory, once it is known which bytes are contested, and the words used as locks.
class OrderChecker {
 public:
  void Start(const LaunchState& launch, std::uint64_t block, FindingList& findings);

  void OnGlobal(ExecContext& context, const Instr& instr, const MemorySite& site,
                const std::uint64_t* addresses, const LanePointers& pointers);
  /// Flags in shared memory order accesses to global memory, too.
  void OnShared(ExecContext& context, const Instr& instr, const MemorySite& site,
                const std::uint64_t* addresses, const LanePointers& pointers);
  void OnFence(const ExecContext& context, const Instr& instr);
  void OnArrive(std::uint32_t barrier, std::uint32_t warp, std::uint32_t mask, bool waits);
  void OnRelease(std::uint32_t barrier, bool whole);

  /// By address.
  const std::map<std::uint64_t, LockUse>& locks() const { return locks_; }

 private:
  void NoteLocks(const ExecContext& context, const Instr& instr, const MemorySite& site,
                 const std::uint64_t* addresses);
  void CheckRaces(ExecContext& context, const Instr& instr, const MemorySite& site,
                  const std::uint64_t* addresses, const LanePointers& pointers);
  void ReportRace(const ExecContext& context, const Instr& instr, std::uint32_t lane,
                  const GlobalRaces::Access& access, const GlobalRaces::Race& race,
                  std::uint64_t address);

  const LaunchState* launch_ = nullptr;
  std::uint64_t block_ = 0;
  FindingList* findings_ = nullptr;
  std::map<std::uint64_t, LockUse> locks_;
  std::uint64_t last_lock_ = 0;
  std::map<std::uint64_t, Message> shared_messages_;  ///< by offset
};

/// Lanes of context.mask whose atom.cas finds what it compares with, so that it writes.
std::uint32_t SwappingLanes(const ExecContext& context, const Instr& instr, const MemorySite& site,
                            const LanePointers& pointers);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_CHECK_ORDER_CHECKER_H_
