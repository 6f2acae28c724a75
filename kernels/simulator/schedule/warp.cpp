// The run loop of a warp.
#include "kernels/simulator/schedule/warp.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/simulator/schedule/block.h"

namespace voltcheck::simulator {
namespace {

/// What a volatile access, atomic or sleep counts as, so that spinning uses up a slice quickly.
constexpr std::int64_t kMessageCost = 64;
/// A group's turn while other groups of the warp could run, too.
constexpr std::int64_t kGroupTurn = 1024;
/// More groups than this are not split further by the schedule.
constexpr std::size_t kMostSplits = 6;

template <typename Row, typename F>
void FillRow(std::byte* rows, Row row, const F& value) {
  std::uint32_t cells[kWarpSize];
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    cells[lane] = value(lane);
  }
  std::memcpy(rows + RowOffset(row), cells, sizeof(cells));
}

std::uint64_t CountLanes(std::uint32_t mask) {
  return mask == kFullMask ? kWarpSize : static_cast<std::uint64_t>(std::popcount(mask));
}

/// How many of the instructions of a run come before its first .sync instruction.
std::int32_t WithoutSync(const Instr& instr) {
  std::int32_t count = 1;
  while (count < instr.run && !(&instr)[count].is_control()) {
    ++count;
  }
  return count;
}

std::size_t Chunks(std::uint64_t bytes) {
  return static_cast<std::size_t>((bytes + sizeof(AlignedBytes) - 1) / sizeof(AlignedBytes));
}

}  // namespace

void Warp::Start(const LaunchState& launch, Block& block, std::uint32_t index) {
  launch_ = &launch;
  program_ = launch.program;
  block_ = &block;
  index_ = index;
  const std::uint32_t first_thread = index * kWarpSize;
  const std::uint32_t count = std::min(kWarpSize, launch.threads() - first_thread);
  alive_ = count == kWarpSize ? kFullMask : (1u << count) - 1;
  first_lanes_ = alive_;

  registers_.assign(Chunks(launch.entry->frame_bytes), AlignedBytes{});
  scratch_.resize(Chunks(6 * kRow64Bytes));
  if (rows_.empty() || rows_block_ != launch.block || rows_index_ != index) {
    rows_block_ = launch.block;
    rows_index_ = index;
    FillRows();
  }

  context_ = block.MakeContext();
  context_.warp = index;
  context_.SetBase(RowBase::kWarp, rows_.data());
  context_.local = nullptr;
  context_.local_bytes = 0;
  context_.local_stride = 0;
  local_.clear();
  EnsureLocal(launch.entry->local_bytes);

  LaneGroup group;
  group.mask = alive_;
  group.pc = launch.entry->begin;
  group.function = static_cast<std::uint32_t>(launch.entry - program_->functions.data());
  groups_.assign(1, group);
  if (launch.footprint != nullptr) {
    SplitIntoLanes();
  }
  records_.clear();
  turn_ = 0;
  used_ = 0;
  work_ = 0;
  lane_instructions = 0;
  warp_instructions = 0;
  random_ =
      ScheduleRandom(launch.options.schedule, block.index() * 1024 + index + (launch.number << 40));
}

void Warp::FillRows() {
  rows_.resize(Chunks(kWarpRowBytes));
  std::byte* rows = rows_[0].bytes;
  const auto thread = [&](std::uint32_t lane) {
    return CoordinatesOf(index_ * kWarpSize + lane, launch_->block);
  };
  FillRow(rows, WarpRow::kTidX, [&](std::uint32_t lane) { return thread(lane).x; });
  FillRow(rows, WarpRow::kTidY, [&](std::uint32_t lane) { return thread(lane).y; });
  FillRow(rows, WarpRow::kTidZ, [&](std::uint32_t lane) { return thread(lane).z; });
  FillRow(rows, WarpRow::kLaneid, [](std::uint32_t lane) { return lane; });
  FillRow(rows, WarpRow::kWarpid, [&](std::uint32_t) { return index_; });
  FillRow(rows, WarpRow::kLanemaskEq, [](std::uint32_t lane) { return 1u << lane; });
  FillRow(rows, WarpRow::kLanemaskLe, [](std::uint32_t lane) { return (2u << lane) - 1; });
  FillRow(rows, WarpRow::kLanemaskLt, [](std::uint32_t lane) { return (1u << lane) - 1; });
  FillRow(rows, WarpRow::kLanemaskGe, [](std::uint32_t lane) { return ~((1u << lane) - 1); });
  FillRow(rows, WarpRow::kLanemaskGt, [](std::uint32_t lane) { return ~((2u << lane) - 1); });
}

std::byte* Warp::FrameOf(std::uint32_t depth) {
  std::uint64_t offset = 0;
  if (depth > 0) {
    offset = launch_->entry->frame_bytes + std::uint64_t{depth - 1} * program_->call_frame_bytes;
  }
  return reinterpret_cast<std::byte*>(registers_.data()) + offset;
}

void Warp::EnsureRegisters(std::uint32_t depth) {
  const std::size_t chunks =
      Chunks(launch_->entry->frame_bytes) + std::size_t{depth} * Chunks(program_->call_frame_bytes);
  if (registers_.size() < chunks) {
    registers_.resize(chunks);
  }
}

void Warp::EnsureLocal(std::uint64_t bytes) {
  if (bytes > context_.local_stride) {
    const std::uint64_t stride =
        std::max<std::uint64_t>((bytes + 15) / 16 * 16, context_.local_stride * 2);
    std::vector<std::byte> larger(stride * kWarpSize, Block::kPoison);
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
      std::copy_n(local_.begin() + static_cast<std::ptrdiff_t>(lane * context_.local_stride),
                  context_.local_stride,
                  larger.begin() + static_cast<std::ptrdiff_t>(lane * stride));
    }
    local_ = std::move(larger);
    context_.local = local_.data();
    context_.local_stride = stride;
  }
  context_.local_bytes = std::max(context_.local_bytes, bytes);
}

void Warp::Bind(const LaneGroup& group) {
  context_.SetBase(RowBase::kFrame, FrameOf(group.depth()));
}

std::size_t Warp::NextReady() {
  const std::size_t count = groups_.size();
  if (count == 0) {
    return count;
  }
  if (launch_->options.schedule != 0) {
    turn_ = random_.Below(static_cast<std::uint32_t>(count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t candidate = (turn_ + i) % count;
    if (groups_[candidate].state == LaneGroup::State::kReady) {
      turn_ = candidate + 1;
      return candidate;
    }
  }
  return count;
}

Warp::Stop Warp::Run(const Worker& worker, std::int64_t budget) {
  context_.site_cache = worker.site_cache;
  context_.log = worker.log;
  used_ = 0;
  while (true) {
    if (alive_ == 0) {
      return Stop::kFinished;
    }
    const std::size_t next = NextReady();
    if (next == groups_.size()) {
      if (ReleaseForSync()) {
        continue;
      }
      const bool paused = std::any_of(groups_.begin(), groups_.end(), [](const LaneGroup& g) {
        return g.state == LaneGroup::State::kPaused;
      });
      return paused ? Stop::kPaused : Stop::kBlocked;
    }
    if (used_ >= budget) {
      return Stop::kSlice;
    }
    std::int64_t limit = budget;
    const bool alone = groups_.size() == 1 && groups_[0].mask == alive_;
    if (!alone) {
      const std::int64_t turn = launch_->options.schedule == 0 ? kGroupTurn : 1 + random_.Below(64);
      limit = std::min(budget, used_ + turn);
    }
    RunGroup(next, limit);
    if (!alone) {
      ReleaseSpunOut();
    }
  }
}

void Warp::RunGroup(std::size_t index, std::int64_t limit) {
  const bool seeded = launch_->options.schedule != 0;
  Bind(groups_[index]);
  while (used_ < limit) {
    LaneGroup& group = groups_[index];
    if (group.pc == group.reconvergence && records_[group.record].depth == group.depth()) {
      Park(index);
      return;
    }
    const Instr& instr = program_->code[group.pc];
    const std::uint64_t messages = context_.messages;
    if (!instr.is_control()) {
      const std::int32_t most = seeded ? WithoutSync(instr) : instr.run;
      const std::int32_t chosen = seeded ? ChooseSplit(group, most) : most;
      const std::int32_t count = ExecuteRun(&instr, chosen, group.mask);
      group.pc += static_cast<std::uint32_t>(count);
      used_ += count + kMessageCost * static_cast<std::int64_t>(context_.messages - messages);
      if (chosen != most) {
        SplitRandomly(index);
        return;
      }
      continue;
    }
    const Control& control = program_->control[instr.control()];
    if (control.kind == ControlKind::kBranch) {
      const std::uint32_t taken = ActiveLanes(instr, group.mask);
      if (taken == 0 || taken == group.mask) {  // by far most branches; Step has the others
        const std::uint32_t pc = group.pc;
        group.pc = taken == 0 ? pc + 1 : control.target;
        CountControl(group.mask);
        if (control.backward && taken != 0) {
          CountTrip(group, control, pc);
        }
        continue;
      }
    }
    if (seeded && control.kind == ControlKind::kOrdered && MaySplit(group) &&
        random_.Below(8) == 0) {
      SplitRandomly(index);
      return;
    }
    CountControl(group.mask);
    const bool goes_on = Step(index, instr, control);
    used_ += kMessageCost * static_cast<std::int64_t>(context_.messages - messages);
    if (!goes_on) {
      return;
    }
  }
}

void Warp::CountControl(std::uint32_t mask) {
  ++used_;
  ++work_;
  ++warp_instructions;
  lane_instructions += CountLanes(mask);
}

void Warp::CountTrip(LaneGroup& group, const Control& branch, std::uint32_t pc) const {
  group.idle_trips = branch.idle ? group.idle_trips + 1 : 0;
  if (group.idle_trips != 0 && group.idle_trips == launch_->options.most_idle_trips) {
    throw LocatedFault{
        {"limit",
         "runs without end and touches no memory: " + std::to_string(group.idle_trips) +
             " trips through loops that only compute",
         static_cast<std::uint32_t>(std::countr_zero(group.mask)), 0},
        pc};
  }
}

/// Executes straight-line code, as far as it is that for these lanes: up to a .sync instruction
/// that not all 32 of them execute. Returns the number of instructions, at least one.
std::int32_t Warp::ExecuteRun(const Instr* instr, std::int32_t count, std::uint32_t mask) {
  const Instr* at = instr;
  const Instr* const end = instr + count;
  std::uint64_t lanes = 0;  // less those of an unguarded run by the whole warp
  context_.clock = work_;
  context_.run = instr;
  context_.mask = mask;
  try {
    if (mask == kFullMask) {
      for (; at != end; ++at) {
        if (at->guard != kTrue) {
          const std::uint32_t active = ActiveLanes(*at, kFullMask);
          if (active != kFullMask) {
            if (at->is_control()) {
              break;
            }
            lanes -= kWarpSize - CountLanes(active);
            if (active != 0) {
              context_.mask = active;
              at->handler[0](context_, *at);
              context_.mask = kFullMask;
            }
            continue;
          }
        }
        at->handler[1](context_, *at);
      }
      lanes += kWarpSize * static_cast<std::uint64_t>(at - instr);
    } else {
      for (; at != end && !at->is_control(); ++at) {
        const std::uint32_t active = ActiveLanes(*at, mask);
        if (active != 0) {
          lanes += CountLanes(active);
          context_.mask = active;
          at->handler[0](context_, *at);
        }
      }
    }
  } catch (const Fault& fault) {
    throw LocatedFault{fault, context_.PcOf(*at)};
  }
  const auto executed = static_cast<std::int32_t>(at - instr);
  lane_instructions += lanes;
  warp_instructions += static_cast<std::uint64_t>(executed);
  work_ += static_cast<std::uint64_t>(executed);
  return executed;
}

void Warp::ExecuteOne(const Instr& instr, std::uint32_t mask) {
  context_.clock = work_;
  context_.run = &instr;
  context_.mask = mask;
  try {
    instr.handler[0](context_, instr);
  } catch (const Fault& fault) {
    throw LocatedFault{fault, context_.PcOf(instr)};
  }
}

bool Warp::MaySplit(const LaneGroup& group) const {
  return groups_.size() < kMostSplits && std::popcount(group.mask) > 1;
}

std::int32_t Warp::ChooseSplit(const LaneGroup& group, std::int32_t count) {
  if (!MaySplit(group)) {
    return count;
  }
  // Only before an instruction that touches memory can other lanes tell when this one runs.
  for (std::int32_t i = 1; i < count; ++i) {
    if (program_->visible[group.pc + static_cast<std::uint32_t>(i)] != 0 && random_.Below(8) == 0) {
      return i;
    }
  }
  return count;
}

void Warp::SplitRandomly(std::size_t index) {
  LaneGroup& group = groups_[index];
  const auto chosen = static_cast<std::uint32_t>(random_.Next()) & group.mask;
  if (chosen == 0 || chosen == group.mask) {
    return;
  }
  // No record: the two meet where the group would have met others, or at the next .sync
  // instruction.
  LaneGroup other = group;
  other.mask = chosen;
  group.mask &= ~chosen;
  groups_.push_back(std::move(other));
}

void Warp::Resume() {
  for (LaneGroup& group : groups_) {
    if (group.state == LaneGroup::State::kPaused) {
      group.state = LaneGroup::State::kReady;
    }
  }
}

}  // namespace voltcheck::simulator
