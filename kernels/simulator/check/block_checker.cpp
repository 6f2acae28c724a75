#include "kernels/simulator/check/block_checker.h"

#include <algorithm>
#include <bit>

#include "kernels/simulator/check/findings.h"
#include "kernels/simulator/memory/address_space.h"
#include "kernels/simulator/schedule/footprint.h"

namespace voltcheck::simulator {
namespace {

std::string Bytes(std::uint64_t n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); }

std::uint64_t AccessBytes(const MemorySite& site) {
  return std::uint64_t{site.bytes} * site.vector;
}

/// The smallest access of the program to shared memory: every access is a multiple of it.
std::uint32_t SharedGranule(const Program& program) {
  std::uint32_t granule = 16;
  for (const MemorySite& site : program.memory) {
    if (site.space == Space::kShared || site.space == Space::kGeneric) {
      granule = std::min<std::uint32_t>(granule, std::uint32_t{site.bytes} * site.vector);
    }
  }
  return granule;
}

template <typename F>
void ForLanes(std::uint32_t mask, const F& f) {
  for (std::uint32_t bits = mask; bits != 0; bits &= bits - 1) {
    f(static_cast<std::uint32_t>(std::countr_zero(bits)));
  }
}

}  // namespace

bool BlockChecker::Wanted(const LaunchState& launch) {
  const Checks& checks = launch.options.checks;
  return checks.uninitialised || checks.shared_races || checks.counters || checks.leaked_locks ||
         launch.global_races != nullptr || launch.footprint != nullptr;
}

void BlockChecker::Start(const LaunchState& launch, std::uint64_t block, FindingList& findings) {
  launch_ = &launch;
  block_ = block;
  findings_ = &findings;
  bank_conflicts_ = 0;
  global_sectors_ = 0;
  const Checks& checks = launch.options.checks;
  if (checks.uninitialised) {
    shared_written_.Reset(launch.shared_bytes());
    local_.clear();
    local_.resize(launch.warps());
  }
  if (checks.shared_races) {
    races_.Start(launch.shared_bytes(), SharedGranule(*launch.program), launch.warps());
  }
  order_.Start(launch, block, findings);
}

void BlockChecker::OnAccess(ExecContext& context, const Instr& instr, const MemorySite& site,
                            Space space, const std::uint64_t* addresses,
                            const LanePointers& pointers) {
  const Checks& checks = launch_->options.checks;
  const auto bytes = static_cast<std::uint32_t>(AccessBytes(site));
  const bool consecutive = AreConsecutive(addresses, context.mask, bytes);
  if (launch_->footprint != nullptr && space != Space::kLocal) {
    launch_->footprint->Add(context, instr, site, pointers);
  }
  switch (space) {
    case Space::kGlobal:
      if (checks.counters) {
        global_sectors_ += consecutive
                               ? (addresses[0] + kWarpSize * bytes - 1) / 32 - addresses[0] / 32 + 1
                               : Sectors(addresses, context.mask);
      }
      CheckGlobal(context, instr, site, addresses, consecutive);
      order_.OnGlobal(context, instr, site, addresses, pointers);
      break;
    case Space::kShared:
      if (checks.counters && !consecutive) {  // those have none
        bank_conflicts_ += BankConflicts(addresses, context.mask, bytes);
      }
      CheckShared(context, instr, site, addresses, consecutive);
      order_.OnShared(context, instr, site, addresses, pointers);
      break;
    default:
      CheckLocal(context, instr, site, addresses);
      return;
  }
  if (checks.shared_races && site.write && !site.atomic && !consecutive) {
    CheckOverlap(context, instr, site, addresses);
  }
}

template <typename Message>
void BlockChecker::Report(const ExecContext& context, const Instr& instr, std::uint32_t lane,
                          const char* checker, const Message& message, std::uint64_t address) {
  const std::uint32_t pc = context.PcOf(instr);
  if (!findings_->Repeat(checker, pc)) {
    findings_->Add(*launch_, block_, context.warp * kWarpSize + lane, checker, message(), pc,
                   address);
  }
}

void BlockChecker::CheckGlobal(ExecContext& context, const Instr& instr, const MemorySite& site,
                               const std::uint64_t* addresses, bool consecutive) {
  if (!launch_->options.checks.uninitialised) {
    return;
  }
  const std::uint64_t bytes = AccessBytes(site);
  const Allocation* allocation = context.site_cache[instr.aux];
  if (consecutive && allocation != nullptr && allocation->written != nullptr &&
      addresses[0] - allocation->base < allocation->bytes && !site.atomic) {
    const std::uint64_t offset = addresses[0] - allocation->base;  // one piece, in one allocation
    if (site.write) {
      allocation->written->Add(offset, kWarpSize * bytes);
      return;
    }
    if (allocation->written->HasAll(offset, kWarpSize * bytes)) {
      return;
    }
  }
  ForLanes(context.mask, [&](std::uint32_t lane) {
    const std::uint64_t address = addresses[lane];
    if (allocation == nullptr || address - allocation->base >= allocation->bytes) {
      allocation = context.global->Find(address);
    }
    if (allocation->written == nullptr) {
      return;
    }
    const std::uint64_t offset = address - allocation->base;
    if (!site.write || site.atomic) {
      const std::uint64_t missing = allocation->written->FirstMissing(offset, bytes);
      if (missing != bytes) {
        Report(
            context, instr, lane, "uninitialised",
            [&] {
              return "reads " + Bytes(bytes) + " of `" + allocation->name + "` at offset " +
                     std::to_string(offset) + ", where byte " + std::to_string(offset + missing) +
                     " was never written";
            },
            address);
      }
    }
    if (site.write) {
      allocation->written->Add(offset, bytes);
    }
  });
}

void BlockChecker::CheckShared(ExecContext& context, const Instr& instr, const MemorySite& site,
                               const std::uint64_t* addresses, bool consecutive) {
  const std::uint64_t bytes = AccessBytes(site);
  if (!launch_->options.checks.uninitialised) {
  } else if (consecutive && site.write && !site.atomic) {
    shared_written_.Add(addresses[0], kWarpSize * bytes);
  } else if (!consecutive || !shared_written_.HasAll(addresses[0], kWarpSize * bytes)) {
    ForLanes(context.mask, [&](std::uint32_t lane) {
      const std::uint64_t offset = addresses[lane];
      if ((!site.write || site.atomic) && !shared_written_.HasAll(offset, bytes)) {
        Report(
            context, instr, lane, "uninitialised",
            [&] {
              return "reads " + Bytes(bytes) + " of shared memory at offset " +
                     std::to_string(offset) + ", where byte " +
                     std::to_string(offset + shared_written_.FirstMissing(offset, bytes)) +
                     " was never written";
            },
            offset);
      }
      if (site.write) {
        shared_written_.Add(offset, bytes);
      }
    });
  }
  if (launch_->options.checks.shared_races) {
    CheckRaces(context, instr, site, addresses, consecutive);
  }
}

void BlockChecker::CheckRaces(ExecContext& context, const Instr& instr, const MemorySite& site,
                              const std::uint64_t* addresses, bool consecutive) {
  const std::uint64_t bytes = AccessBytes(site);
  SharedRaces::Access access;
  access.warp = context.warp;
  access.pc = context.PcOf(instr);
  access.write = site.write;
  access.read = !site.write || site.atomic;
  access.strong = site.ordered;
  access.acquire = site.acquire;
  access.release = site.release;
  // Lanes of one instruction that write the same bytes are CheckOverlap's business.
  std::uint32_t seen_by_other_lane = 0;
  if (site.write && !site.atomic && !consecutive && MayRepeat(addresses, context.mask)) {
    ForLanes(context.mask, [&](std::uint32_t lane) {
      for (std::uint32_t other = 0; other < lane; ++other) {
        if ((context.mask >> other & 1) != 0 && addresses[other] == addresses[lane]) {
          seen_by_other_lane |= 1u << lane;
        }
      }
    });
  }
  ForLanes(context.mask & ~seen_by_other_lane, [&](std::uint32_t lane) {
    access.lane = lane;
    SharedRaces::Race race;
    if (races_.OnAccess(access, addresses[lane], bytes, race)) {
      const InstrInfo& other = launch_->program->info[race.other_pc];
      Report(
          context, instr, lane, "race",
          [&] {
            return std::string(site.write ? "writes" : "reads") + " shared memory at offset " +
                   std::to_string(addresses[lane]) + ", which thread " +
                   ThreadName(race.other_thread) + (race.other_write ? " wrote" : " read") +
                   " at line " + std::to_string(other.line) + " (" +
                   launch_->program->texts[other.text] + ") with no " +
                   (race.same_warp ? "bar.warp.sync or barrier" : "barrier or flag") + " between";
          },
          addresses[lane]);
    }
  });
}

void BlockChecker::CheckOverlap(ExecContext& context, const Instr& instr, const MemorySite& site,
                                const std::uint64_t* addresses) {
  const auto differ = [&](std::uint32_t a, std::uint32_t b) {
    for (std::uint32_t v = 0; v < site.vector; ++v) {
      const Ref ref = instr.op[1 + v];
      if (site.register_bits == 64
              ? context.Row<const std::uint64_t>(ref)[a] != context.Row<const std::uint64_t>(ref)[b]
              : context.Row<const std::uint32_t>(ref)[a] !=
                    context.Row<const std::uint32_t>(ref)[b]) {
        return true;
      }
    }
    return false;
  };
  if (!MayRepeat(addresses, context.mask)) {
    return;
  }
  ForLanes(context.mask, [&](std::uint32_t lane) {
    for (std::uint32_t other = 0; other < lane; ++other) {
      if ((context.mask >> other & 1) != 0 && addresses[other] == addresses[lane] &&
          differ(other, lane)) {
        Report(
            context, instr, lane, "race",
            [&] {
              return "and lane " + std::to_string(other) +
                     " of the same warp write different values to one address in one instruction";
            },
            addresses[lane]);
        return;
      }
    }
  });
}

ByteSet& BlockChecker::LocalSet(const ExecContext& context) {
  LocalSpace& space = local_[context.warp];
  if (space.lane_bytes < context.local_stride) {
    ByteSet larger(context.local_stride * kWarpSize);
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
      for (std::uint64_t byte = 0; byte < space.lane_bytes; ++byte) {
        if (space.written.HasAll(lane * space.lane_bytes + byte, 1)) {
          larger.Add(lane * context.local_stride + byte, 1);
        }
      }
    }
    space.written = std::move(larger);
    space.lane_bytes = context.local_stride;
  }
  return space.written;
}

void BlockChecker::CheckLocal(ExecContext& context, const Instr& instr, const MemorySite& site,
                              const std::uint64_t* addresses) {
  if (!launch_->options.checks.uninitialised) {
    return;
  }
  const std::uint64_t bytes = AccessBytes(site);
  ByteSet& written = LocalSet(context);
  ForLanes(context.mask, [&](std::uint32_t lane) {
    const std::uint64_t begin = lane * context.local_stride + addresses[lane];
    if (site.write) {
      written.Add(begin, bytes);
    } else if (!written.HasAll(begin, bytes)) {
      Report(
          context, instr, lane, "uninitialised",
          [&] {
            return "reads " + Bytes(bytes) + " of local memory at offset " +
                   std::to_string(addresses[lane]) + " that were never written";
          },
          addresses[lane]);
    }
  });
}

void BlockChecker::OnLocalWrite(ExecContext& context, std::uint32_t mask, std::uint64_t offset,
                                std::uint64_t bytes) {
  if (launch_->options.checks.uninitialised) {
    ByteSet& written = LocalSet(context);
    ForLanes(mask,
             [&](std::uint32_t lane) { written.Add(lane * context.local_stride + offset, bytes); });
  }
}

void BlockChecker::OnFence(ExecContext& context, const Instr& instr) {
  constexpr std::int64_t kWarpSync = 2;
  if (launch_->options.checks.shared_races) {
    if (instr.imm == kWarpSync) {
      races_.OnWarpSync(context.warp);
    } else {
      races_.OnFence(context.warp);
    }
  }
  order_.OnFence(context, instr);
}

void BlockChecker::OnArrive(std::uint32_t barrier, std::uint32_t warp, std::uint32_t mask,
                            bool waits) {
  if (launch_->options.checks.shared_races) {
    races_.OnArrive(barrier, warp, waits);
  }
  order_.OnArrive(barrier, warp, mask, waits);
}

void BlockChecker::OnRelease(std::uint32_t barrier, const std::vector<std::uint32_t>& waiting,
                             bool whole) {
  if (launch_->options.checks.shared_races) {
    races_.OnRelease(barrier, waiting, whole);
  }
  order_.OnRelease(barrier, whole);
}

std::string BlockChecker::ThreadName(std::uint32_t thread) const {
  const kernels::Dim3 at = CoordinatesOf(thread, launch_->block);
  return "(" + std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z) + ")";
}

}  // namespace voltcheck::simulator
