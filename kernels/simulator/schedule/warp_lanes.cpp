// Lanes one by one, for launches whose interleavings are explored.
#include <bit>

#include "kernels/simulator/schedule/warp.h"

namespace voltcheck::simulator {
namespace {

/// Instructions of one lane between two that others can see.
constexpr std::uint32_t kMostInvisible = 1u << 22;

}  // namespace

void Warp::SplitIntoLanes() {
  const LaneGroup all = groups_[0];
  groups_.clear();
  for (std::uint32_t lanes = all.mask; lanes != 0; lanes &= lanes - 1) {
    groups_.push_back(all);
    groups_.back().mask = lanes & (0u - lanes);
  }
}

const LaneGroup* Warp::GroupOf(std::uint32_t lane) const {
  for (const LaneGroup& group : groups_) {
    if ((group.mask >> lane & 1) != 0) {
      return &group;
    }
  }
  return nullptr;
}

bool Warp::IsVisible(std::uint32_t pc) const {
  const Instr& instr = program_->code[pc];
  if (!instr.is_control()) {
    return program_->visible[pc] != 0;
  }
  const Control& control = program_->control[instr.control()];
  return control.kind == ControlKind::kOrdered ||
         (control.kind == ControlKind::kBarrier && control.barrier_has_count);
}

void Warp::StepLane(const Worker& worker, std::uint32_t lane, bool through) {
  context_.site_cache = worker.site_cache;
  context_.log = worker.log;
  for (std::uint32_t steps = 0; steps < kMostInvisible; ++steps) {
    const LaneGroup* found = GroupOf(lane);
    if (found == nullptr || found->state != LaneGroup::State::kReady) {
      return;
    }
    const auto index = static_cast<std::size_t>(found - groups_.data());
    LaneGroup& group = groups_[index];
    if (group.pc == group.reconvergence && records_[group.record].depth == group.depth()) {
      Park(index);
      continue;
    }
    if (IsVisible(group.pc) && !through) {
      return;
    }
    Bind(group);
    const Instr& instr = program_->code[group.pc];
    if (!instr.is_control()) {
      ExecuteRun(&instr, 1, group.mask);
      ++group.pc;
    } else {
      ++work_;
      ++warp_instructions;
      ++lane_instructions;
      Step(index, instr, program_->control[instr.control()]);
    }
    if (through) {
      return;
    }
  }
  throw LocatedFault{{"limit", "runs without end and touches no memory", lane, 0},
                     GroupOf(lane)->pc};
}

}  // namespace voltcheck::simulator
