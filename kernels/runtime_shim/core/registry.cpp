#include "kernels/runtime_shim/core/registry.h"

#include <dlfcn.h>

#include <cstring>
#include <span>

#include "fixtures/case/error.h"

namespace voltcheck::shim {
namespace {

/// nvcc's fatbinary_section.h.
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* data;
  const void* prelinked;  ///< version 2: a list of fat binaries that were to be linked
};

/// The program or library that holds `data`, without its folder.
std::string FileOf(const void* data) {
  Dl_info info;
  if (dladdr(data, &info) == 0 || info.dli_fname == nullptr) {
    return "program";
  }
  const std::string path = info.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::vector<FatImage> ReadImages(const std::string& name, const void* data) {
  const std::span<const std::byte> header(static_cast<const std::byte*>(data), 16);
  const std::uint64_t bytes = FatBinaryBytes(header);
  Require(bytes != 0, kInvalidImage, "no fat binary");
  try {
    return ReadFatBinary(name, {header.data(), bytes});
  } catch (const Error& error) {
    throw Refusal(kInvalidImage, error.what());
  }
}

void** Registry::RegisterFatBinary(const void* wrapper) {
  const auto* w = static_cast<const Wrapper*>(wrapper);
  auto module = std::make_unique<Module>();
  module->name = FileOf(wrapper) + "." + std::to_string(count_++) + ".ptx";
  module->data = w->magic == kFatWrapperMagic ? w->data : nullptr;
  Module* handle = module.get();
  modules_[handle] = std::move(module);
  return reinterpret_cast<void**>(handle);
}

Registry::Module& Registry::Resolve(void** handle) {
  const auto found = modules_.find(reinterpret_cast<Module*>(handle));
  Require(found != modules_.end(), kInvalidHandle);
  return *found->second;
}

void Registry::Unregister(void** handle) {
  Module& module = Resolve(handle);
  std::erase_if(functions_, [&](const auto& item) { return item.second.module == &module; });
  std::erase_if(variables_, [&](const auto& item) { return item.second.module == &module; });
  if (module.image != nullptr && module.generation == machine_.generation()) {
    machine_.Unload(module.image);
  }
  modules_.erase(&module);
}

void Registry::RegisterFunction(void** handle, const void* symbol, const char* name) {
  functions_[symbol] = {&Resolve(handle), name};
}

void Registry::RegisterVariable(void** handle, const void* symbol, const char* name) {
  variables_[symbol] = {&Resolve(handle), name};
}

void Registry::RegisterManaged(void** handle, void** pointer, const char* name) {
  Resolve(handle).managed.emplace_back(pointer, name);
  variables_[pointer] = {&Resolve(handle), name};
}

void Registry::Initialise(void** handle) {
  Module& module = Resolve(handle);
  if (!module.managed.empty()) {
    Load(module);
  }
}

LoadedImage& Registry::Load(Module& module) {
  if (module.image == nullptr || module.generation != machine_.generation()) {
    Require(module.data != nullptr, kInvalidImage, "no fat binary");
    module.image = machine_.Load(module.name, ReadImages(module.name, module.data));
    module.generation = machine_.generation();
    for (const auto& [pointer, name] : module.managed) {
      if (const auto variable = machine_.FindVariable(*module.image, name)) {
        *pointer = reinterpret_cast<void*>(variable->address);
      }
    }
  }
  return *module.image;
}

Function& Registry::FindFunction(const void* symbol) {
  const auto found = functions_.find(symbol);
  Require(found != functions_.end(), kInvalidDeviceFunction, "no kernel is registered for this");
  Function* function = machine_.FindFunction(Load(*found->second.module), found->second.name);
  Require(function != nullptr, kInvalidDeviceFunction, "the module has no such kernel");
  return *function;
}

simulator::ModuleVariable Registry::FindVariable(const void* symbol) {
  const auto found = variables_.find(symbol);
  Require(found != variables_.end(), kInvalidSymbol, "no variable is registered for this");
  const auto variable = machine_.FindVariable(Load(*found->second.module), found->second.name);
  Require(variable.has_value(), kInvalidSymbol, "the module has no such variable");
  return *variable;
}

}  // namespace voltcheck::shim
