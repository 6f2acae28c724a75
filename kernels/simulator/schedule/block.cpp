#include "kernels/simulator/schedule/block.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace voltcheck::simulator {
namespace {

/// A warp's turn while others of its block could run.
constexpr std::int64_t kWarpTurn = 1 << 16;

}  // namespace

void Block::Start(const LaunchState& launch, std::uint64_t index) {
  launch_ = &launch;
  index_ = index;
  const std::uint64_t shared = launch.shared_bytes();
  shared_.resize(static_cast<std::size_t>((shared + 63) / 64));
  std::memset(static_cast<void*>(shared_.data()), static_cast<int>(kPoison),
              shared_.size() * sizeof(AlignedBytes));
  FillBlockRows();
  barriers_.assign(kBarriers, Barrier{});
  for (Barrier& barrier : barriers_) {
    barrier.arrived.assign(launch.warps(), 0);
  }
  findings_.Clear();
  log_ = BlockLog();
  is_watched_ = BlockChecker::Wanted(launch);
  if (is_watched_) {
    checker_.Start(launch, index, findings_);
  }
  random_ = ScheduleRandom(launch.options.schedule, ~index + (launch.number << 40));
  next_warp_ = 0;
  pauses_ = false;
  warps_.resize(launch.warps());
  finished_.assign(launch.warps(), 0);
  for (std::uint32_t w = 0; w < launch.warps(); ++w) {
    warps_[w].Start(launch, *this, w);
  }
}

void Block::FillBlockRows() {
  rows_.resize((kBlockRowBytes + 63) / 64);
  std::byte* rows = rows_[0].bytes;
  const auto fill32 = [&](BlockRow row, std::uint32_t value) {
    std::uint32_t cells[kWarpSize];
    std::fill(std::begin(cells), std::end(cells), value);
    std::memcpy(rows + RowOffset(row), cells, sizeof(cells));
  };
  const auto fill64 = [&](BlockRow row, std::uint64_t value) {
    std::uint64_t cells[kWarpSize];
    std::fill(std::begin(cells), std::end(cells), value);
    std::memcpy(rows + RowOffset(row), cells, sizeof(cells));
  };
  const LaunchState& launch = *launch_;
  const kernels::Dim3 block = CoordinatesOf(index_, launch.grid);
  constexpr std::uint32_t kProcessors = 80;  // of a V100
  fill64(BlockRow::kDynamicShared64, launch.entry->dynamic_shared_offset);
  fill64(BlockRow::kGridId, launch.number);
  fill32(BlockRow::kDynamicShared32, launch.entry->dynamic_shared_offset);
  fill32(BlockRow::kCtaidX, block.x);
  fill32(BlockRow::kCtaidY, block.y);
  fill32(BlockRow::kCtaidZ, block.z);
  fill32(BlockRow::kNctaidX, launch.grid.x);
  fill32(BlockRow::kNctaidY, launch.grid.y);
  fill32(BlockRow::kNctaidZ, launch.grid.z);
  fill32(BlockRow::kNtidX, launch.block.x);
  fill32(BlockRow::kNtidY, launch.block.y);
  fill32(BlockRow::kNtidZ, launch.block.z);
  fill32(BlockRow::kNwarpid, 64);
  fill32(BlockRow::kSmid, static_cast<std::uint32_t>(index_ % kProcessors));
  fill32(BlockRow::kNsmid, kProcessors);
  fill32(BlockRow::kTotalShared, static_cast<std::uint32_t>(launch.shared_bytes()));
  fill32(BlockRow::kDynamicSharedSize, launch.dynamic_shared_bytes);
}

ExecContext Block::MakeContext() {
  ExecContext context;
  context.program = launch_->program;
  context.numerics = launch_->options.numerics;
  context.global = launch_->global;
  context.shared = {reinterpret_cast<std::byte*>(shared_.data()), launch_->shared_bytes()};
  context.constants = launch_->constants;
  context.params = {const_cast<std::byte*>(launch_->parameters.data()), launch_->parameters.size()};
  context.observer = is_watched_ ? &checker_ : nullptr;
  context.SetBase(RowBase::kConstant, launch_->program->constants.data());
  context.SetBase(RowBase::kBlock, rows_.data());
  return context;
}

Block::Stop Block::Run(const Worker& worker, std::int64_t budget) {
  std::int64_t used = 0;
  std::vector<std::size_t> order(warps_.size());
  while (true) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::rotate(order.begin(),
                order.begin() + static_cast<std::ptrdiff_t>(next_warp_ % warps_.size()),
                order.end());
    std::int64_t turn = kWarpTurn;
    if (launch_->options.schedule != 0) {
      for (std::size_t i = order.size(); i > 1; --i) {
        std::swap(order[i - 1], order[random_.Below(static_cast<std::uint32_t>(i))]);
      }
      turn = 64 + random_.Below(1024);
    }
    bool ran = false;
    bool paused = false;
    bool all_finished = true;
    for (const std::size_t w : order) {
      if (finished_[w] != 0) {
        continue;
      }
      Warp::Stop stop = Warp::Stop::kFinished;
      try {
        stop = warps_[w].Run(worker, turn);
      } catch (const LocatedFault& fault) {
        ReportFault(warps_[w], fault);
        return Stop::kKilled;
      }
      used += warps_[w].used();
      ran |= warps_[w].used() != 0;
      paused |= stop == Warp::Stop::kPaused;
      if (stop == Warp::Stop::kFinished) {
        finished_[w] = 1;
        ran = true;
      } else {
        all_finished = false;
      }
      if (used >= budget && !all_finished) {
        next_warp_ = w + 1;
        return Stop::kSlice;
      }
    }
    if (all_finished) {
      return Stop::kFinished;
    }
    if (ran) {
      continue;
    }
    if (paused) {
      return Stop::kPaused;
    }
    CheckParked();
    bool released = false;
    for (Warp& warp : warps_) {
      released |= warp.ReleaseAllParked();
    }
    if (!released) {
      ReportDeadlock();
      return Stop::kKilled;
    }
  }
}

bool Block::StepLane(const Worker& worker, std::uint32_t warp, std::uint32_t lane, bool through) {
  try {
    warps_[warp].StepLane(worker, lane, through);
  } catch (const LocatedFault& fault) {
    ReportFault(warps_[warp], fault);
    return false;
  }
  return true;
}

void Block::Resume() {
  for (Warp& warp : warps_) {
    warp.Resume();
  }
}

kernels::Counters Block::counters() const {
  kernels::Counters counters;
  for (const Warp& warp : warps_) {
    counters.lane_instructions += warp.lane_instructions;
    counters.warp_instructions += warp.warp_instructions;
    counters.mma += warp.matrix_instructions();
    counters.mma_zero_rows += warp.matrix_zero_rows();
  }
  if (is_watched_) {
    counters.bank_conflicts = checker_.bank_conflicts();
    counters.global_sectors = checker_.global_sectors();
  }
  return counters;
}

BlockResult Block::TakeResult() {
  BlockResult result;
  result.index = index_;
  result.findings = std::move(findings_);
  result.counters = counters();
  result.log = std::move(log_);
  if (is_watched_) {
    result.locks = checker_.order().locks();
  }
  return result;
}

std::uint64_t Block::lane_instructions() const {
  std::uint64_t sum = 0;
  for (const Warp& warp : warps_) {
    sum += warp.lane_instructions;
  }
  return sum;
}

std::uint64_t Block::messages() const {
  std::uint64_t sum = 0;
  for (const Warp& warp : warps_) {
    sum += warp.messages();
  }
  return sum;
}

void Block::ReportFault(const Warp& warp, const LocatedFault& fault) {
  findings_.Add(*launch_, index_, warp.index() * kWarpSize + fault.fault.lane, fault.fault.checker,
                fault.fault.message, fault.pc, fault.fault.address);
}

void Block::ReportBarrier(const Warp& warp, std::uint32_t pc, std::uint32_t lanes,
                          const std::string& what) {
  if (launch_->options.checks.barriers) {
    findings_.Add(*launch_, index_,
                  warp.index() * kWarpSize + static_cast<std::uint32_t>(std::countr_zero(lanes)),
                  "barrier", what, pc, 0);
  }
}

std::uint64_t Block::changes() const {
  std::uint64_t sum = 0;
  for (const Warp& warp : warps_) {
    sum += warp.changes();
  }
  return sum;
}

}  // namespace voltcheck::simulator
