#include "kernels/simulator/schedule/interleaving.h"

#include <algorithm>
#include <bit>

#include "kernels/simulator/check/spin_loops.h"
#include "kernels/simulator/memory/address_space.h"

namespace voltcheck::simulator {
namespace {

/// When every thread that is left waits in a loop, each may look this many times more: a loop may
/// give up by itself.
constexpr std::uint32_t kRetries = 64;

}  // namespace

Interleaving::Interleaving(const LaunchState& launch)
    : launch_(launch),
      memory_(*launch.global),
      site_cache_(launch.program->memory.size(), nullptr) {
  launch_.memory = &memory_;
  launch_.footprint = &recorded_;
  launch_.options.schedule = 0;
  for (std::uint64_t b = 0; b < launch.grid.count(); ++b) {
    blocks_.push_back(std::make_unique<Block>());
  }
}

void Interleaving::Restart() {
  memory_.Rollback();
  races_ = std::make_unique<GlobalRaces>(ContestedBytes::Everything(), 1, launch_.threads());
  launch_.global_races = launch_.options.checks.global_races ? races_.get() : nullptr;
  const std::size_t threads = blocks_.size() * launch_.threads();
  states_.assign(threads, State{});
  clocks_.assign(threads, std::vector<std::uint32_t>(threads, 0));
  over_ = false;
  faulted_ = false;
  retries_ = 0;
  for (std::uint64_t b = 0; b < blocks_.size(); ++b) {
    blocks_[b]->Start(launch_, b);
    blocks_[b]->StartLog(memory_, true);
  }
  for (std::uint32_t t = 0; t < threads && !over_; ++t) {
    Run(t, false);
  }
}

Interleaving::Where Interleaving::At(std::uint32_t thread) const {
  const std::uint32_t own = thread % launch_.threads();
  return {blocks_[thread / launch_.threads()].get(), own / kWarpSize, own % kWarpSize};
}

const LaneGroup* Interleaving::GroupOf(std::uint32_t thread) const {
  const Where at = At(thread);
  return at.block->warp(at.warp).GroupOf(at.lane);
}

std::vector<std::uint32_t> Interleaving::Enabled() {
  std::vector<std::uint32_t> enabled;
  while (!over_) {
    bool waiting = false;
    bool blocked = false;
    for (std::uint32_t t = 0; t < threads(); ++t) {
      const LaneGroup* group = GroupOf(t);
      if (group == nullptr) {
        continue;
      }
      blocked |= group->state != LaneGroup::State::kReady;
      waiting |= states_[t].waits;
      if (group->state == LaneGroup::State::kReady && !states_[t].waits) {
        enabled.push_back(t);
      }
    }
    if (!enabled.empty()) {
      break;
    }
    if (waiting && retries_ < kRetries) {
      ++retries_;
      for (State& state : states_) {
        state.waits = false;
      }
      continue;
    }
    if (waiting || blocked) {
      ReportStuck();
    }
    over_ = true;
  }
  return enabled;
}

void Interleaving::ReportStuck() {
  faulted_ = true;
  for (const auto& block : blocks_) {
    block->ReportStuck("deadlock", "waits forever: ");
  }
}

std::vector<LaneGroup::State> Interleaving::States() const {
  std::vector<LaneGroup::State> states(states_.size());
  for (std::uint32_t t = 0; t < threads(); ++t) {
    const LaneGroup* group = GroupOf(t);
    states[t] = group == nullptr ? LaneGroup::State::kReady : group->state;
  }
  return states;
}

void Interleaving::Run(std::uint32_t thread, bool through) {
  const std::vector<LaneGroup::State> before = States();
  const Where at = At(thread);
  if (!at.block->StepLane({site_cache_.data(), &at.block->log()}, at.warp, at.lane, through)) {
    over_ = true;
    faulted_ = true;
    return;
  }
  JoinClocks(thread, before);
}

Event Interleaving::Step(std::uint32_t thread) {
  const std::uint32_t pc = GroupOf(thread)->pc;
  recorded_.Clear();
  const Instr& instr = launch_.program->code[pc];
  if (instr.is_control() &&
      launch_.program->control[instr.control()].kind == ControlKind::kBarrier) {
    // All barriers with a count of a block: which ids they have is not known before they run.
    recorded_.AddBarrier(thread / launch_.threads(), 0);
  }
  ++clocks_[thread][thread];
  Run(thread, true);
  recorded_.Settle();
  Event event;
  event.thread = thread;
  event.footprint = recorded_;
  if (event.footprint.Writes()) {
    retries_ = 0;
    for (State& state : states_) {
      state.waits = state.waits && !event.footprint.Conflicts(state.looked);
    }
  }
  NoteLook(thread, pc, event.footprint);
  return event;
}

void Interleaving::NoteLook(std::uint32_t thread, std::uint32_t pc, const Footprint& footprint) {
  State& state = states_[thread];
  if (footprint.Writes() || launch_.spins->poll[pc] == kNone) {
    state.pc = kNone;
    return;
  }
  std::vector<std::byte> sees = footprint.Contents();
  state.waits = state.pc == pc && state.saw == sees;
  state.pc = pc;
  state.looked = footprint;
  state.saw = std::move(sees);
}

/// Threads that the step let go know what all of them and the stepping thread know.
void Interleaving::JoinClocks(std::uint32_t stepped, const std::vector<LaneGroup::State>& before) {
  std::vector<std::uint32_t> released;
  for (std::uint32_t t = 0; t < threads(); ++t) {
    const LaneGroup* group = GroupOf(t);
    const bool ready = group == nullptr || group->state == LaneGroup::State::kReady;
    if (before[t] != LaneGroup::State::kReady && ready) {
      released.push_back(t);
    }
  }
  if (released.empty()) {
    return;
  }
  released.push_back(stepped);
  std::vector<std::uint32_t> joined(threads(), 0);
  for (const std::uint32_t t : released) {
    for (std::uint32_t u = 0; u < threads(); ++u) {
      joined[u] = std::max(joined[u], clocks_[t][u]);
    }
  }
  for (const std::uint32_t t : released) {
    clocks_[t] = joined;
  }
  released.pop_back();
  for (const std::uint32_t t : released) {
    if (!over_ && GroupOf(t) != nullptr) {
      Run(t, false);
    }
  }
}

GridResult Interleaving::TakeResult() {
  GridResult result;
  LockWords locks;
  for (const auto& block : blocks_) {
    const BlockResult done = block->TakeResult();
    result.findings.Append(done.findings);
    result.counters += done.counters;
    locks.Add(done);
  }
  result.faulted = faulted_;
  if (launch_.options.checks.leaked_locks && !faulted_) {
    locks.Report(launch_, memory_, result.findings);
  }
  return result;
}

std::uint64_t Interleaving::Digest() const {
  std::uint64_t digest = 0;
  for (const auto& undo : memory_.written()) {
    const Allocation& allocation = undo->allocation();
    for (std::uint64_t b = 0; b < allocation.bytes; ++b) {
      if (allocation.host[b] != *undo->Old(b)) {
        ScheduleRandom mixed(allocation.base + b, static_cast<std::uint64_t>(allocation.host[b]));
        digest += mixed.Next();
      }
    }
  }
  return digest;
}

}  // namespace voltcheck::simulator
