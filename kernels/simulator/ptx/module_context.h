#ifndef VOLTCHECK_KERNELS_SIMULATOR_PTX_MODULE_CONTEXT_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PTX_MODULE_CONTEXT_H_

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/simulator/ptx/module.h"

namespace voltcheck::simulator::ptx {

/// The module while it is being parsed: what it holds so far, by name, and the budgets it has used.
struct ModuleContext {
  Module module;
  std::unordered_map<std::string, std::size_t> variables;  ///< name -> index into module.variables
  std::unordered_map<std::string, std::size_t> functions;  ///< name -> index into module.functions
  std::size_t registers = 0;
  std::size_t initial_bytes = 0;

  struct SymbolUse {
    std::string name;
    Location location;
  };
  /// Symbols in initialisers; they may be declared later in the file.
  std::vector<SymbolUse> initialiser_symbols;

  bool Has(const std::string& name) const {
    return variables.count(name) != 0 || functions.count(name) != 0;
  }
};

}  // namespace voltcheck::simulator::ptx

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PTX_MODULE_CONTEXT_H_
