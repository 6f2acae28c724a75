// Block barriers: bar.sync, bar.arrive and bar.red with ids and counts.
#include <bit>

#include "kernels/simulator/schedule/block.h"

namespace voltcheck::simulator {

bool Block::Arrive(Warp& warp, std::size_t index, const Instr& instr, const Control& control) {
  LaneGroup& group = warp.groups()[index];
  const std::uint32_t pc = group.pc;
  const auto first = static_cast<std::uint32_t>(std::countr_zero(group.mask));
  const std::uint32_t id = warp.RowOf<std::uint32_t>(group, instr.op[1])[first];
  const std::uint32_t count = warp.RowOf<std::uint32_t>(group, instr.op[2])[first];
  if (id >= kBarriers) {
    throw LocatedFault{
        {"barrier", "names barrier " + std::to_string(id) + ", but there are 16", first, 0}, pc};
  }
  if (control.barrier_has_count && (count == 0 || count % kWarpSize != 0)) {
    ReportBarrier(
        warp, pc, group.mask,
        "waits for " + std::to_string(count) + " threads, which is no multiple of the warp size");
  }
  Barrier& barrier = barriers_[id];
  if (control.barrier_has_count) {
    if (barrier.in_use && barrier.expected != 0 && barrier.expected != count) {
      ReportBarrier(warp, pc, group.mask,
                    "waits for " + std::to_string(count) + " threads at barrier " +
                        std::to_string(id) + ", where others wait for " +
                        std::to_string(barrier.expected));
    }
    barrier.expected = count;
  }
  barrier.in_use = true;
  std::uint32_t& arrived = barrier.arrived[warp.index()];
  // A warp counts as 32 threads once all its threads are there, even if it has fewer.
  arrived |= group.mask;
  barrier.count += static_cast<std::uint32_t>(std::popcount(group.mask));
  if ((warp.alive() & ~arrived) == 0) {
    barrier.count += kWarpSize - static_cast<std::uint32_t>(std::popcount(arrived));
    if (control.barrier == BarrierOp::kArrive || barrier.expected != 0) {
      arrived = 0;  // it may arrive again, for the same round (bar.arrive)
    }
  }
  if (barrier.expected != 0 && barrier.count > barrier.expected) {
    ReportBarrier(warp, pc, group.mask,
                  "brings " + std::to_string(barrier.count) + " threads to barrier " +
                      std::to_string(id) + ", which expects " + std::to_string(barrier.expected));
  }
  const std::uint32_t votes = *warp.RowOf<std::uint32_t>(group, instr.op[3]) & group.mask;
  barrier.reduced_and &= votes == group.mask;
  barrier.reduced_count += static_cast<std::uint32_t>(std::popcount(votes));

  if (is_watched_) {
    checker_.OnArrive(id, warp.index(), group.mask, control.barrier != BarrierOp::kArrive);
  }
  if (control.barrier == BarrierOp::kArrive) {
    ++group.pc;
  } else {
    group.state = LaneGroup::State::kBarrier;
    group.barrier = id;
  }
  if (IsComplete(barrier)) {
    CheckRelease(id);
    Release(id);
    return false;
  }
  return control.barrier == BarrierOp::kArrive;
}

bool Block::IsComplete(const Barrier& barrier) const {
  if (!barrier.in_use) {
    return false;
  }
  if (barrier.expected != 0) {
    return barrier.count >= barrier.expected;
  }
  for (const Warp& warp : warps_) {
    if ((warp.alive() & ~barrier.arrived[warp.index()]) != 0) {
      return false;
    }
  }
  return true;
}

/// Every warp is stuck and parked lanes are about to be let go: those that wait at an aligned
/// barrier without them are in divergent code.
void Block::CheckParked() {
  for (const Warp& warp : warps_) {
    const std::uint32_t parked = warp.parked_at();
    for (const LaneGroup& group : warp.groups()) {
      if (parked == kNone || group.state != LaneGroup::State::kBarrier) {
        continue;
      }
      const Program& program = *launch_->program;
      if (program.control[program.code[group.pc].control()].aligned) {
        ReportBarrier(warp, group.pc, group.mask,
                      "is divergent: other threads of the warp went on to line " +
                          std::to_string(program.info[parked].line));
      }
    }
  }
}

/// Threads of one warp must meet at one and the same aligned barrier instruction.
void Block::CheckRelease(std::uint32_t id) {
  for (const Warp& warp : warps_) {
    std::uint32_t pc = kNone;
    for (const LaneGroup& group : warp.groups()) {
      if (group.state != LaneGroup::State::kBarrier || group.barrier != id) {
        continue;
      }
      const Control& control =
          launch_->program->control[launch_->program->code[group.pc].control()];
      if (control.aligned && pc != kNone && pc != group.pc) {
        ReportBarrier(warp, group.pc, group.mask,
                      "is divergent: other threads of the warp wait at line " +
                          std::to_string(launch_->program->info[pc].line));
      }
      pc = group.pc;
    }
  }
}

void Block::Release(std::uint32_t id) {
  Barrier& barrier = barriers_[id];
  std::vector<std::uint32_t> waiting;
  bool whole = true;
  for (Warp& warp : warps_) {
    std::uint32_t lanes = 0;
    for (LaneGroup& group : warp.groups()) {
      if (group.state != LaneGroup::State::kBarrier || group.barrier != id) {
        continue;
      }
      lanes |= group.mask;
      const Instr& instr = launch_->program->code[group.pc];
      const Control& control = launch_->program->control[instr.control()];
      if (control.barrier == BarrierOp::kRedPopc) {
        std::uint32_t* row = warp.RowOf<std::uint32_t>(group, instr.op[0]);
        for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
          if ((group.mask >> lane & 1) != 0) {
            row[lane] = barrier.reduced_count;
          }
        }
      } else if (control.barrier != BarrierOp::kSync) {
        const bool result = control.barrier == BarrierOp::kRedAnd ? barrier.reduced_and
                                                                  : barrier.reduced_count != 0;
        std::uint32_t* row = warp.RowOf<std::uint32_t>(group, instr.op[0]);
        *row = (*row & ~group.mask) | (result ? group.mask : 0);
      }
      group.state = LaneGroup::State::kReady;
      ++group.pc;
    }
    // bar.arrive lets a thread exit before those who wait go on: only with all it is whole.
    whole &= lanes == (barrier.expected == 0 ? warp.alive() : warp.first_lanes());
    if (lanes != 0) {
      waiting.push_back(warp.index());
    }
    warp.OnBarrier();
  }
  if (is_watched_) {
    checker_.OnRelease(id, waiting, whole);
  }
  barrier = Barrier{};
  barrier.arrived.assign(warps_.size(), 0);
}

void Block::OnExit() { CompleteBarriers(); }

void Block::CompleteBarriers() {
  for (std::uint32_t id = 0; id < kBarriers; ++id) {
    if (IsComplete(barriers_[id])) {
      CheckRelease(id);
      Release(id);
    }
  }
}

}  // namespace voltcheck::simulator
