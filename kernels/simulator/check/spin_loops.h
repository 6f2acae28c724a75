#ifndef VOLTCHECK_KERNELS_SIMULATOR_CHECK_SPIN_LOOPS_H_
#define VOLTCHECK_KERNELS_SIMULATOR_CHECK_SPIN_LOOPS_H_

#include <cstdint>
#include <vector>

#include "kernels/simulator/program/program.h"

namespace voltcheck::simulator {

/// The loops of a program in which threads wait: short ones that do nothing but look at memory,
/// try a lock (atom.cas against a constant, atom.exch) and sleep.
struct SpinLoops {
  /// By memory site: 1 if it looks at, or tries to take, one and the same word on every trip.
  std::vector<std::uint8_t> is_lock;
  /// By pc: the instruction that looks, in the loop around it; kNone elsewhere.
  std::vector<std::uint32_t> poll;
};

SpinLoops FindSpinLoops(const Program& program);

/// Which operand of a memory instruction is its address.
inline std::uint32_t AddressOperandOf(const MemorySite& site) {
  return site.atomic ? 1 : site.write ? 0 : site.vector;
}

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_CHECK_SPIN_LOOPS_H_
