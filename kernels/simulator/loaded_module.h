#ifndef VOLTCHECK_KERNELS_SIMULATOR_LOADED_MODULE_H_
#define VOLTCHECK_KERNELS_SIMULATOR_LOADED_MODULE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/simulator/exec/context.h"
#include "kernels/simulator/module_cache.h"

namespace voltcheck::simulator {

class AddressSpace;

/// A module-level variable in global memory, where the const bank lies as well: kernels read it
/// through the const window, the host by its global address.
struct PlacedVariable {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// A module on a device: its program, its variables in global memory.
struct LoadedModule {
  std::shared_ptr<const Translation> code;
  std::map<std::string, PlacedVariable> variables;
  std::vector<std::uint64_t> allocations;  ///< base addresses of what it holds
  Window constants;
};

/// Parses and translates `ptx` and initialises its variables. `file` appears in messages.
/// Throws Error (status 2), "FILE:LINE:COLUMN: ...", also for a `.target` newer than sm_`newest`,
/// which a driver refuses as well. Modules without variables of their own in
/// global or constant memory come to the same on every device: their translation is kept for the
/// next device that loads the text.
LoadedModule LoadPtx(const std::string& file, const std::string& ptx, AddressSpace& global,
                     bool track_writes, std::uint32_t newest);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_LOADED_MODULE_H_
