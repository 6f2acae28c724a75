#include "kernels/simulator/program/function_lowering.h"

#include <algorithm>
#include <cassert>

#include "kernels/simulator/program/matrix_pairs.h"
#include "kernels/simulator/program/rows.h"

namespace voltcheck::simulator {
namespace {

char KindOf(ptx::Type type) {
  switch (type) {
    case ptx::Type::kPred:
      return 'p';
    case ptx::Type::kB64:
    case ptx::Type::kU64:
    case ptx::Type::kS64:
    case ptx::Type::kF64:
      return 'x';
    default:
      return ptx::SizeOf(type) == 4 ? 'w' : 'h';
  }
}

std::uint64_t AlignUp(std::uint64_t value, std::uint64_t alignment) {
  return alignment <= 1 ? value : (value + alignment - 1) / alignment * alignment;
}

std::uint32_t AlignmentOf(const ptx::Variable& variable) {
  return std::max(variable.alignment, std::max<std::uint32_t>(1, ptx::SizeOf(variable.type)));
}

bool IsConstantMove(const ptx::Instruction& instruction) {
  return instruction.opcode == "mov" && instruction.guard.empty() &&
         instruction.modifiers.size() == 1 && instruction.modifiers[0] != "pred" &&
         instruction.operands.size() == 2 &&
         instruction.operands[0].kind == ptx::Operand::Kind::kSymbol &&
         instruction.operands[1].kind == ptx::Operand::Kind::kImmediate;
}

}  // namespace

FunctionLowering::FunctionLowering(ModuleLowering& module, const ptx::Function& function,
                                   std::uint32_t index)
    : module_(module), function_(function), index_(index) {}

void FunctionLowering::DeclareVariables() {
  FunctionCode& self = code();
  std::uint64_t local = 0;
  const auto in_frame = [&](const ptx::Variable& v) {
    local = AlignUp(local, AlignmentOf(v));
    frame_parameters_[v.name] = local;
    local += v.bytes();
  };
  const auto in_register = [&](const ptx::Variable& v) {
    const char kind = KindOf(v.type);
    registers_[v.name] = {NewRegister(kind) >> 2, kind};
  };
  for (const ptx::Variable& v : function_.returns) {
    v.space == ptx::StateSpace::kRegister ? in_register(v) : in_frame(v);
  }
  for (const ptx::Variable& v : function_.parameters) {
    if (v.space == ptx::StateSpace::kRegister) {
      in_register(v);
    } else if (!function_.entry) {
      self.parameters.push_back({v.name, static_cast<std::uint32_t>(AlignUp(local, AlignmentOf(v))),
                                 static_cast<std::uint32_t>(v.bytes()), AlignmentOf(v)});
      in_frame(v);
    } else {
      const auto offset = static_cast<std::uint32_t>(AlignUp(self.parameter_bytes, AlignmentOf(v)));
      self.parameters.push_back(
          {v.name, offset, static_cast<std::uint32_t>(v.bytes()), AlignmentOf(v)});
      self.parameter_bytes = offset + static_cast<std::uint32_t>(v.bytes());
      variables_[v.name] = {ptx::StateSpace::kParam, offset, v.bytes(), false};
    }
  }
  std::uint64_t shared = module_.module_shared_end;
  for (const ptx::Variable& v : function_.variables) {
    switch (v.space) {
      case ptx::StateSpace::kRegister:
        in_register(v);
        break;
      case ptx::StateSpace::kParam:
        in_frame(v);
        break;
      case ptx::StateSpace::kLocal:
        local = AlignUp(local, AlignmentOf(v));
        variables_[v.name] = {ptx::StateSpace::kLocal, local, v.bytes(), false};
        local += v.bytes();
        break;
      case ptx::StateSpace::kShared:
        if (v.elements == 0) {
          variables_[v.name] = {ptx::StateSpace::kShared, 0, 0, true};
        } else if (function_.entry) {
          shared = AlignUp(shared, AlignmentOf(v));
          variables_[v.name] = {ptx::StateSpace::kShared, shared, v.bytes(), false};
          shared += v.bytes();
        } else {
          variables_[v.name] = module_.symbols->at(function_.name + "::" + v.name);
        }
        break;
      default:
        break;
    }
  }
  self.local_bytes = AlignUp(local, 16);
}

/// Registers that a single unguarded `mov` of an immediate writes, which is how nvcc passes
/// constants to inline assembly. They are constants themselves, and the `mov` goes.
void FunctionLowering::FindConstants() {
  std::unordered_map<std::string, int> writes;
  const auto count = [&](const ptx::Operand& operand, const auto& self) -> void {
    if (operand.kind == ptx::Operand::Kind::kSymbol) {
      ++writes[operand.name];
    }
    for (const ptx::Operand& element : operand.elements) {
      self(element, self);
    }
  };
  for (const ptx::Instruction& instruction : function_.body) {
    if (!instruction.operands.empty()) {  // more than the real writes: addresses of stores, say
      count(instruction.operands[0], count);
    }
  }
  for (const ptx::Instruction& instruction : function_.body) {
    if (IsConstantMove(instruction) && writes[instruction.operands[0].name] == 1) {
      constants_[instruction.operands[0].name] = &instruction.operands[1];
    }
  }
}

void FunctionLowering::Begin(const ptx::Instruction& instruction) {
  instruction_ = &instruction;
  guard_ = kTrue;
  if (!instruction.guard.empty()) {
    const auto found = registers_.find(instruction.guard);
    if (found == registers_.end() || found->second.kind != 'p') {
      Fail("is guarded by " + instruction.guard + ", which is not a predicate");
    }
    guard_ = MakeRef(RowBase::kFrame, found->second.number * 4);
  }
}

void FunctionLowering::Translate() {
  Program& program = *module_.program;
  DeclareVariables();
  FindConstants();
  FunctionCode& self = code();
  self.begin = static_cast<std::uint32_t>(program.code.size());
  std::vector<std::uint32_t> pcs;
  pcs.reserve(function_.body.size() + 1);
  for (const ptx::Instruction& instruction : function_.body) {
    pcs.push_back(static_cast<std::uint32_t>(program.code.size()));
    Begin(instruction);
    const Decoder decoder = FindDecoder(instruction.opcode);
    if (decoder != nullptr) {
      decoder(*this);
    } else {
      EmitByTable(instruction.Mnemonic());
    }
  }
  // A body may end without `ret`, and labels may stand at its end.
  pcs.push_back(static_cast<std::uint32_t>(program.code.size()));
  ptx::Instruction ending;
  ending.opcode = "ret";
  ending.location = function_.body.empty() ? function_.location : function_.body.back().location;
  Begin(ending);
  EmitControl(function_.entry ? ControlKind::kExit : ControlKind::kReturn, {}, {});
  self.end = static_cast<std::uint32_t>(program.code.size());

  for (const Patch& patch : patches_) {
    instruction_ = patch.instruction;
    const auto label = function_.labels.find(patch.label);
    if (label == function_.labels.end()) {
      Fail("jumps to " + patch.label + ", which is not a label of this function");
    }
    Control& control = program.control[patch.control];
    const std::uint32_t pc = pcs[label->second];
    if (patch.table) {
      control.table.push_back(pc);
    } else {
      control.target = pc;
    }
  }
  graph_ = BuildFlowGraph(program, self.begin, self.end);
  FinishControlFlow(program, graph_);
  rows_ = AssignRows(program, graph_, shapes_, classes_);
}

void FunctionLowering::FinishFrame(const FrameLayout& layout) {
  RewriteRefs(*module_.program, graph_, shapes_, classes_, rows_, layout);
  PairMatrixInstructions(*module_.program, graph_);
  FunctionCode& self = code();
  self.frame_bytes = layout.bytes;
  self.local_base = local_base_ == kNone ? kNone : RewriteRef(local_base_, classes_, rows_, layout);
}

bool FunctionLowering::Has(std::string_view modifier) const {
  return std::find(instruction_->modifiers.begin(), instruction_->modifiers.end(), modifier) !=
         instruction_->modifiers.end();
}

void FunctionLowering::ExpectOperands(std::size_t least, std::size_t most) const {
  if (operand_count() < least || operand_count() > most) {
    Fail("has " + std::to_string(operand_count()) + " operands, not " +
         (least == most ? std::to_string(least)
                        : std::to_string(least) + " to " + std::to_string(most)));
  }
}

Instr& FunctionLowering::Append(const OpEntry* entry, const std::vector<Ref>& destinations,
                                const std::vector<Ref>& sources) {
  Program& program = *module_.program;
  assert(destinations.size() + sources.size() <= std::size(Instr{}.op));
  Instr instr;
  if (entry != nullptr) {
    instr.handler[0] = entry->any;
    instr.handler[1] = entry->full;
  }
  std::size_t next = 0;
  for (const Ref ref : destinations) {
    instr.op[next++] = ref;
  }
  for (const Ref ref : sources) {
    instr.op[next++] = ref;
  }
  instr.guard = guard_;
  instr.guard_flip = instruction_->guard_negated ? kFullMask : 0;
  program.code.push_back(instr);
  OperandShape shape;
  shape.destinations = static_cast<std::uint8_t>(destinations.size());
  shape.total = static_cast<std::uint8_t>(next);
  shapes_.push_back(shape);
  InstrInfo info;
  info.function = index_;
  info.line = instruction_->location.line;
  info.column = instruction_->location.column;
  info.source_file = instruction_->source_file;
  info.source_line = instruction_->source_line;
  info.text = module_.Text(instruction_->Mnemonic());
  program.info.push_back(info);
  program.visible.push_back(0);
  return program.code.back();
}

Instr& FunctionLowering::Emit(const OpEntry& entry, const std::vector<Ref>& destinations,
                              const std::vector<Ref>& sources) {
  return Append(&entry, destinations, sources);
}

Instr& FunctionLowering::Emit(const std::string& key, std::initializer_list<Ref> destinations,
                              std::initializer_list<Ref> sources) {
  const OpEntry* entry = OpRegistry::Get().Find(key);
  if (entry == nullptr) {
    FailUnknown();
  }
  return Append(entry, destinations, sources);
}

Instr& FunctionLowering::EmitPooled(const std::string& key, const std::vector<Ref>& destinations,
                                    const std::vector<Ref>& sources) {
  const OpEntry* entry = OpRegistry::Get().Find(key);
  if (entry == nullptr) {
    FailUnknown();
  }
  Program& program = *module_.program;
  Instr& instr = Append(entry, {}, {});
  OperandShape& shape = shapes_.back();
  shape.pool_begin = static_cast<std::uint32_t>(program.pool.size());
  shape.pool_destinations = static_cast<std::uint8_t>(destinations.size());
  shape.pool_total = static_cast<std::uint8_t>(destinations.size() + sources.size());
  program.pool.insert(program.pool.end(), destinations.begin(), destinations.end());
  program.pool.insert(program.pool.end(), sources.begin(), sources.end());
  instr.aux = shape.pool_begin;
  return instr;
}

Control& FunctionLowering::EmitControl(ControlKind kind, const std::vector<Ref>& destinations,
                                       const std::vector<Ref>& sources) {
  Append(nullptr, destinations, sources);
  return MakeControl(kind);
}

Control& FunctionLowering::MakeControl(ControlKind kind) {
  Program& program = *module_.program;
  Instr& instr = program.code.back();
  instr.run = static_cast<std::int32_t>(~static_cast<std::uint32_t>(program.control.size()));
  program.control.emplace_back();
  program.control.back().kind = kind;
  return program.control.back();
}

std::uint32_t FunctionLowering::Signature(const std::string& text) {
  return module_.signatures.try_emplace(text, static_cast<std::uint32_t>(module_.signatures.size()))
      .first->second;
}

void FunctionLowering::EmitByTable(const std::string& key) {
  const OpEntry* entry = OpRegistry::Get().Find(key);
  if (entry == nullptr || entry->key[0] == '@') {
    FailUnknown();
  }
  std::vector<Ref> destinations;
  std::vector<Ref> sources;
  std::int64_t imm = 0;
  bool writes = true;
  std::size_t next = 0;
  const std::string_view pattern = entry->pattern;
  const std::size_t expected = pattern.size() - 1;
  ExpectOperands(expected, expected);
  for (const char kind : pattern) {
    if (kind == '=') {
      writes = false;
    } else if (kind == 'i') {
      imm = Integer(operand(next++));
    } else if (writes) {
      destinations.push_back(Destination(operand(next++), kind));
    } else {
      sources.push_back(Source(operand(next++), kind));
    }
  }
  const bool has_immediate = pattern.find('i') != std::string_view::npos;
  const OpEntry* special =
      has_immediate ? OpRegistry::Get().Find(key + "#" + std::to_string(imm)) : nullptr;
  Emit(special != nullptr ? *special : *entry, destinations, sources).imm = imm;
}

void FunctionLowering::BranchTo(std::size_t control, const std::string& label) {
  patches_.push_back({control, false, label, instruction_});
}
void FunctionLowering::BranchTableTo(std::size_t control, const std::string& label) {
  patches_.push_back({control, true, label, instruction_});
}

void FunctionLowering::Fail(const std::string& what, const std::string& fix) const {
  throw BadInput(module_.module->file + ":" + std::to_string(instruction_->location.line) + ":" +
                     std::to_string(instruction_->location.column),
                 "instruction `" + instruction_->Mnemonic() + "` " + what, fix);
}

void FunctionLowering::FailUnknown() const {
  Fail("is not known to the simulator",
       "it runs what nvcc emits for compute_70; docs/simulator.md lists it");
}

}  // namespace voltcheck::simulator
