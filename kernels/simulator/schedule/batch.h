#ifndef VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_BATCH_H_
#define VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "kernels/simulator/schedule/block.h"

namespace voltcheck::simulator {

/// Blocks that run side by side at a time. Fixed: it must not depend on the machine.
inline constexpr std::size_t kBatch = 512;

/// Block objects to use again: their rows and shared memory are allocated once.
class BlockPool {
 public:
  std::unique_ptr<Block> Take();
  void Give(std::unique_ptr<Block> block);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> blocks_;
};

/// What became of one block of a batch.
struct BatchEntry {
  Block::Stop stop = Block::Stop::kFinished;  ///< kFinished, kKilled, or kPaused and still to go on
  std::unique_ptr<Block> block;               ///< kPaused
  BlockResult result;                         ///< else
};

/// Runs blocks side by side until each has finished or comes to an instruction with which it may
/// talk to others (global atomics, volatile, acquire, release).
///
/// False when the blocks do not keep apart in memory; then everything is as before and they have to
/// run one after the other. Neither the answer nor any result depends on the number of threads.
bool RunBatch(const LaunchState& launch, std::span<const std::uint64_t> blocks, BlockPool& pool,
              std::vector<BatchEntry>& entries);

/// The same in the calling thread, for blocks of which an earlier run of the launch showed that
/// they keep apart.
void RunApart(const LaunchState& launch, std::span<const std::uint64_t> blocks, BlockPool& pool,
              std::vector<BatchEntry>& entries);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_SCHEDULE_BATCH_H_
