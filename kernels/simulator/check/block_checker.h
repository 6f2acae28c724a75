#ifndef VOLTCHECK_KERNELS_SIMULATOR_CHECK_BLOCK_CHECKER_H_
#define VOLTCHECK_KERNELS_SIMULATOR_CHECK_BLOCK_CHECKER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/simulator/check/order_checker.h"
#include "kernels/simulator/check/shared_races.h"
#include "kernels/simulator/exec/observer.h"
#include "kernels/simulator/memory/shadow.h"
#include "kernels/simulator/schedule/launch.h"

namespace voltcheck::simulator {

class FindingList;
struct Allocation;

/// The checkers that watch the memory accesses of one block: uninitialised reads, races in shared
/// memory, overlapping stores, the block's part in those of the whole grid (OrderChecker), and the
/// counters of bank conflicts and sectors.
class BlockChecker final : public AccessObserver {
 public:
  /// Whether the launch asks for anything that this class does.
  static bool Wanted(const LaunchState& launch);

  void Start(const LaunchState& launch, std::uint64_t block, FindingList& findings);

  void OnAccess(ExecContext& context, const Instr& instr, const MemorySite& site, Space space,
                const std::uint64_t* addresses, const LanePointers& pointers) override;
  void OnFence(ExecContext& context, const Instr& instr) override;
  void OnLocalWrite(ExecContext& context, std::uint32_t mask, std::uint64_t offset,
                    std::uint64_t bytes) override;
  /// Lanes of a warp came to a barrier; `waits`: not bar.arrive.
  void OnArrive(std::uint32_t barrier, std::uint32_t warp, std::uint32_t mask, bool waits);
  /// A barrier lets go the warps that wait at it; `whole`: all threads that have not exited do.
  void OnRelease(std::uint32_t barrier, const std::vector<std::uint32_t>& waiting, bool whole);
  const OrderChecker& order() const { return order_; }

  std::uint64_t bank_conflicts() const { return bank_conflicts_; }
  std::uint64_t global_sectors() const { return global_sectors_; }

 private:
  void CheckGlobal(ExecContext& context, const Instr& instr, const MemorySite& site,
                   const std::uint64_t* addresses, bool consecutive);
  void CheckShared(ExecContext& context, const Instr& instr, const MemorySite& site,
                   const std::uint64_t* addresses, bool consecutive);
  void CheckLocal(ExecContext& context, const Instr& instr, const MemorySite& site,
                  const std::uint64_t* addresses);
  void CheckRaces(ExecContext& context, const Instr& instr, const MemorySite& site,
                  const std::uint64_t* addresses, bool consecutive);
  void CheckOverlap(ExecContext& context, const Instr& instr, const MemorySite& site,
                    const std::uint64_t* addresses);
  ByteSet& LocalSet(const ExecContext& context);
  /// `message` makes the text; it is not asked for more than once for an instruction.
  template <typename Message>
  void Report(const ExecContext& context, const Instr& instr, std::uint32_t lane,
              const char* checker, const Message& message, std::uint64_t address);
  std::string ThreadName(std::uint32_t thread) const;

  const LaunchState* launch_ = nullptr;
  std::uint64_t block_ = 0;
  FindingList* findings_ = nullptr;
  ByteSet shared_written_{0};
  struct LocalSpace {
    std::uint64_t lane_bytes = 0;
    ByteSet written{0};
  };
  std::vector<LocalSpace> local_;  ///< by warp
  SharedRaces races_;
  OrderChecker order_;
  std::uint64_t bank_conflicts_ = 0;
  std::uint64_t global_sectors_ = 0;
};

/// Whether all 32 lanes are active and their accesses lie side by side in ascending order.
bool AreConsecutive(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t bytes);
/// False: no two lanes have the same address. True: perhaps some have.
bool MayRepeat(const std::uint64_t* addresses, std::uint32_t mask);
/// Extra cycles of one shared-memory request: 32 banks of 4 bytes; lanes are served 32, 16 or 8 at
/// a time for 4, 8 and 16 bytes each, and different words in one bank take a cycle each.
std::uint64_t BankConflicts(const std::uint64_t* addresses, std::uint32_t mask,
                            std::uint32_t bytes);
/// Distinct 32-byte sectors that one global request touches; an aligned access of a lane lies in
/// one.
std::uint64_t Sectors(const std::uint64_t* addresses, std::uint32_t mask);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_CHECK_BLOCK_CHECKER_H_
