#include "kernels/simulator/loaded_module.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "fixtures/case/error.h"
#include "kernels/simulator/memory/address_space.h"
#include "kernels/simulator/program/lowering.h"
#include "kernels/simulator/program/rows.h"
#include "kernels/simulator/program/runtime.h"
#include "kernels/simulator/ptx/module.h"

namespace voltcheck::simulator {
namespace {

constexpr std::uint64_t kConstBankBytes = 64 * 1024;
/// The modules of the build, and as many of others.
constexpr std::size_t kCachedModules = 80;

std::string Place(const ptx::Module& module, const ptx::Location& location) {
  return module.file + ":" + std::to_string(location.line) + ":" + std::to_string(location.column);
}

std::uint64_t AlignUp(std::uint64_t value, std::uint64_t alignment) {
  return alignment <= 1 ? value : (value + alignment - 1) / alignment * alignment;
}

/// Gives every module-level variable its place.
SymbolTable PlaceVariables(const ptx::Module& module, AddressSpace& global, bool track_writes,
                           LoadedModule& loaded) {
  SymbolTable symbols;
  LayOutShared(module, symbols);
  std::uint64_t const_end = 0;
  for (const ptx::Variable& v : module.variables) {
    if (v.space == ptx::StateSpace::kShared) {
      continue;
    }
    if (v.external && v.initial.empty()) {
      throw BadInput(Place(module, v.location), "variable " + v.name + " is external",
                     "link the module that defines it into the PTX");
    }
    if (v.space == ptx::StateSpace::kConst) {
      const_end = AlignUp(const_end, v.alignment);
      symbols[v.name] = {v.space, const_end, v.bytes(), false};
      const_end += v.bytes();
      if (const_end > kConstBankBytes) {
        throw BadInput(Place(module, v.location), "constant variables need more than 64 KiB",
                       "make some of them .global");
      }
      continue;
    }
    Allocation* allocation = v.managed ? global.AllocateShared(v.bytes(), v.name)
                                       : global.Allocate(v.bytes(), v.name, track_writes);
    loaded.allocations.push_back(allocation->base);
    loaded.variables[v.name] = {allocation->base, v.bytes()};
    if (allocation->written != nullptr) {
      allocation->written->Add(0, v.bytes());  // variables without initialiser are zero
    }
    symbols[v.name] = {v.space, allocation->base, v.bytes(), false};
  }
  if (const_end != 0) {
    Allocation* bank = global.Allocate(const_end, "constant variables", false);
    bank->read_only = true;
    loaded.allocations.push_back(bank->base);
    loaded.constants = {bank->host, const_end};
    for (const auto& [name, symbol] : symbols) {
      if (symbol.space == ptx::StateSpace::kConst) {
        loaded.variables[name] = {bank->base + symbol.address, symbol.bytes};
      }
    }
  }
  return symbols;
}

std::uint64_t AddressOf(const ptx::Module& module, const ptx::Variable& variable,
                        const ptx::Relocation& relocation, const SymbolTable& symbols) {
  const auto symbol = symbols.find(relocation.symbol);
  if (symbol == symbols.end()) {
    std::uint64_t index = 0;  // functions with a body are numbered in order, as Lower does
    for (const ptx::Function& function : module.functions) {
      if (function.declaration) {
        continue;
      }
      if (function.name == relocation.symbol) {
        return kCodeWindow + index * kCodeStride;
      }
      ++index;
    }
    throw BadInput(Place(module, variable.location),
                   variable.name + " is initialised with the address of " + relocation.symbol,
                   "which has no body in this module");
  }
  std::uint64_t window = 0;
  if (relocation.generic) {
    window = symbol->second.space == ptx::StateSpace::kConst    ? kConstWindow
             : symbol->second.space == ptx::StateSpace::kShared ? kSharedWindow
                                                                : 0;
  }
  return window + symbol->second.address;
}

void Initialise(const ptx::Module& module, const SymbolTable& symbols, AddressSpace& global,
                LoadedModule& loaded) {
  for (const ptx::Variable& v : module.variables) {
    if (v.space == ptx::StateSpace::kShared) {
      continue;
    }
    const Symbol& symbol = symbols.at(v.name);
    std::byte* host = v.space == ptx::StateSpace::kConst ? loaded.constants.host + symbol.address
                                                         : global.Find(symbol.address)->host;
    std::copy(v.initial.begin(), v.initial.end(), host);
    for (const ptx::Relocation& relocation : v.relocations) {
      const std::uint64_t value = (AddressOf(module, v, relocation, symbols) +
                                   static_cast<std::uint64_t>(relocation.addend)) >>
                                  relocation.shift;
      std::memcpy(host + relocation.offset, &value, std::min<std::size_t>(relocation.bytes, 8));
    }
  }
}

/// "sm_120a" is newer than "sm_90"; what is no such name is for the driver to judge.
void CheckTarget(const std::string& target, const std::string& place, std::uint32_t newest) {
  constexpr std::string_view kPrefix = "sm_";
  std::uint32_t architecture = 0;
  if (!target.starts_with(kPrefix)) {
    return;
  }
  std::from_chars(target.data() + kPrefix.size(), target.data() + target.size(), architecture);
  if (architecture > newest) {
    const std::string most = std::to_string(newest);
    throw BadInput(place, "is for " + target + ", which an sm_" + most + " does not load",
                   "compile it for compute_" + most + " or lower");
  }
}

}  // namespace

LoadedModule LoadPtx(const std::string& file, const std::string& ptx, AddressSpace& global,
                     bool track_writes, std::uint32_t newest) {
  static ModuleCache cache(kCachedModules);
  LoadedModule loaded;
  loaded.code = cache.Find(file, ptx);
  if (loaded.code != nullptr) {
    CheckTarget(loaded.code->target, loaded.code->target_place, newest);
    return loaded;
  }
  ptx::Module module = ptx::ParseModule(file, ptx);
  const std::string target_place = Place(module, module.target_location);
  CheckTarget(module.target, target_place, newest);
  LinkRuntime(module);
  const SymbolTable symbols = PlaceVariables(module, global, track_writes, loaded);
  auto code = std::make_shared<Translation>();
  code->target = module.target;
  code->target_place = target_place;
  code->program = Lower(module, symbols);
  code->spins = FindSpinLoops(*code->program);
  loaded.code = code;
  Initialise(module, symbols, global, loaded);
  if (loaded.allocations.empty()) {
    cache.Keep(file, ptx, loaded.code);
  }
  return loaded;
}

}  // namespace voltcheck::simulator
