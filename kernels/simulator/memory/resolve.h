#ifndef VOLTCHECK_KERNELS_SIMULATOR_MEMORY_RESOLVE_H_
#define VOLTCHECK_KERNELS_SIMULATOR_MEMORY_RESOLVE_H_

#include <cstdint>

#include "kernels/simulator/exec/observer.h"

namespace voltcheck::simulator {

/// Turns the addresses of one memory instruction into host pointers, lane by lane: what the fast
/// path of the handlers does not cover. `addresses` are 64-bit, with the instruction's offset
/// added, and valid for the lanes of context.mask. Throws Fault ("bounds" or "alignment") for the
/// first lane that misses.
void ResolveSlowly(ExecContext& context, const Instr& instr, const MemorySite& site,
                   const std::uint64_t* addresses, LanePointers& pointers);

/// Everything about an access but the fast path: resolves it unless `resolved`, logs it, tells the
/// observer.
void ResolveAndWatch(ExecContext& context, const Instr& instr, const MemorySite& site,
                     std::uint32_t address_operand, bool resolved, LanePointers& pointers);

/// The log of blocks that run side by side, for accesses that may go to global memory.
void LogAccess(ExecContext& context, const Instr& instr, const MemorySite& site,
               const LanePointers& pointers);

/// Tells the observer, splitting the lanes by the space that a generic access goes to.
void Observe(ExecContext& context, const Instr& instr, const MemorySite& site,
             const std::uint64_t* addresses, const LanePointers& pointers);

/// The 64-bit addresses of the lanes: the address row plus Instr::imm.
void LaneAddresses(const ExecContext& context, const Instr& instr, const MemorySite& site,
                   std::uint32_t address_operand, std::uint64_t* addresses);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_MEMORY_RESOLVE_H_
