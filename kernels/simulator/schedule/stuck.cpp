// What a block that cannot go on says: who waits for what.
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "kernels/simulator/check/global_races.h"
#include "kernels/simulator/check/spin_loops.h"
#include "kernels/simulator/memory/address_space.h"
#include "kernels/simulator/program/rows.h"
#include "kernels/simulator/schedule/block.h"

namespace voltcheck::simulator {
namespace {

constexpr std::size_t kMostListed = 8;

std::string LaneList(std::uint32_t lanes) {
  std::string text;
  for (std::uint32_t lane = 0; lane < kWarpSize;) {
    if ((lanes >> lane & 1) == 0) {
      ++lane;
      continue;
    }
    std::uint32_t last = lane;
    while (last + 1 < kWarpSize && (lanes >> (last + 1) & 1) != 0) {
      ++last;
    }
    text += (text.empty() ? "" : ",") + std::to_string(lane);
    if (last > lane) {
      text += "-" + std::to_string(last);
    }
    lane = last + 1;
  }
  return text;
}

std::string Hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%" PRIx64, value);
  return text;
}

std::string Name(const kernels::Dim3& at) {
  return "(" + std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z) + ")";
}

std::string ValueAt(const std::byte* host, std::uint64_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, host, std::min<std::uint64_t>(bytes, sizeof(value)));
  return std::to_string(value);
}

}  // namespace

std::string Block::DescribePoll(Warp& warp, const LaneGroup& group) {
  const std::uint32_t pc = launch_->spins == nullptr ? kNone : launch_->spins->poll[group.pc];
  if (pc == kNone) {
    return "";
  }
  const Program& program = *launch_->program;
  const Instr& instr = program.code[pc];
  const MemorySite& site = program.memory[instr.aux];
  const Ref ref = instr.op[AddressOperandOf(site)];
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(group.mask));
  std::uint64_t address = static_cast<std::uint64_t>(instr.imm);
  address += site.wide_address ? warp.RowOf<const std::uint64_t>(group, ref)[lane]
                               : warp.RowOf<const std::uint32_t>(group, ref)[lane];
  const bool shared = site.space == Space::kShared ||
                      (site.space == Space::kGeneric && address - kSharedWindow < kWindowBytes);
  if (shared) {
    const std::uint64_t offset = site.space == Space::kShared ? address : address - kSharedWindow;
    if (offset + site.bytes > launch_->shared_bytes()) {
      return "";
    }
    return ", polling shared memory at offset " + std::to_string(offset) + ", which holds " +
           ValueAt(reinterpret_cast<const std::byte*>(shared_.data()) + offset, site.bytes);
  }
  const Allocation* allocation = launch_->global->Find(address);
  if (allocation == nullptr || allocation->bytes - (address - allocation->base) < site.bytes) {
    return "";
  }
  const std::uint64_t offset = address - allocation->base;
  std::string text = ", polling `" + allocation->name + "` at offset " + std::to_string(offset) +
                     " (" + Hex(address) + "), which holds " +
                     ValueAt(allocation->host + offset, site.bytes);
  if (!launch_->options.checks.global_races) {
    return text;
  }
  const auto writer = launch_->global_races == nullptr
                          ? std::nullopt
                          : launch_->global_races->LastWriter(
                                reinterpret_cast<std::uintptr_t>(allocation->host + offset));
  if (!writer) {
    return text + " and was written by nobody else in this launch";
  }
  return text + ", written last by block " +
         Name(CoordinatesOf(BlockOf(writer->thread), launch_->grid)) + " thread " +
         Name(CoordinatesOf(writer->thread % kThreadsOfBlock, launch_->block)) + " at line " +
         std::to_string(program.info[writer->pc].line);
}

std::string Block::DescribePositions() {
  std::string who;
  std::size_t groups = 0;
  for (Warp& warp : warps_) {
    for (const LaneGroup& group : warp.groups()) {
      if (++groups > kMostListed) {
        continue;
      }
      const InstrInfo& info = launch_->program->info[group.pc];
      who += (who.empty() ? "" : "; ") + std::string("warp ") + std::to_string(warp.index()) +
             " lanes " + LaneList(group.mask) + " at line " + std::to_string(info.line) + " (" +
             launch_->program->texts[info.text] + ")";
      if (group.state == LaneGroup::State::kSync) {
        who += " for lanes " + LaneList(group.wait_mask & ~group.mask);
      } else if (group.state == LaneGroup::State::kBarrier) {
        const Barrier& barrier = barriers_[group.barrier];
        const std::uint32_t expected =
            barrier.expected == 0 ? launch_->threads() : barrier.expected;
        who += " on barrier " + std::to_string(group.barrier) + ", " +
               std::to_string(barrier.count) + " threads arrived of " + std::to_string(expected);
      } else {
        who += DescribePoll(warp, group);
      }
    }
    if (const std::uint32_t parked = warp.parked_at(); parked != kNone && groups <= kMostListed) {
      who += "; lanes of warp " + std::to_string(warp.index()) + " wait for these at line " +
             std::to_string(launch_->program->info[parked].line);
    }
  }
  if (groups > kMostListed) {
    who += "; and " + std::to_string(groups - kMostListed) + " more";
  }
  return who;
}

void Block::ReportStuck(const std::string& checker, const std::string& what) {
  for (const Warp& warp : warps_) {
    if (!warp.groups().empty()) {
      const LaneGroup& group = warp.groups().front();
      findings_.Add(
          *launch_, index_,
          warp.index() * kWarpSize + static_cast<std::uint32_t>(std::countr_zero(group.mask)),
          checker, what + DescribePositions(), group.pc, 0);
      return;
    }
  }
}

void Block::ReportDeadlock() { ReportStuck("deadlock", "waits forever: "); }

}  // namespace voltcheck::simulator
