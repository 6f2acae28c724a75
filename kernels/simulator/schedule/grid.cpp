#include "kernels/simulator/schedule/grid.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/simulator/schedule/batch.h"
#include "kernels/simulator/schedule/block.h"

namespace voltcheck::simulator {
namespace {

/// A block's turn while others could run, in units of Warp::used.
constexpr std::int64_t kBlockTurn = 1 << 18;
/// Blocks that run side by side at a time. Fixed: it must not depend on the machine.
constexpr std::size_t kBatch = 512;
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

/// Blocks start in batches, which run side by side until they would talk to each other; from there
/// on, and when a batch did not keep apart, they take turns in one thread.
class GridRun {
 public:
  explicit GridRun(const LaunchState& launch)
      : launch_(launch),
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
        Stop(
            *resident_.front(), "deadlock",
            "spins forever, and so do " + std::to_string(resident_.size() - 1) + " other blocks: ");
      }
    }
    for (const std::unique_ptr<Block>& block : resident_) {
      Collect(*block);  // after a fault: what the others had done and found
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
    if (!serial_ && RunBatch(launch_, blocks, pool_, entries)) {
      next_ += blocks.size();
      AdmitBatch(entries);
      return;
    }
    serial_ = true;
    for (const std::uint64_t block : blocks.first(std::min(kResident, blocks.size()))) {
      resident_.push_back(pool_.Take());
      resident_.back()->Start(launch_, block);
      ++next_;
    }
  }

  void AdmitBatch(std::vector<BatchEntry>& entries) {
    for (BatchEntry& entry : entries) {
      if (entry.stop == Block::Stop::kPaused) {
        resident_.push_back(std::move(entry.block));
        continue;
      }
      result_.faulted |= entry.stop == Block::Stop::kKilled;
      Retire(std::move(entry.block));
    }
    if (!result_.faulted && done_instructions_ > launch_.options.instruction_limit) {
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
      const Block::Stop stop = block.Run({site_cache_.data(), nullptr}, kBlockTurn);
      if (stop == Block::Stop::kKilled) {
        result_.faulted = true;
        return true;
      }
      if (done_instructions_ + block.lane_instructions() > launch_.options.instruction_limit) {
        Stop(block, "limit", LimitMessage());
        return true;
      }
      if (stop == Block::Stop::kFinished) {
        progress = true;
        Retire(std::move(resident_[i]));
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
  void Retire(std::unique_ptr<Block> block) {
    Collect(*block);
    done_instructions_ += block->lane_instructions();
    pool_.Give(std::move(block));
  }
  void Collect(const Block& block) {
    result_.findings.Append(block.findings());
    const kernels::Counters counters = block.counters();
    result_.counters.lane_instructions += counters.lane_instructions;
    result_.counters.warp_instructions += counters.warp_instructions;
    result_.counters.mma += counters.mma;
    result_.counters.bank_conflicts += counters.bank_conflicts;
    result_.counters.global_sectors += counters.global_sectors;
  }

  const LaunchState& launch_;
  const std::vector<std::uint64_t> order_;
  std::size_t next_ = 0;  ///< blocks that have started
  bool serial_ = false;
  std::vector<Allocation*> site_cache_;
  BlockPool pool_;
  std::vector<std::unique_ptr<Block>> resident_;
  std::uint64_t done_instructions_ = 0;
  GridResult result_;
};

}  // namespace

GridResult RunGrid(const LaunchState& launch) { return GridRun(launch).Run(); }

}  // namespace voltcheck::simulator
