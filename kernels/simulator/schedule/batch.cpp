#include "kernels/simulator/schedule/batch.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "kernels/simulator/memory/block_log.h"

namespace voltcheck::simulator {
namespace {

/// A block that has not come to an end after this many warp instructions goes on among the others:
/// it may be waiting for one of them, with plain loads. All of a batch together stay near the limit
/// of the launch, so that loops without an end are noticed soon.
std::int64_t Longest(const LaunchState& launch) {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 18;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 27;
  const std::uint64_t share = launch.options.instruction_limit / (kWarpSize * kBatch);
  return static_cast<std::int64_t>(std::clamp(share, kLeast, kMost));
}

/// Runs one block as far as it keeps to itself.
void RunAlone(const LaunchState& launch, std::uint64_t block, bool logs, BatchMemory* memory,
              std::vector<Allocation*>& cache, BlockPool& pool, BatchEntry& entry) {
  // A fresh cache: the first access of every site must be seen, as it tells which allocations are
  // read.
  cache.assign(launch.program->memory.size(), nullptr);
  entry.block = pool.Take();
  entry.block->Start(launch, block);
  if (memory != nullptr) {
    entry.block->StartLog(*memory, logs);
  }
  entry.block->set_pauses_before_communication(true);
  entry.stop = entry.block->Run({cache.data(), memory == nullptr ? nullptr : &entry.block->log()},
                                Longest(launch));
  if (entry.stop == Block::Stop::kSlice) {
    entry.stop = Block::Stop::kPaused;
  }
  if (entry.stop != Block::Stop::kPaused) {
    entry.result = entry.block->TakeResult();
    pool.Give(std::move(entry.block));
  }
}

void TryBatch(const LaunchState& launch, std::span<const std::uint64_t> blocks, BlockPool& pool,
              BatchMemory& memory, std::vector<BatchEntry>& entries) {
  const bool logs_reads = launch.memory != nullptr || *launch.reads_what_it_writes;
  entries.clear();
  entries.resize(blocks.size());
  if (launch.options.jobs == 1) {  // without TBB: a forked process has its locks, not its threads
    std::vector<Allocation*> cache;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      RunAlone(launch, blocks[i], logs_reads, &memory, cache, pool, entries[i]);
    }
    return;
  }
  tbb::enumerable_thread_specific<std::vector<Allocation*>> caches;
  const auto run = [&](std::size_t i) {
    RunAlone(launch, blocks[i], logs_reads, &memory, caches.local(), pool, entries[i]);
  };
  const int cores = tbb::info::default_concurrency();
  tbb::task_arena arena(launch.options.jobs == 0 ? cores : std::min(launch.options.jobs, cores));
  arena.execute(
      [&] { tbb::parallel_for(std::size_t{0}, blocks.size(), run, tbb::simple_partitioner()); });
}

void GoOnAmongOthers(const LaunchState& launch, std::vector<BatchEntry>& entries) {
  for (BatchEntry& entry : entries) {
    if (entry.block != nullptr) {
      entry.block->log().set_memory(launch.memory);
      entry.block->set_pauses_before_communication(false);
      entry.block->Resume();
    }
  }
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
    BatchMemory memory(*launch.global, launch.memory);
    TryBatch(launch, blocks, pool, memory, entries);
    std::vector<const BlockLog*> logs;
    logs.reserve(entries.size());
    for (const BatchEntry& entry : entries) {
      logs.push_back(entry.block != nullptr ? &entry.block->log() : &entry.result.log);
    }
    const Overlap overlap = FindOverlap(logs, memory);
    if (overlap == Overlap::kApart) {
      GoOnAmongOthers(launch, entries);
      return true;
    }
    memory.Rollback();
    for (BatchEntry& entry : entries) {
      if (entry.block != nullptr) {
        pool.Give(std::move(entry.block));
      }
    }
    entries.clear();
    if (overlap == Overlap::kConflict) {
      return false;
    }
    *launch.reads_what_it_writes = true;
  }
  return false;
}

void RunApart(const LaunchState& launch, std::span<const std::uint64_t> blocks, BlockPool& pool,
              std::vector<BatchEntry>& entries) {
  std::vector<Allocation*> cache;
  entries.clear();
  entries.resize(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    RunAlone(launch, blocks[i], false, nullptr, cache, pool, entries[i]);
  }
  GoOnAmongOthers(launch, entries);
}

}  // namespace voltcheck::simulator
