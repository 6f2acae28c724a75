#ifndef VOLTCHECK_KERNELS_SIMULATOR_EXEC_CONTEXT_H_
#define VOLTCHECK_KERNELS_SIMULATOR_EXEC_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "fixtures/case/case.h"
#include "kernels/simulator/program/program.h"

namespace voltcheck::simulator {

struct Allocation;
class AddressSpace;
class AccessObserver;
class BlockLog;

/// A lane did something that ends its block: out of bounds, misaligned, trap. Thrown by handlers,
/// caught by the warp, which knows kernel, block and line.
struct Fault {
  std::string checker;  ///< "bounds", "alignment", "trap", ...
  std::string message;
  std::uint32_t lane = 0;
  std::uint64_t address = 0;
};

/// A piece of host memory that stands for a window of an address space.
struct Window {
  std::byte* host = nullptr;
  std::uint64_t bytes = 0;
};

/// What a handler sees: the rows of the running lane group and the memory of its warp.
struct ExecContext {
  /// Row bases by RowBase, each lowered by its own number, so that base + ref is the row.
  std::uintptr_t bases[4] = {};
  std::uint32_t mask = 0;  ///< lanes that execute the instruction

  const Program* program = nullptr;
  Numerics numerics = Numerics::kV100;

  AddressSpace* global = nullptr;
  Allocation** site_cache = nullptr;  ///< by memory site: the allocation it hit last
  Window shared;
  Window constants;
  Window params;
  std::byte* local = nullptr;  ///< lane i's local memory at local + i * local_stride
  std::uint64_t local_bytes = 0;
  std::uint64_t local_stride = 0;

  BlockLog* log = nullptr;             ///< while blocks run side by side
  AccessObserver* observer = nullptr;  ///< null: no checker or tracker wants to see accesses
  /// Grows with everything a spinning lane does: volatile reads, atomics, acquire loads.
  std::uint64_t messages = 0;
  /// Grows with everything that may change global memory under a spinning block's eyes.
  std::uint64_t changes = 0;
  const Instr* matrix_done = nullptr;  ///< a matrix instruction that ran with the one before it
  std::uint64_t matrix_instructions = 0;
  std::uint64_t matrix_zero_rows = 0;  ///< rows of A that matrix instructions left out, being zeros
  std::uint64_t clock = 0;             ///< instructions this warp executed before `run`, for %clock
  const Instr* run = nullptr;  ///< where the straight-line code that is being executed began
  std::uint32_t warp = 0;      ///< index in the block

  template <typename T>
  T* Row(Ref ref) const {
    return reinterpret_cast<T*>(bases[ref & 3u] + ref);
  }
  void SetBase(RowBase base, const void* rows) {
    const auto index = static_cast<std::uint32_t>(base);
    bases[index] = reinterpret_cast<std::uintptr_t>(rows) - index;
  }
  std::uint32_t PcOf(const Instr& instr) const {
    return static_cast<std::uint32_t>(&instr - program->code.data());
  }
};

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_EXEC_CONTEXT_H_
