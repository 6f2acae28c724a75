// .sync instructions: lanes of a member mask wait for each other, wherever in the code they are.
#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/simulator/schedule/block.h"
#include "kernels/simulator/schedule/warp.h"

namespace voltcheck::simulator {
namespace {

/// Copies the cells of `mask` between two rows of an operand kind.
void CopyCells(char kind, const std::byte* from, std::byte* to, std::uint32_t mask) {
  if (kind == 'p') {
    std::uint32_t source = 0;
    std::uint32_t target = 0;
    std::memcpy(&source, from, 4);
    std::memcpy(&target, to, 4);
    target = (target & ~mask) | (source & mask);
    std::memcpy(to, &target, 4);
    return;
  }
  const std::size_t bytes = kind == 'x' ? 8 : 4;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((mask >> lane & 1) != 0) {
      std::memcpy(to + lane * bytes, from + lane * bytes, bytes);
    }
  }
}

}  // namespace

bool Warp::StepSync(std::size_t index, const Instr& instr, const Control& control) {
  LaneGroup& group = groups_[index];
  const std::uint32_t pc = group.pc;
  std::uint32_t members = alive_;
  if (!control.aligned) {
    const std::uint32_t* masks = context_.Row<const std::uint32_t>(instr.op[control.mask_operand]);
    members = masks[std::countr_zero(group.mask)];
    std::uint32_t same = 0;
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if ((group.mask >> lane & 1) != 0 && masks[lane] == members) {
        same |= 1u << lane;
      }
    }
    if (same != group.mask) {
      Diverge(index, {{same, pc}, {group.mask & ~same, pc}}, pc + 1);
      return true;
    }
    if ((group.mask & ~members) != 0) {
      block_->ReportBarrier(*this, pc, group.mask & ~members,
                            "is executed by threads that its member mask does not name");
      members |= group.mask;
    }
  }
  if ((members & alive_ & ~group.mask) == 0) {
    CheckWholeWarp(control, pc, group.mask);
    ExecuteOne(instr, group.mask);
    group.pc = pc + 1;
    return true;
  }
  group.state = LaneGroup::State::kSync;
  group.wait_mask = members;
  TryMeet(index);
  return false;
}

void Warp::CheckWholeWarp(const Control& control, std::uint32_t pc, std::uint32_t mask) {
  if (control.aligned && mask != kFullMask) {
    block_->ReportBarrier(*this, pc, mask,
                          "needs all 32 threads of a warp, but only " +
                              std::to_string(std::popcount(mask)) + " execute it");
  }
}

/// Somebody exited: those who waited for them may have everybody now.
void Warp::RetryMeets() {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].state == LaneGroup::State::kSync && TryMeet(i)) {
      i = static_cast<std::size_t>(-1);  // groups have changed: from the start
    }
  }
}

/// Runs the instruction at which group `index` waits, if everybody it waits for is there.
bool Warp::TryMeet(std::size_t index) {
  const LaneGroup& group = groups_[index];
  const Control& control = program_->control[program_->code[group.pc].control()];
  std::vector<std::size_t> members;
  std::uint32_t arrived = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const LaneGroup& other = groups_[i];
    if (other.state != LaneGroup::State::kSync) {
      continue;
    }
    const Control& theirs = program_->control[program_->code[other.pc].control()];
    const bool meets = control.aligned ? other.pc == group.pc
                                       : !theirs.aligned && theirs.signature == control.signature &&
                                             other.wait_mask == group.wait_mask;
    if (meets) {
      members.push_back(i);
      arrived |= other.mask;
    }
  }
  if ((group.wait_mask & alive_ & ~arrived) != 0) {
    return false;
  }
  Meet(members);
  return true;
}

void Warp::Meet(const std::vector<std::size_t>& members) {
  const LaneGroup& first = groups_[members[0]];
  const Instr& instr = program_->code[first.pc];
  const Control& control = program_->control[instr.control()];
  std::uint32_t all = 0;
  bool same_place = true;
  for (const std::size_t i : members) {
    all |= groups_[i].mask;
    same_place &= groups_[i].pc == first.pc && groups_[i].calls == first.calls;
  }
  CheckWholeWarp(control, first.pc, all);
  if (same_place) {
    Bind(first);
    ExecuteOne(instr, all);
  } else {
    // Operands are in different rows: collect them, run once, hand the results out.
    Instr collected = instr;
    std::byte* scratch = scratch_[0].bytes;
    const std::string& kinds = control.kinds;
    const auto results = static_cast<std::size_t>(kinds.find('='));
    const auto operands = kinds.size() - 1;
    const auto kind = [&](std::size_t o) { return kinds[o < results ? o : o + 1]; };
    for (std::size_t o = 0; o < operands; ++o) {
      collected.op[o] = MakeRef(RowBase::kFrame, static_cast<std::uint32_t>(o) * kRow64Bytes);
    }
    for (const std::size_t i : members) {
      Bind(groups_[i]);
      const Instr& theirs = program_->code[groups_[i].pc];
      for (std::size_t o = results; o < operands; ++o) {
        CopyCells(kind(o), context_.Row<const std::byte>(theirs.op[o]), scratch + o * kRow64Bytes,
                  groups_[i].mask);
      }
    }
    context_.SetBase(RowBase::kFrame, scratch);
    ExecuteOne(collected, all);
    for (const std::size_t i : members) {
      Bind(groups_[i]);
      const Instr& theirs = program_->code[groups_[i].pc];
      for (std::size_t o = 0; o < results; ++o) {
        CopyCells(kind(o), scratch + o * kRow64Bytes, context_.Row<std::byte>(theirs.op[o]),
                  groups_[i].mask);
      }
    }
  }
  for (const std::size_t i : members) {
    groups_[i].state = LaneGroup::State::kReady;
    ++groups_[i].pc;
  }
  MergeEqualGroups();
}

/// Ready groups at one place with one future become one.
void Warp::MergeEqualGroups() {
  if (launch_->footprint != nullptr) {
    return;  // every lane on its own
  }
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    for (std::size_t j = groups_.size(); j-- > i + 1;) {
      LaneGroup& a = groups_[i];
      const LaneGroup& b = groups_[j];
      if (a.state == LaneGroup::State::kReady && b.state == LaneGroup::State::kReady &&
          a.pc == b.pc && a.record == b.record && a.calls == b.calls) {
        a.mask |= b.mask;
        groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(j));
      }
    }
  }
}

}  // namespace voltcheck::simulator
