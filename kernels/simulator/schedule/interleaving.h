#ifndef VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_INTERLEAVING_H_
#define VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_INTERLEAVING_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/simulator/check/global_races.h"
#include "kernels/simulator/check/lock_words.h"
#include "kernels/simulator/memory/block_log.h"
#include "kernels/simulator/schedule/block.h"
#include "kernels/simulator/schedule/footprint.h"
#include "kernels/simulator/schedule/grid.h"

namespace voltcheck::simulator {

/// One visible operation: a memory access, or an arrival at a barrier with a count.
struct Event {
  std::uint32_t thread = 0;  ///< of the grid
  Footprint footprint;
  /// By thread: how many of its events lie before this one or are this one. Filled by the explorer.
  std::vector<std::uint32_t> clock;
};

/// A launch whose threads run one at a time, each alone, in an order that the caller chooses
/// operation by operation. Can be started over any number of times.
///
/// A thread in a waiting loop (SpinLoops) that reads what it has read already waits until somebody
/// changes it: reading it once more would lead nowhere else.
class Interleaving {
 public:
  explicit Interleaving(const LaunchState& launch);

  /// Everything as before the launch; all threads stand before their first visible operation.
  void Restart();
  std::uint32_t threads() const { return static_cast<std::uint32_t>(states_.size()); }
  /// Threads that can go on, ascending. Empty: the launch is over, see result().
  std::vector<std::uint32_t> Enabled();
  bool IsWaiting(std::uint32_t thread) const { return states_[thread].waits; }
  /// One visible operation; GoOn does what its thread does behind it.
  Event Step(std::uint32_t thread);
  void GoOn(std::uint32_t thread) {
    if (!over_ && GroupOf(thread) != nullptr) {
      Run(thread, false);
    }
  }
  /// By thread: how many events of others lie before what it does next, through barriers and .sync
  /// instructions and its own program order. The explorer adds what memory orders.
  std::vector<std::vector<std::uint32_t>>& clocks() { return clocks_; }

  GridResult TakeResult();
  /// A number for all that the launch has changed in global memory so far.
  std::uint64_t Digest() const;

 private:
  struct State {
    bool waits = false;
    std::uint32_t pc = kNone;  ///< of its last look in a waiting loop
    Footprint looked;
    std::vector<std::byte> saw;
  };
  struct Where {
    Block* block;
    std::uint32_t warp;
    std::uint32_t lane;
  };
  Where At(std::uint32_t thread) const;
  const LaneGroup* GroupOf(std::uint32_t thread) const;
  std::vector<LaneGroup::State> States() const;
  /// Runs a thread up to its next visible operation, or one that it stands before; then also those
  /// that it let go at a barrier or .sync instruction.
  void Run(std::uint32_t thread, bool through);
  void NoteLook(std::uint32_t thread, std::uint32_t pc, const Footprint& footprint);
  void JoinClocks(std::uint32_t stepped, const std::vector<LaneGroup::State>& before);
  void ReportStuck();

  LaunchState launch_;
  BatchMemory memory_;
  std::unique_ptr<GlobalRaces> races_;
  Footprint recorded_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Allocation*> site_cache_;
  std::vector<State> states_;
  std::vector<std::vector<std::uint32_t>> clocks_;
  bool over_ = false;
  bool faulted_ = false;
  std::uint32_t retries_ = 0;
};

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_INTERLEAVING_H_
