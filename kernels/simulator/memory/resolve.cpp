#include "kernels/simulator/memory/resolve.h"

#include <cinttypes>
#include <cstdio>
#include <string>

#include "kernels/simulator/memory/address_space.h"
#include "kernels/simulator/memory/block_log.h"
#include "kernels/simulator/program/rows.h"

namespace voltcheck::simulator {
namespace {

std::string Hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%" PRIx64, value);
  return text;
}

const char* NameOf(Space space) {
  switch (space) {
    case Space::kShared:
      return "shared";
    case Space::kLocal:
      return "local";
    case Space::kConst:
      return "const";
    case Space::kParam:
      return "parameter";
    default:
      return "global";
  }
}

/// The space an address of a generic access lies in, and its offset there.
Space SpaceOf(Space space, std::uint64_t address, std::uint64_t& offset) {
  offset = address;
  if (space != Space::kGeneric) {
    return space;
  }
  static constexpr std::pair<std::uint64_t, Space> windows[] = {{kSharedWindow, Space::kShared},
                                                                {kLocalWindow, Space::kLocal},
                                                                {kConstWindow, Space::kConst},
                                                                {kParamWindow, Space::kParam}};
  for (const auto& [base, window] : windows) {
    if (address - base < kWindowBytes) {
      offset = address - base;
      return window;
    }
  }
  return Space::kGlobal;
}

std::string What(const MemorySite& site, Space space) {
  const std::string kind = site.atomic ? "atomic on " : site.write ? "write of " : "read of ";
  const int bytes = site.bytes * site.vector;
  return kind + std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes") + " in " + NameOf(space) +
         " memory";
}

[[noreturn]] void Miss(const MemorySite& site, Space space, std::uint32_t lane,
                       std::uint64_t address, const std::string& what) {
  throw Fault{"bounds", What(site, space) + " at " + Hex(address) + " is out of bounds: " + what,
              lane, address};
}

std::byte* InWindow(const MemorySite& site, Space space, const Window& window, std::uint32_t lane,
                    std::uint64_t offset) {
  const std::uint64_t bytes = std::uint64_t{site.bytes} * site.vector;
  if (offset > window.bytes || window.bytes - offset < bytes) {
    const std::string size = std::to_string(window.bytes);
    Miss(site, space, lane, offset,
         window.bytes == 0 ? "there is none"
         : offset >= (std::uint64_t{1} << 63)
             ? std::to_string(0 - offset) + " bytes before its beginning"
             : std::to_string(offset + bytes - window.bytes) + " bytes past its end (" + size +
                   " bytes)");
  }
  return window.host + offset;
}

}  // namespace

void LaneAddresses(const ExecContext& context, const Instr& instr, const MemorySite& site,
                   std::uint32_t address_operand, std::uint64_t* addresses) {
  const Ref ref = instr.op[address_operand];
  const auto offset = static_cast<std::uint64_t>(instr.imm);
  if (site.wide_address) {
    const auto* row = context.Row<const std::uint64_t>(ref);
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
      addresses[lane] = row[lane] + offset;
    }
  } else {
    const auto* row = context.Row<const std::uint32_t>(ref);
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
      addresses[lane] = static_cast<std::uint32_t>(row[lane] + offset);
    }
  }
}

void ResolveSlowly(ExecContext& context, const Instr& instr, const MemorySite& site,
                   const std::uint64_t* addresses, LanePointers& pointers) {
  const std::uint64_t bytes = std::uint64_t{site.bytes} * site.vector;
  Allocation* allocation = context.site_cache[instr.aux];
  const Allocation* noted = nullptr;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((context.mask >> lane & 1) == 0) {
      continue;
    }
    const std::uint64_t address = addresses[lane];
    std::uint64_t offset = 0;
    const Space space = SpaceOf(site.space, address, offset);
    if ((address & (bytes - 1)) != 0) {  // a power of two
      throw Fault{"alignment",
                  What(site, space) + " at " + Hex(address) + " is not aligned to " +
                      std::to_string(bytes) + " bytes",
                  lane, address};
    }
    switch (space) {
      case Space::kShared:
        pointers.host[lane] = InWindow(site, space, context.shared, lane, offset);
        break;
      case Space::kConst:
        pointers.host[lane] = InWindow(site, space, context.constants, lane, offset);
        break;
      case Space::kParam:
        pointers.host[lane] = InWindow(site, space, context.params, lane, offset);
        break;
      case Space::kLocal: {
        const Window own{context.local + lane * context.local_stride, context.local_bytes};
        pointers.host[lane] = InWindow(site, space, own, lane, offset);
        break;
      }
      default: {
        if (allocation == nullptr || address - allocation->base >= allocation->bytes) {
          allocation = context.global->Find(address);
        }
        if (allocation == nullptr || allocation->bytes - (address - allocation->base) < bytes) {
          Miss(site, space, lane, address, context.global->DescribeMiss(address, bytes));
        }
        pointers.host[lane] = allocation->host + (address - allocation->base);
        if (context.log != nullptr && !site.write && allocation != noted) {
          context.log->NoteRead(allocation);
          noted = allocation;
        }
        break;
      }
    }
    if (site.write && (space == Space::kConst || space == Space::kParam ||
                       (space == Space::kGlobal && allocation->read_only))) {
      Miss(site, space, lane, address, "it is read-only");
    }
  }
  context.site_cache[instr.aux] = allocation;
}

void LogAccess(ExecContext& context, const Instr& instr, const MemorySite& site,
               const LanePointers& pointers) {
  if ((site.space == Space::kGlobal || site.space == Space::kGeneric) &&
      (site.write || context.log->logs_reads())) {
    context.log->OnAccess(context, context.site_cache[instr.aux], site, pointers);
  }
}

void ResolveAndWatch(ExecContext& context, const Instr& instr, const MemorySite& site,
                     std::uint32_t address_operand, bool resolved, LanePointers& pointers) {
  if (resolved && context.observer == nullptr) {
    if (context.log != nullptr) {
      LogAccess(context, instr, site, pointers);
    }
    return;
  }
  std::uint64_t addresses[kWarpSize];
  LaneAddresses(context, instr, site, address_operand, addresses);
  if (!resolved) {
    ResolveSlowly(context, instr, site, addresses, pointers);
  }
  if (context.log != nullptr) {
    LogAccess(context, instr, site, pointers);
  }
  if (context.observer != nullptr) {
    Observe(context, instr, site, addresses, pointers);
  }
}

void Observe(ExecContext& context, const Instr& instr, const MemorySite& site,
             const std::uint64_t* addresses, const LanePointers& pointers) {
  if (context.mask == 0) {
    return;
  }
  if (site.space != Space::kGeneric) {
    if (site.space != Space::kConst && site.space != Space::kParam) {
      context.observer->OnAccess(context, instr, site, site.space, addresses, pointers);
    }
    return;
  }
  std::uint32_t masks[6] = {};
  std::uint64_t offsets[kWarpSize] = {};
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((context.mask >> lane & 1) != 0) {
      masks[static_cast<std::size_t>(SpaceOf(Space::kGeneric, addresses[lane], offsets[lane]))] |=
          1u << lane;
    }
  }
  const std::uint32_t mask = context.mask;
  for (const Space space : {Space::kGlobal, Space::kShared, Space::kLocal}) {
    context.mask = masks[static_cast<std::size_t>(space)];
    if (context.mask != 0) {
      context.observer->OnAccess(context, instr, site, space, offsets, pointers);
    }
  }
  context.mask = mask;
}

}  // namespace voltcheck::simulator
