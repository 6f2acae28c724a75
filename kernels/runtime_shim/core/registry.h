#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_REGISTRY_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_REGISTRY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/runtime_shim/core/machine.h"

namespace voltcheck::shim {

/// The fat binaries that nvcc's start-up code registers, and which host symbols stand for which
/// kernels and variables. A module is loaded when something of it is used.
class Registry {
 public:
  explicit Registry(Machine& machine) : machine_(machine) {}

  /// `wrapper` is nvcc's __fatBinC_Wrapper_t. The handle stays valid until Unregister.
  void** RegisterFatBinary(const void* wrapper);
  void Unregister(void** handle);
  void RegisterFunction(void** handle, const void* symbol, const char* name);
  void RegisterVariable(void** handle, const void* symbol, const char* name);
  /// `pointer` is set to the variable's address when the module is loaded.
  void RegisterManaged(void** handle, void** pointer, const char* name);
  /// Loads the module now: its managed variables are about to be used.
  void Initialise(void** handle);

  /// Throws Refusal: kInvalidDeviceFunction for a symbol that nobody registered, or what loading
  /// the module gives.
  Function& FindFunction(const void* symbol);
  /// Likewise, kInvalidSymbol.
  simulator::ModuleVariable FindVariable(const void* symbol);

 private:
  struct Module {
    std::string name;
    const void* data = nullptr;
    LoadedImage* image = nullptr;
    std::uint64_t generation = 0;  ///< of the machine, when it was loaded
    std::vector<std::pair<void**, std::string>> managed;
  };
  struct Symbol {
    Module* module = nullptr;
    std::string name;
  };
  LoadedImage& Load(Module& module);
  Module& Resolve(void** handle);

  Machine& machine_;
  std::map<Module*, std::unique_ptr<Module>> modules_;
  std::map<const void*, Symbol> functions_;
  std::map<const void*, Symbol> variables_;
  std::uint32_t count_ = 0;
};

/// The images of the fat binary at `data`, whose size its header tells. Throws Refusal
/// (kInvalidImage).
std::vector<FatImage> ReadImages(const std::string& name, const void* data);

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_REGISTRY_H_
