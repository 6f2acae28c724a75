#include "kernels/simulator/schedule/grid.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "kernels/simulator/schedule/block.h"

namespace voltcheck::simulator {
namespace {

/// A block's turn while others could run, in units of Warp::used.
constexpr std::int64_t kBlockTurn = 1 << 18;
/// Blocks that take turns; more are admitted when all of them only wait.
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

void Collect(const Block& block, GridResult& result) {
  result.findings.Append(block.findings());
  const kernels::Counters counters = block.counters();
  result.counters.lane_instructions += counters.lane_instructions;
  result.counters.warp_instructions += counters.warp_instructions;
  result.counters.mma += counters.mma;
  result.counters.bank_conflicts += counters.bank_conflicts;
  result.counters.global_sectors += counters.global_sectors;
}

/// One thread, blocks in order, taking turns.
class SerialGrid {
 public:
  explicit SerialGrid(const LaunchState& launch)
      : launch_(launch), site_cache_(launch.program->memory.size(), nullptr) {}

  GridResult Run() {
    const std::vector<std::uint64_t> order = StartOrder(launch_);
    std::size_t next = 0;
    std::size_t limit = kResident;
    int idle_rounds = 0;
    while (true) {
      while (next < order.size() && resident_.size() < limit) {
        resident_.push_back(TakeFree());
        resident_.back()->Start(launch_, order[next++]);
      }
      if (resident_.empty()) {
        return std::move(result_);
      }
      const Round round = RunRound();
      if (round == Round::kStop) {
        return std::move(result_);
      }
      idle_rounds = round == Round::kIdle ? idle_rounds + 1 : 0;
      if (round == Round::kIdle && next < order.size()) {
        limit += kResident;
        idle_rounds = 0;
      } else if (idle_rounds == kIdleRounds) {
        Stop(
            *resident_.front(), "deadlock",
            "spins forever, and so do " + std::to_string(resident_.size() - 1) + " other blocks: ");
        return std::move(result_);
      }
    }
  }

 private:
  enum class Round { kProgress, kIdle, kStop };

  Round RunRound() {
    bool progress = false;
    for (std::size_t i = 0; i < resident_.size();) {
      Block& block = *resident_[i];
      const std::uint64_t messages = block.messages();
      const std::uint64_t changes = block.changes();
      const Block::Stop stop = block.Run(site_cache_.data(), kBlockTurn);
      if (stop == Block::Stop::kKilled) {
        Collect(block, result_);
        CollectOthers(i);
        result_.faulted = true;
        return Round::kStop;
      }
      if (done_instructions_ + block.lane_instructions() > launch_.options.instruction_limit) {
        Stop(block, "limit",
             "stops at " + std::to_string(launch_.options.instruction_limit) +
                 " lane instructions of the launch: ");
        return Round::kStop;
      }
      if (stop == Block::Stop::kFinished) {
        progress = true;
        done_instructions_ += block.lane_instructions();
        Collect(block, result_);
        free_.push_back(std::move(resident_[i]));
        resident_.erase(resident_.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      // A block that mostly exchanges messages without changing anything spins.
      constexpr std::uint64_t kSpinMessages = kBlockTurn / 64 / 2;
      progress |= block.changes() != changes || block.messages() - messages < kSpinMessages;
      ++i;
    }
    return progress ? Round::kProgress : Round::kIdle;
  }

  void Stop(Block& block, const std::string& checker, const std::string& what) {
    block.ReportStuck(checker, what);
    Collect(block, result_);
    for (std::size_t i = 0; i < resident_.size(); ++i) {
      if (resident_[i].get() == &block) {
        CollectOthers(i);
      }
    }
    result_.faulted = true;
  }
  /// Counters and findings of the resident blocks but one.
  void CollectOthers(std::size_t but) {
    for (std::size_t i = 0; i < resident_.size(); ++i) {
      if (i != but) {
        Collect(*resident_[i], result_);
      }
    }
  }
  std::unique_ptr<Block> TakeFree() {
    if (free_.empty()) {
      return std::make_unique<Block>();
    }
    std::unique_ptr<Block> block = std::move(free_.back());
    free_.pop_back();
    return block;
  }

  const LaunchState& launch_;
  std::vector<Allocation*> site_cache_;
  std::vector<std::unique_ptr<Block>> resident_;
  std::vector<std::unique_ptr<Block>> free_;
  std::uint64_t done_instructions_ = 0;
  GridResult result_;
};

}  // namespace

GridResult RunGrid(const LaunchState& launch) { return SerialGrid(launch).Run(); }

}  // namespace voltcheck::simulator
