#include "kernels/simulator/schedule/grid.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/simulator/check/global_races.h"
#include "kernels/simulator/check/lock_words.h"
#include "kernels/simulator/memory/block_log.h"
#include "kernels/simulator/memory/launch_touches.h"
#include "kernels/simulator/schedule/batch.h"
#include "kernels/simulator/schedule/block.h"

namespace voltcheck::simulator {
namespace {

/// A block's turn while others could run, in units of Warp::used.
constexpr std::int64_t kBlockTurn = 1 << 18;
/// Blocks that take turns when they cannot; more are admitted when all of them only wait.
constexpr std::size_t kResident = 32;
/// Rounds in which nobody finishes or changes memory before the launch counts as stuck.
constexpr int kIdleRounds = 16;

/// The blocks in the order in which they start.
std::vector<std::uint64_t> StartOrder(const LaunchState& launch) {
  std::vector<std::uint64_t> order(launch.grid.count());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  if (launch.options.schedule != 0) {
    ScheduleRandom random(launch.options.schedule, launch.number);
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[random.Next() % i]);
    }
  }
  return order;
}

/// What a first run of a launch leaves for a closer look.
struct Trail {
  std::vector<bool> apart;  ///< by admission: whether its blocks ran side by side
  LaunchTouches touches;
  LockWords locks;
};

/// Blocks start in batches, which run side by side until they would talk to each other; from there
/// on, and when a batch did not keep apart, they take turns in one thread.
class GridRun {
 public:
  /// Writes the trail if the launch keeps memory, and follows it if it looks for global races.
  GridRun(const LaunchState& launch, Trail& trail)
      : launch_(launch),
        trail_(trail),
        order_(StartOrder(launch)),
        site_cache_(launch.program->memory.size(), nullptr) {}

  GridResult Run() {
    int idle_rounds = 0;
    while (!result_.faulted) {
      if (resident_.empty()) {
        if (next_ == order_.size()) {
          break;
        }
        Admit();
        continue;
      }
      const bool progress = RunRound();
      idle_rounds = progress ? 0 : idle_rounds + 1;
      if (idle_rounds == 0 || result_.faulted) {
        continue;
      }
      if (next_ < order_.size()) {
        Admit();
        idle_rounds = 0;
      } else if (idle_rounds == kIdleRounds) {
        StopSpinning();
      }
    }
    for (const std::unique_ptr<Block>& block : resident_) {
      Collect(block->TakeResult());  // after a fault: what the others had done and found
    }
    return std::move(result_);
  }

 private:
  /// Starts more blocks.
  void Admit() {
    const std::size_t wanted = serial_ ? kResident : kBatch;
    const std::span<const std::uint64_t> blocks =
        std::span(order_).subspan(next_, std::min(wanted, order_.size() - next_));
    std::vector<BatchEntry> entries;
    if (!serial_ && RunSideBySide(blocks, entries)) {
      next_ += blocks.size();
      AdmitBatch(entries);
      return;
    }
    serial_ = true;
    for (const std::uint64_t block : blocks.first(std::min(kResident, blocks.size()))) {
      resident_.push_back(pool_.Take());
      resident_.back()->Start(launch_, block);
      if (launch_.memory != nullptr) {
        resident_.back()->StartLog(*launch_.memory, true);
      }
      ++next_;
    }
  }

  bool RunSideBySide(std::span<const std::uint64_t> blocks, std::vector<BatchEntry>& entries) {
    if (launch_.global_races == nullptr) {
      trail_.apart.push_back(RunBatch(launch_, blocks, pool_, entries));
      return trail_.apart.back();
    }
    if (!trail_.apart[admissions_++]) {
      return false;
    }
    RunApart(launch_, blocks, pool_, entries);
    return true;
  }

  void AdmitBatch(std::vector<BatchEntry>& entries) {
    for (BatchEntry& entry : entries) {
      if (entry.stop == Block::Stop::kPaused) {
        resident_instructions_ += entry.block->lane_instructions();
        resident_.push_back(std::move(entry.block));
        continue;
      }
      result_.faulted |= entry.stop == Block::Stop::kKilled;
      Retire(entry.result);
    }
    if (!result_.faulted && resident_.empty() &&
        done_instructions_ > launch_.options.instruction_limit) {
      result_.findings.Add(launch_, order_[next_ - 1], 0, "limit", LimitMessage(), kNone, 0);
      result_.faulted = true;
    }
  }

  /// One turn for every resident block. False when all of them only spun.
  bool RunRound() {
    bool progress = false;
    for (std::size_t i = 0; i < resident_.size();) {
      Block& block = *resident_[i];
      const std::uint64_t messages = block.messages();
      const std::uint64_t changes = block.changes();
      resident_instructions_ -= block.lane_instructions();
      const Block::Stop stop = block.Run(
          {site_cache_.data(), launch_.memory == nullptr ? nullptr : &block.log()}, kBlockTurn);
      if (stop == Block::Stop::kKilled) {
        result_.faulted = true;
        return true;
      }
      resident_instructions_ += block.lane_instructions();
      if (done_instructions_ + resident_instructions_ > launch_.options.instruction_limit) {
        Stop(block, "limit", LimitMessage());
        return true;
      }
      if (stop == Block::Stop::kFinished) {
        progress = true;
        resident_instructions_ -= block.lane_instructions();
        Retire(resident_[i]->TakeResult());
        pool_.Give(std::move(resident_[i]));
        resident_.erase(resident_.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      // A block that mostly exchanges messages without changing anything spins.
      constexpr std::uint64_t kSpinMessages = kBlockTurn / 64 / 2;
      progress |= block.changes() != changes || block.messages() - messages < kSpinMessages;
      ++i;
    }
    return progress;
  }

  std::string LimitMessage() const {
    return "stops at " + std::to_string(launch_.options.instruction_limit) +
           " lane instructions of the launch: ";
  }
  void Stop(Block& block, const std::string& checker, const std::string& what) {
    block.ReportStuck(checker, what);
    result_.faulted = true;
  }
  /// All blocks that have not finished wait for something that nobody does.
  void StopSpinning() {
    constexpr std::size_t kMostReported = 32;
    for (std::size_t i = 0; i < std::min(resident_.size(), kMostReported); ++i) {
      Stop(*resident_[i], "deadlock",
           "spins forever, and so do " + std::to_string(resident_.size() - 1) + " other blocks: ");
    }
  }
  void Retire(const BlockResult& block) {
    Collect(block);
    done_instructions_ += block.counters.lane_instructions;
    if (launch_.global_races != nullptr) {
      launch_.global_races->order().Forget(block.index);
    }
  }
  void Collect(const BlockResult& block) {
    if (launch_.memory != nullptr) {
      trail_.touches.Add(block.log);
      trail_.locks.Add(block);
    }
    result_.findings.Append(block.findings);
    result_.counters += block.counters;
  }

  const LaunchState& launch_;
  Trail& trail_;
  const std::vector<std::uint64_t> order_;
  std::size_t next_ = 0;        ///< blocks that have started
  std::size_t admissions_ = 0;  ///< of blocks side by side
  bool serial_ = false;
  std::vector<Allocation*> site_cache_;
  BlockPool pool_;
  std::vector<std::unique_ptr<Block>> resident_;
  std::uint64_t done_instructions_ = 0;      ///< lane instructions of blocks that have ended
  std::uint64_t resident_instructions_ = 0;  ///< and of those that take turns
  GridResult result_;
};

/// The smallest access of the program to global memory: every access is a multiple of it.
std::uint32_t GlobalGranule(const Program& program) {
  std::uint32_t granule = 16;
  for (const MemorySite& site : program.memory) {
    if (site.space == Space::kGlobal || site.space == Space::kGeneric) {
      granule = std::min<std::uint32_t>(granule, std::uint32_t{site.bytes} * site.vector);
    }
  }
  return granule;
}

}  // namespace

GridResult RunGrid(const LaunchState& launch) {
  Trail trail;
  const Checks& checks = launch.options.checks;
  if (!checks.global_races && !checks.leaked_locks) {
    return GridRun(launch, trail).Run();
  }
  BatchMemory memory(*launch.global);
  LaunchState logged = launch;
  logged.memory = &memory;
  GridResult result = GridRun(logged, trail).Run();
  ContestedBytes contested = trail.touches.TakeContested();
  if (checks.global_races && !contested.empty()) {
    // Once more, the very same way, with an eye on the bytes that two threads touch.
    GlobalRaces races(std::move(contested), GlobalGranule(*launch.program), launch.threads());
    LaunchState watched = launch;
    watched.global_races = &races;
    if (result.faulted) {  // who wrote last belongs to what is said of a deadlock
      memory.Rollback();
      result = GridRun(watched, trail).Run();
    } else {  // the rest has been seen
      memory.RollbackContents();
      watched.options.checks.uninitialised = false;
      watched.options.checks.shared_races = false;
      watched.options.checks.counters = false;
      watched.options.checks.leaked_locks = false;
      result.findings.AppendNew(GridRun(watched, trail).Run().findings);
    }
  }
  if (checks.leaked_locks && !result.faulted) {
    trail.locks.Report(launch, memory, result.findings);
  }
  return result;
}

}  // namespace voltcheck::simulator
