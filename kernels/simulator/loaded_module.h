#ifndef VOLTCHECK_KERNELS_SIMULATOR_LOADED_MODULE_H_
#define VOLTCHECK_KERNELS_SIMULATOR_LOADED_MODULE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernels/simulator/exec/context.h"
#include "kernels/simulator/program/program.h"

namespace voltcheck::simulator {

class AddressSpace;

/// A module on a device: its program, its global variables in global memory, its const bank.
struct LoadedModule {
  std::unique_ptr<Program> program;
  std::vector<std::byte> constants;
  Window const_window() { return {constants.data(), constants.size()}; }
};

/// Parses and translates `ptx` and initialises its variables. `file` appears in messages.
/// Throws Error (status 2), "FILE:LINE:COLUMN: ...".
LoadedModule LoadPtx(const std::string& file, const std::string& ptx, AddressSpace& global,
                     bool track_writes);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_LOADED_MODULE_H_
