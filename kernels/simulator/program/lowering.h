#ifndef VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_LOWERING_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_LOWERING_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "kernels/simulator/program/program.h"
#include "kernels/simulator/ptx/module.h"

namespace voltcheck::simulator {

/// Where a module-level variable lives: the global address, or the offset in the const bank or in
/// shared memory.
struct Symbol {
  ptx::StateSpace space = ptx::StateSpace::kGlobal;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool dynamic_shared =
      false;  ///< `extern .shared x[]`: begins behind the kernel's static shared memory
};
using SymbolTable = std::map<std::string, Symbol>;

/// Adds the module-level .shared variables to `symbols`: static ones from 0 up, in order. Returns
/// their end. Throws Error (status 2) beyond 4 GiB.
std::uint64_t LayOutShared(const ptx::Module& module, SymbolTable& symbols);

/// Translates a module. `symbols` holds every module-level variable.
///
/// Throws Error (status 2), "FILE:LINE:COLUMN: instruction `...` what; what to do", for an
/// instruction that the simulator does not know or whose operands do not fit it.
std::unique_ptr<Program> Lower(const ptx::Module& module, const SymbolTable& symbols);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_LOWERING_H_
