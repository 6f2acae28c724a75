#include "kernels/simulator/program/lowering.h"

#include <algorithm>
#include <set>

#include "fixtures/case/error.h"
#include "kernels/simulator/program/function_lowering.h"

namespace voltcheck::simulator {
namespace {

constexpr std::uint64_t kSharedLimit = std::uint64_t{1} << 31;

void CollectNames(const ptx::Operand& operand, std::set<std::string>& names) {
  if (operand.kind == ptx::Operand::Kind::kSymbol) {
    names.insert(operand.name);
  }
  for (const ptx::Operand& element : operand.elements) {
    CollectNames(element, names);
  }
}

std::set<std::string> NamesIn(const ptx::Function& function) {
  std::set<std::string> names;
  for (const ptx::Instruction& instruction : function.body) {
    for (const ptx::Operand& operand : instruction.operands) {
      CollectNames(operand, names);
    }
  }
  return names;
}

std::uint64_t SharedEnd(const std::set<std::string>& names, const SymbolTable& symbols) {
  std::uint64_t end = 0;
  for (const auto& [name, symbol] : symbols) {
    if (symbol.space == ptx::StateSpace::kShared && !symbol.dynamic_shared &&
        names.count(name) != 0) {
      end = std::max(end, symbol.address + symbol.bytes);
    }
  }
  return end;
}

/// Shared memory that the device functions need, whoever calls them.
std::uint64_t DeviceFunctionShared(const ptx::Module& module, const SymbolTable& symbols) {
  std::uint64_t end = 0;
  for (const ptx::Function& function : module.functions) {
    if (!function.entry) {
      end = std::max(end, SharedEnd(NamesIn(function), symbols));
      for (const ptx::Variable& v : function.variables) {
        const auto own = symbols.find(function.name + "::" + v.name);
        if (own != symbols.end()) {
          end = std::max(end, own->second.address + own->second.bytes);
        }
      }
    }
  }
  return end;
}

void AddShared(const ptx::Module& module, const ptx::Variable& v, const std::string& name,
               std::uint64_t& end, SymbolTable& symbols) {
  if (v.elements == 0 || v.external) {
    symbols[name] = {ptx::StateSpace::kShared, 0, 0, true};
    return;
  }
  const std::uint64_t alignment = std::max<std::uint64_t>(v.alignment, 1);
  end = (end + alignment - 1) / alignment * alignment;
  symbols[name] = {ptx::StateSpace::kShared, end, v.bytes(), false};
  end += v.bytes();
  if (end > kSharedLimit) {
    throw BadInput(module.file + ":" + std::to_string(v.location.line) + ":" +
                       std::to_string(v.location.column),
                   "shared variable " + v.name + " does not fit", "a block has at most 96 KiB");
  }
}

}  // namespace

std::uint64_t LayOutShared(const ptx::Module& module, SymbolTable& symbols) {
  std::uint64_t end = 0;
  for (const ptx::Variable& v : module.variables) {
    if (v.space == ptx::StateSpace::kShared) {
      AddShared(module, v, v.name, end, symbols);
    }
  }
  for (const ptx::Function& function : module.functions) {
    if (function.entry) {
      continue;
    }
    for (const ptx::Variable& v : function.variables) {
      if (v.space == ptx::StateSpace::kShared) {
        AddShared(module, v, function.name + "::" + v.name, end, symbols);
      }
    }
  }
  return end;
}

std::unique_ptr<Program> Lower(const ptx::Module& module, const SymbolTable& symbols) {
  auto program = std::make_unique<Program>();
  program->file = module.file;
  program->source_files = module.source_files;
  ModuleLowering shared;
  shared.module = &module;
  shared.symbols = &symbols;
  shared.program = program.get();
  shared.constants[{kFullMask, 1}] = kTrue;
  program->constants.resize(1);
  std::fill(std::begin(program->constants[0].bytes), std::end(program->constants[0].bytes),
            std::byte{0xff});

  std::vector<const ptx::Function*> bodies;
  for (const ptx::Function& function : module.functions) {
    if (!function.declaration) {
      shared.function_index[function.name] = static_cast<std::uint32_t>(bodies.size());
      bodies.push_back(&function);
      FunctionCode code;
      code.name = function.name;
      code.entry = function.entry;
      code.max_threads = function.max_threads;
      std::copy(std::begin(function.required_threads), std::end(function.required_threads),
                std::begin(code.required_threads));
      program->functions.push_back(std::move(code));
    }
  }

  const std::uint64_t device_shared = DeviceFunctionShared(module, symbols);
  std::vector<FunctionLowering> device_functions;
  device_functions.reserve(bodies.size());
  RowCounts most{};
  for (std::uint32_t f = 0; f < bodies.size(); ++f) {
    if (!bodies[f]->entry) {
      shared.module_shared_end = 0;
      device_functions.emplace_back(shared, *bodies[f], f);
      device_functions.back().Translate();
      for (std::size_t c = 0; c < kRowClasses; ++c) {
        most[c] = std::max(most[c], device_functions.back().counts()[c]);
      }
    }
  }
  // Lanes of one warp may be in different functions at one call depth: all frames below an entry
  // have one layout, so that a row is a row of the same width in each of them.
  const FrameLayout common = LayOutFrame(most);
  program->call_frame_bytes = common.bytes;
  for (FunctionLowering& lowering : device_functions) {
    lowering.FinishFrame(common);
  }
  for (std::uint32_t f = 0; f < bodies.size(); ++f) {
    if (bodies[f]->entry) {
      shared.module_shared_end = std::max(device_shared, SharedEnd(NamesIn(*bodies[f]), symbols));
      program->functions[f].static_shared_bytes =
          static_cast<std::uint32_t>(shared.module_shared_end);
      FunctionLowering lowering(shared, *bodies[f], f);
      lowering.Translate();
      lowering.FinishFrame(LayOutFrame(lowering.counts()));
      FunctionCode& code = program->functions[f];
      code.dynamic_shared_offset = (code.static_shared_bytes + 15) / 16 * 16;
    }
  }
  return program;
}

}  // namespace voltcheck::simulator
