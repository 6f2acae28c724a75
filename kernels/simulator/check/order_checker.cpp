#include "kernels/simulator/check/order_checker.h"

#include <bit>
#include <cstring>

#include "kernels/simulator/check/findings.h"
#include "kernels/simulator/check/spin_loops.h"
#include "kernels/simulator/memory/address_space.h"

namespace voltcheck::simulator {
namespace {

/// Bits of Instr::imm of a fence (observer.h).
constexpr std::int64_t kWarpSync = 2;
constexpr std::int64_t kBlockFence = 1;
constexpr std::int64_t kNotSequential = 4;

std::string Name(const kernels::Dim3& at) {
  return "(" + std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z) + ")";
}

template <typename F>
void ForLanes(std::uint32_t mask, const F& f) {
  for (std::uint32_t bits = mask; bits != 0; bits &= bits - 1) {
    f(static_cast<std::uint32_t>(std::countr_zero(bits)));
  }
}

GlobalRaces::Access MakeAccess(const MemorySite& site, std::uint32_t pc) {
  GlobalRaces::Access access;
  access.pc = pc;
  access.write = site.write;
  access.read = !site.write || site.atomic;
  access.order = {site.ordered, site.acquire, site.release, site.block_scope};
  return access;
}

std::uint64_t OperandOf(const ExecContext& context, const MemorySite& site, Ref ref,
                        std::uint32_t lane) {
  return site.register_bits == 64 ? context.Row<const std::uint64_t>(ref)[lane]
                                  : context.Row<const std::uint32_t>(ref)[lane];
}

}  // namespace

std::uint32_t SwappingLanes(const ExecContext& context, const Instr& instr, const MemorySite& site,
                            const LanePointers& pointers) {
  const auto operand = [&](std::uint32_t index, std::uint32_t lane) {
    return OperandOf(context, site, instr.op[index], lane);
  };
  std::uint32_t swapping = 0;
  ForLanes(context.mask, [&](std::uint32_t lane) {
    std::uint64_t value = 0;
    std::memcpy(&value, pointers.host[lane], site.bytes);
    ForLanes(swapping, [&](std::uint32_t earlier) {  // lanes come one after the other
      if (pointers.host[earlier] == pointers.host[lane]) {
        value = operand(3, earlier);
      }
    });
    if (value == operand(2, lane)) {
      swapping |= 1u << lane;
    }
  });
  return swapping;
}

void OrderChecker::Start(const LaunchState& launch, std::uint64_t block, FindingList& findings) {
  launch_ = &launch;
  block_ = block;
  findings_ = &findings;
  locks_.clear();
  last_lock_ = 0;
  shared_messages_.clear();
}

void OrderChecker::OnGlobal(ExecContext& context, const Instr& instr, const MemorySite& site,
                            const std::uint64_t* addresses, const LanePointers& pointers) {
  if (site.ordered && launch_->options.checks.leaked_locks && launch_->spins != nullptr &&
      launch_->spins->is_lock[instr.aux] != 0) {
    NoteLocks(context, instr, site, addresses);
  }
  if (launch_->global_races != nullptr) {
    CheckRaces(context, instr, site, addresses, pointers);
  }
}

void OrderChecker::NoteLocks(const ExecContext& context, const Instr& instr, const MemorySite& site,
                             const std::uint64_t* addresses) {
  ForLanes(context.mask, [&](std::uint32_t lane) {
    if (addresses[lane] != last_lock_) {
      last_lock_ = addresses[lane];
      locks_.try_emplace(last_lock_,
                         LockUse{site.bytes, context.PcOf(instr), context.warp * kWarpSize + lane});
    }
  });
}

void OrderChecker::CheckRaces(ExecContext& context, const Instr& instr, const MemorySite& site,
                              const std::uint64_t* addresses, const LanePointers& pointers) {
  GlobalRaces& races = *launch_->global_races;
  const std::uint64_t bytes = std::uint64_t{site.bytes} * site.vector;
  std::uint32_t lanes = 0;
  ForLanes(context.mask, [&](std::uint32_t lane) {
    const auto at = reinterpret_cast<std::uintptr_t>(pointers.host[lane]);
    lanes |= races.IsContested(at, bytes) ? 1u << lane : 0;
  });
  if (lanes == 0) {
    return;
  }
  const GlobalRaces::Access kind = MakeAccess(site, context.PcOf(instr));
  const bool cas = site.atomic && site.operation == AtomicOp::kCas;
  const std::uint32_t swapping = cas ? SwappingLanes(context, instr, site, pointers) : 0;
  ForLanes(lanes, [&](std::uint32_t lane) {
    if (site.write && !site.atomic) {
      // Lanes of one store that hit one address are BlockChecker::CheckOverlap's business.
      for (std::uint32_t other = 0; other < lane; ++other) {
        if ((context.mask >> other & 1) != 0 && pointers.host[other] == pointers.host[lane]) {
          return;
        }
      }
    }
    GlobalRaces::Access access = kind;
    access.thread = block_ * kThreadsOfBlock + context.warp * kWarpSize + lane;
    access.write = cas ? (swapping >> lane & 1) != 0 : kind.write;
    if (site.write && !site.atomic && site.ordered && site.vector == 1) {
      access.stored = OperandOf(context, site, instr.op[1], lane);
    }
    const auto race =
        races.OnAccess(access, reinterpret_cast<std::uintptr_t>(pointers.host[lane]), bytes);
    if (race) {
      ReportRace(context, instr, lane, access, *race, addresses[lane]);
    }
  });
}

void OrderChecker::ReportRace(const ExecContext& context, const Instr& instr, std::uint32_t lane,
                              const GlobalRaces::Access& access, const GlobalRaces::Race& race,
                              std::uint64_t address) {
  if (findings_->Repeat("race", context.PcOf(instr))) {
    return;
  }
  const Program& program = *launch_->program;
  const InstrInfo& other = program.info[race.other_pc];
  const Allocation* allocation = context.global->Find(address);
  const bool own_block = BlockOf(race.other) == block_;
  const auto thread = [&](GridThread t) {
    return "thread " + Name(CoordinatesOf(t % kThreadsOfBlock, launch_->block));
  };
  const std::string who =
      (own_block ? "" : "block " + Name(CoordinatesOf(BlockOf(race.other), launch_->grid)) + " ") +
      thread(race.other);
  const std::string between =
      race.twin
          ? ", as " + thread(*race.twin) + " did: only one of these stores lies before, so " +
                "the other one may undo this write"
          : " with no " +
                std::string(own_block ? "barrier or release and acquire" : "release and acquire") +
                " between";
  findings_->Add(*launch_, block_, context.warp * kWarpSize + lane, "race",
                 std::string(access.write ? "writes" : "reads") + " `" + allocation->name +
                     "` at offset " + std::to_string(address - allocation->base) + ", which " +
                     who + (race.other_write ? " wrote" : " read") + " at line " +
                     std::to_string(other.line) + " (" + program.texts[other.text] + ")" + between,
                 context.PcOf(instr), address);
}

void OrderChecker::OnShared(ExecContext& context, const Instr& instr, const MemorySite& site,
                            const std::uint64_t* addresses, const LanePointers& pointers) {
  if (launch_->global_races == nullptr || (!site.ordered && shared_messages_.empty())) {
    return;
  }
  ThreadOrder& order = launch_->global_races->order();
  const GlobalRaces::Access kind = MakeAccess(site, context.PcOf(instr));
  const bool cas = site.atomic && site.operation == AtomicOp::kCas;
  const std::uint32_t writing = cas          ? SwappingLanes(context, instr, site, pointers)
                                : kind.write ? context.mask
                                             : 0;
  ForLanes(context.mask, [&](std::uint32_t lane) {
    const GridThread thread = block_ * kThreadsOfBlock + context.warp * kWarpSize + lane;
    const bool writes = (writing >> lane & 1) != 0;
    const auto found = shared_messages_.find(addresses[lane]);
    if (!site.ordered) {
      if (writes && found != shared_messages_.end()) {
        shared_messages_.erase(found);
      }
      return;
    }
    if (kind.read && found != shared_messages_.end()) {
      order.Read(thread, found->second, kind.order);
    }
    if (writes) {
      order.Write(thread, kind.order, kind.read, shared_messages_[addresses[lane]]);
    }
  });
}

void OrderChecker::OnFence(const ExecContext& context, const Instr& instr) {
  if (launch_->global_races == nullptr) {
    return;
  }
  ThreadOrder& order = launch_->global_races->order();
  if (instr.imm == kWarpSync) {
    order.WarpSync(block_, context.warp, context.mask);
  } else {
    order.Fence(block_, context.warp, context.mask, (instr.imm & kBlockFence) != 0,
                (instr.imm & kNotSequential) == 0);
  }
}

void OrderChecker::OnArrive(std::uint32_t barrier, std::uint32_t warp, std::uint32_t mask,
                            bool waits) {
  if (launch_->global_races != nullptr) {
    launch_->global_races->order().Arrive(block_, barrier, warp, mask, waits);
  }
}

void OrderChecker::OnRelease(std::uint32_t barrier, bool whole) {
  if (launch_->global_races != nullptr) {
    launch_->global_races->order().Release(block_, barrier, whole);
  }
}

}  // namespace voltcheck::simulator
