#include "kernels/simulator/schedule/batch.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "kernels/simulator/memory/block_log.h"

namespace voltcheck::simulator {
namespace {

/// A block that has not come to an end after this many instructions goes on among the others: it
/// may be waiting for one of them, with plain loads.
constexpr std::int64_t kLongest = std::int64_t{1} << 27;

std::vector<BlockLog> TryBatch(const LaunchState& launch, std::span<const std::uint64_t> blocks,
                               BlockPool& pool, BatchMemory& memory,
                               std::vector<BatchEntry>& entries) {
  std::vector<BlockLog> logs;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    logs.emplace_back(memory, *launch.reads_what_it_writes);
  }
  entries.clear();
  entries.resize(blocks.size());
  // Fresh caches: the first access of every site must be seen, as it tells which allocations are
  // read.
  tbb::enumerable_thread_specific<std::vector<Allocation*>> caches;
  const auto run = [&](std::size_t i) {
    std::vector<Allocation*>& cache = caches.local();
    cache.assign(launch.program->memory.size(), nullptr);
    BatchEntry& entry = entries[i];
    entry.block = pool.Take();
    entry.block->Start(launch, blocks[i]);
    entry.block->set_pauses_before_communication(true);
    entry.stop = entry.block->Run({cache.data(), &logs[i]}, kLongest);
    if (entry.stop == Block::Stop::kSlice) {
      entry.stop = Block::Stop::kPaused;
    }
  };
  const int cores = tbb::info::default_concurrency();
  tbb::task_arena arena(launch.options.jobs == 0 ? cores : std::min(launch.options.jobs, cores));
  arena.execute(
      [&] { tbb::parallel_for(std::size_t{0}, blocks.size(), run, tbb::simple_partitioner()); });
  return logs;
}

}  // namespace

std::unique_ptr<Block> BlockPool::Take() {
  const std::lock_guard lock(mutex_);
  if (blocks_.empty()) {
    return std::make_unique<Block>();
  }
  std::unique_ptr<Block> block = std::move(blocks_.back());
  blocks_.pop_back();
  return block;
}

void BlockPool::Give(std::unique_ptr<Block> block) {
  const std::lock_guard lock(mutex_);
  blocks_.push_back(std::move(block));
}

bool RunBatch(const LaunchState& launch, std::span<const std::uint64_t> blocks, BlockPool& pool,
              std::vector<BatchEntry>& entries) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    BatchMemory memory(*launch.global);
    const std::vector<BlockLog> logs = TryBatch(launch, blocks, pool, memory, entries);
    const Overlap overlap = FindOverlap(logs, memory);
    if (overlap == Overlap::kApart) {
      for (BatchEntry& entry : entries) {
        entry.block->set_pauses_before_communication(false);
        entry.block->Resume();
      }
      return true;
    }
    memory.Rollback();
    for (BatchEntry& entry : entries) {
      pool.Give(std::move(entry.block));
    }
    entries.clear();
    if (overlap == Overlap::kConflict) {
      return false;
    }
    *launch.reads_what_it_writes = true;
  }
  return false;
}

}  // namespace voltcheck::simulator
