// Fuzz target of the PTX parser: any bytes either parse or throw one Error line, and what parses
// keeps the promises of module.h.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <unordered_set>

#include "fixtures/case/error.h"
#include "kernels/simulator/ptx/module.h"

namespace {

using voltcheck::simulator::ptx::Function;
using voltcheck::simulator::ptx::Module;
using voltcheck::simulator::ptx::Variable;

void Require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void CheckVariable(const Variable& variable) {
  Require(!variable.name.empty());
  Require(variable.alignment != 0 && (variable.alignment & (variable.alignment - 1)) == 0);
  Require(variable.initial.empty() || variable.initial.size() == variable.bytes());
  for (const auto& relocation : variable.relocations) {
    Require(relocation.offset + relocation.bytes <= variable.initial.size());
  }
}

void CheckFunction(const Function& function) {
  std::unordered_set<std::string> names;
  for (const auto* list : {&function.variables, &function.parameters, &function.returns}) {
    for (const Variable& variable : *list) {
      CheckVariable(variable);
      Require(function.declaration || names.insert(variable.name).second);
    }
  }
  for (const auto& [label, index] : function.labels) {
    Require(names.insert(label).second && index <= function.body.size());
  }
  for (const auto& [table, targets] : function.branch_targets) {
    for (const std::string& target : targets) {
      Require(!target.empty());
    }
  }
  for (const auto& instruction : function.body) {
    Require(!instruction.Mnemonic().empty() && instruction.location.line > 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Module module = voltcheck::simulator::ptx::ParseModule(
        "fuzz.ptx", std::string(reinterpret_cast<const char*>(data), size));
    for (const Variable& variable : module.variables) {
      CheckVariable(variable);
    }
    for (const Function& function : module.functions) {
      CheckFunction(function);
    }
  } catch (const voltcheck::Error& error) {
    const std::string line = error.what();
    Require(error.status() == voltcheck::ExitStatus::kBadInput);
    Require(line.rfind("fuzz.ptx:", 0) == 0 && line.find('\n') == std::string::npos);
  }
  return 0;
}
