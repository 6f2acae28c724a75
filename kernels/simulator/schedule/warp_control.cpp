// Control instructions of a warp: branches, calls, returns, exits, barriers, ordered memory.
#include <bit>
#include <cstring>

#include "kernels/simulator/memory/resolve.h"
#include "kernels/simulator/schedule/block.h"
#include "kernels/simulator/schedule/warp.h"

namespace voltcheck::simulator {
namespace {

/// A GPU's stack is small; a recursion this deep is one without end.
constexpr std::uint32_t kMostCalls = 2048;

bool InSharedOrLocalWindow(std::uint64_t address) {
  return address - kSharedWindow < kWindowBytes || address - kLocalWindow < kWindowBytes;
}

}  // namespace

bool Warp::Step(std::size_t index, const Instr& instr, const Control& control) {
  LaneGroup& group = groups_[index];
  const std::uint32_t pc = group.pc;
  const std::uint32_t active =
      group.mask & (*context_.Row<const std::uint32_t>(instr.guard) ^ instr.guard_flip);
  const std::uint32_t rest = group.mask & ~active;
  if (active == 0) {
    group.pc = pc + 1;
    return true;
  }
  switch (control.kind) {
    case ControlKind::kBranch:
      if (rest == 0) {
        group.pc = control.target;
        return true;
      }
      Diverge(index, {{rest, pc + 1}, {active, control.target}}, control.reconvergence);
      return true;
    case ControlKind::kBranchTable:
      return StepBranchTable(index, instr, control);
    case ControlKind::kExit:
      if (rest != 0) {
        group.pc = pc + 1;
      }
      Exit(index, active);
      block_->OnExit();
      return false;
    case ControlKind::kReturn:
      return StepReturn(index, active);
    case ControlKind::kTrap:
      throw LocatedFault{{"trap", "the kernel executed `trap`",
                          static_cast<std::uint32_t>(std::countr_zero(active)), 0},
                         pc};
    default:
      break;
  }
  if (rest != 0) {  // some lanes skip it: they wait behind it
    Diverge(index, {{active, pc}, {rest, pc + 1}}, pc + 1);
    return true;
  }
  switch (control.kind) {
    case ControlKind::kCall:
      return StepCall(index, instr, control);
    case ControlKind::kSync:
      return StepSync(index, instr, control);
    case ControlKind::kOrdered:
      return StepOrdered(index, instr);
    case ControlKind::kBarrier:
      return block_->Arrive(*this, index, instr, control);  // leaves this group bound when true
    default:                                                // kYield
      ++context_.messages;
      group.pc = pc + 1;
      return true;
  }
}

bool Warp::StepBranchTable(std::size_t index, const Instr& instr, const Control& control) {
  const LaneGroup& group = groups_[index];
  const std::uint32_t active =
      group.mask & (*context_.Row<const std::uint32_t>(instr.guard) ^ instr.guard_flip);
  const std::uint32_t* choice = context_.Row<const std::uint32_t>(instr.op[0]);
  std::vector<Part> parts;
  const auto add = [&](std::uint32_t lane, std::uint32_t pc) {
    for (Part& part : parts) {
      if (part.pc == pc) {
        part.mask |= 1u << lane;
        return;
      }
    }
    parts.push_back({1u << lane, pc});
  };
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((group.mask >> lane & 1) == 0) {
      continue;
    }
    if ((active >> lane & 1) == 0) {
      add(lane, group.pc + 1);
      continue;
    }
    if (choice[lane] >= control.table.size()) {
      throw LocatedFault{{"branch",
                          "jumps to target " + std::to_string(choice[lane]) + " of " +
                              std::to_string(control.table.size()),
                          lane, 0},
                         group.pc};
    }
    add(lane, control.table[choice[lane]]);
  }
  Diverge(index, parts, control.reconvergence);
  return true;
}

bool Warp::StepCall(std::size_t index, const Instr& instr, const Control& control) {
  std::uint32_t callee = control.function;
  const std::uint32_t pc = groups_[index].pc;
  if (callee == kNone) {
    const std::uint64_t* target = context_.Row<const std::uint64_t>(instr.op[0]);
    const std::uint32_t mask = groups_[index].mask;
    const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
    std::uint32_t same = 0;
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if ((mask >> lane & 1) != 0 && target[lane] == target[first]) {
        same |= 1u << lane;
      }
    }
    if (same != mask) {  // one callee after the other
      Diverge(index, {{same, pc}, {mask & ~same, pc}}, pc + 1);
      return true;
    }
    const std::uint64_t number = (target[first] - kCodeWindow) / kCodeStride;
    if (target[first] < kCodeWindow || number >= program_->functions.size() ||
        program_->functions[number].entry) {
      throw LocatedFault{{"call", "calls an address that is no function", first, target[first]},
                         pc};
    }
    callee = static_cast<std::uint32_t>(number);
  }
  const FunctionCode& function = program_->functions[callee];
  LaneGroup& group = groups_[index];
  if (group.depth() >= kMostCalls) {
    throw LocatedFault{{"limit", "calls nest deeper than " + std::to_string(kMostCalls),
                        static_cast<std::uint32_t>(std::countr_zero(group.mask)), 0},
                       pc};
  }
  const std::uint32_t record = NewRecord(pc + 1, group.depth(), group.mask, group.record);
  const std::uint64_t caller_base = group.local_base;
  const std::uint64_t callee_base = caller_base + program_->functions[group.function].local_bytes;
  group.calls.push_back({pc + 1, instr.control(), group.function, caller_base});
  group.function = callee;
  group.local_base = callee_base;
  group.pc = function.begin;
  SetRecord(group, record);
  EnsureRegisters(group.depth());
  EnsureLocal(callee_base + function.local_bytes);
  CopyParameters(control.arguments, caller_base, callee_base, group.mask, true);
  Bind(group);
  if (function.local_base != kNone) {
    std::uint64_t* row = context_.Row<std::uint64_t>(function.local_base);
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if ((group.mask >> lane & 1) != 0) {
        row[lane] = callee_base;
      }
    }
  }
  return true;
}

bool Warp::StepReturn(std::size_t index, std::uint32_t lanes) {
  LaneGroup& group = groups_[index];
  const std::uint32_t rest = group.mask & ~lanes;
  if (rest != 0) {
    LaneGroup other = group;
    other.mask = rest;
    ++other.pc;
    group.mask = lanes;
    groups_.push_back(std::move(other));
  }
  LaneGroup& returning = groups_[index];
  const LaneGroup::CallFrame frame = returning.calls.back();
  const Control& call = program_->control[frame.control];
  CopyParameters(call.returns, frame.local_base, returning.local_base, lanes, false);
  // Records inside the callee that these lanes will never reach: an endless loop's, left by
  // release.
  std::uint32_t record = returning.record;
  while (record != kNone && records_[record].depth >= returning.depth()) {
    records_[record].expected &= ~lanes;
    record = records_[record].parent;
  }
  SetRecord(returning, record);
  returning.calls.pop_back();
  returning.function = frame.function;
  returning.local_base = frame.local_base;
  returning.pc = frame.return_pc;
  Bind(returning);
  return true;
}

void Warp::CopyParameters(const std::vector<ParamCopy>& copies, std::uint64_t caller,
                          std::uint64_t callee, std::uint32_t mask, bool into_callee) {
  for (const ParamCopy& copy : copies) {
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if ((mask >> lane & 1) == 0) {
        continue;
      }
      std::byte* stack = context_.local + lane * context_.local_stride;
      std::byte* outer = stack + caller + copy.caller_offset;
      std::byte* inner = stack + callee + copy.callee_offset;
      std::memcpy(into_callee ? inner : outer, into_callee ? outer : inner, copy.bytes);
    }
    if (context_.observer != nullptr) {
      context_.observer->OnLocalWrite(
          context_, mask, into_callee ? callee + copy.callee_offset : caller + copy.caller_offset,
          copy.bytes);
    }
  }
}

bool Warp::StepOrdered(std::size_t index, const Instr& instr) {
  LaneGroup& group = groups_[index];
  if (block_->pauses_before_communication()) {
    const MemorySite& site = program_->memory[instr.aux];
    bool only_own_memory = site.space == Space::kGeneric;
    if (only_own_memory) {
      std::uint64_t addresses[kWarpSize];
      LaneAddresses(context_, instr, site,
                    site.atomic  ? 1
                    : site.write ? 0
                                 : site.vector,
                    addresses);
      for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
        only_own_memory &= (group.mask >> lane & 1) == 0 || InSharedOrLocalWindow(addresses[lane]);
      }
    }
    if (!only_own_memory) {
      group.state = LaneGroup::State::kPaused;
      return false;
    }
  }
  ExecuteOne(instr, group.mask);
  ++group.pc;
  return true;
}

}  // namespace voltcheck::simulator
