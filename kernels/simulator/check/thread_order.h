#ifndef VOLTCHECK_KERNELS_SIMULATOR_CHECK_THREAD_ORDER_H_
#define VOLTCHECK_KERNELS_SIMULATOR_CHECK_THREAD_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "kernels/simulator/check/knowledge.h"

namespace voltcheck::simulator {

/// What goes along when one thread's past becomes part of another's.
struct View {
  KnowledgePtr known;   ///< what lies before
  KnowledgePtr fenced;  ///< what lay before the fence.sc operations that lie before
  KnowledgePtr unread;  ///< Message::fenced of strong reads that lie before: known after a fence.sc
  void Join(const View& other);
};

/// What lies at an address for those who read it.
struct Message {
  View wide;            ///< what the release sequence there lets go to any block
  View narrow;          ///< the same for threads of `block`; holds all of `wide`
  KnowledgePtr fenced;  ///< View::fenced of all who wrote here with strong writes
  std::uint64_t block = 0;
};

/// How an access or fence orders, beyond what it moves.
struct AccessOrder {
  bool strong = false;  ///< volatile, relaxed, acquire, release or atomic
  bool acquire = false;
  bool release = false;
  bool block_scope = false;  ///< .cta: means nothing to other blocks
};

/// Causality order between the threads of a grid, after the PTX ISA's memory consistency model
/// ("Release and Acquire Patterns", "Synchronizes", "Causality Order", "Fence-SC"):
///
/// - a thread's accesses lie in program order;
/// - a barrier puts what all arriving threads did before what all waiting threads do next, and
///   bar.warp.sync does so for its members;
/// - a release (st.release, atom.release, or a fence before a strong write) is seen by an acquire
///   (ld.acquire, atom.acquire, or a strong read before a fence) that reads what it wrote, or what
///   a chain of atomics made of that, if the scopes of both reach the other;
/// - a fence.sc (membar and __threadfence are such) lies before another one, if a strong write
///   after the first was read, or overwritten and then read, by a strong read before the second.
///   These two need not be in the fences' threads: barriers may lie between.
class ThreadOrder {
 public:
  explicit ThreadOrder(std::uint64_t threads_of_block) : threads_(threads_of_block) {}
  /// All threads of the block have exited. What they told others stays.
  void Forget(std::uint64_t block);

  /// The tick to note with an access that this thread makes now.
  std::uint32_t Now(GridThread thread);
  /// Whether what `earlier` did at `tick` lies before what `thread` does now.
  bool IsBefore(GridThread earlier, std::uint32_t tick, GridThread thread);

  /// A strong read that finds `message`.
  void Read(GridThread thread, const Message& message, const AccessOrder& order);
  /// A strong write; `message` is what lay at its address, and becomes what lies there then.
  void Write(GridThread thread, const AccessOrder& order, bool read_modify_write, Message& message);
  /// `sequential`: fence.sc, not fence.acq_rel.
  void Fence(std::uint64_t block, std::uint32_t warp, std::uint32_t mask, bool block_scope,
             bool sequential);
  void WarpSync(std::uint64_t block, std::uint32_t warp, std::uint32_t mask);
  void Arrive(std::uint64_t block, std::uint32_t barrier, std::uint32_t warp, std::uint32_t mask,
              bool waits);
  /// The waiting threads go on. `whole`: all threads of the block that have not exited waited.
  void Release(std::uint64_t block, std::uint32_t barrier, bool whole);

 private:
  struct Thread {
    View now;
    View fence_wide;             ///< what its last device-wide fence let go
    View fence_narrow;           ///< the same for its last fence of any scope
    View pending_wide;           ///< read from other blocks, known after a device-wide fence
    View pending_narrow;         ///< read from its own block, known after any fence
    KnowledgePtr last_acquired;  ///< messages that it has taken already: spinning is cheap
    KnowledgePtr last_pending;
    KnowledgePtr last_fenced;
  };
  struct Arrivals {
    View joined;
    std::vector<std::uint32_t> waiting;  ///< threads of the block
  };
  struct BlockState {
    std::uint32_t tick = 1;
    bool told = false;  ///< others may know of this tick: the next access needs a new one
    std::vector<Thread> threads;
    std::map<std::uint32_t, Arrivals> barriers;
  };
  BlockState& Block(GridThread thread) { return BlockAt(BlockOf(thread)); }
  BlockState& BlockAt(std::uint64_t block);
  Thread& At(GridThread thread) { return Block(thread).threads[thread % kThreadsOfBlock]; }
  /// The tick up to which others learn what a thread has done.
  std::uint32_t Tell(BlockState& block) {
    block.told = true;
    return block.tick;
  }
  /// All that a thread knows, and what it did itself.
  View Published(GridThread thread);
  /// Joins what the threads of `mask` know and did into `view`.
  void Collect(std::uint64_t block, std::uint32_t warp, std::uint32_t mask, View& view);

  std::uint64_t threads_;
  std::unordered_map<std::uint64_t, BlockState> blocks_;
  std::vector<std::vector<Thread>> spare_;  ///< of blocks that are over, to be used again
};

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_CHECK_THREAD_ORDER_H_
