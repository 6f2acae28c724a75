// Operands of FunctionLowering: registers, immediates, special registers, symbols, addresses.
#include <bit>

#include "kernels/simulator/program/function_lowering.h"
#include "kernels/simulator/program/rows.h"

namespace voltcheck::simulator {
namespace {

using Kind = ptx::Operand::Kind;
using Immediate = ptx::Operand::Immediate;

int RowWidth(char kind) { return kind == 'p' ? 1 : kind == 'x' ? 64 : 32; }

std::uint64_t Truncate(std::uint64_t bits, char kind) {
  switch (kind) {
    case 'h':
      return bits & 0xffffu;
    case 'w':
      return bits & 0xffffffffu;
    case 'p':
      return bits != 0 ? kFullMask : 0;
    default:
      return bits;
  }
}

/// An immediate as the instruction's operand width wants it: PTX converts floats to the type.
std::uint64_t ImmediateBits(const ptx::Operand& operand, char kind) {
  switch (operand.immediate) {
    case Immediate::kF32:
      return kind == 'x' ? std::bit_cast<std::uint64_t>(static_cast<double>(
                               std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits))))
                         : operand.bits;
    case Immediate::kF64:
      return kind == 'w' ? std::bit_cast<std::uint32_t>(
                               static_cast<float>(std::bit_cast<double>(operand.bits)))
                         : operand.bits;
    default:
      return Truncate(operand.bits, kind);
  }
}

std::string KindName(char kind) {
  switch (kind) {
    case 'h':
      return "a 16-bit register";
    case 'w':
      return "a 32-bit register";
    case 'x':
      return "a 64-bit register";
    default:
      return "a predicate";
  }
}

}  // namespace

Ref ModuleLowering::Constant(std::uint64_t bits, int width) {
  const auto [found, added] = constants.try_emplace({bits, width}, kTrue);
  if (!added) {
    return found->second;
  }
  const auto offset = static_cast<std::uint32_t>(program->constants.size() * sizeof(AlignedBytes));
  const std::uint32_t bytes = width == 64 ? kRow64Bytes : width == 32 ? kRow32Bytes : 64;
  program->constants.resize(program->constants.size() + bytes / sizeof(AlignedBytes));
  std::byte* row = program->constants[offset / sizeof(AlignedBytes)].bytes;
  for (std::uint32_t i = 0; i < bytes; i += width == 64 ? 8 : 4) {
    for (std::uint32_t b = 0; b < (width == 64 ? 8u : 4u); ++b) {
      row[i + b] = static_cast<std::byte>(bits >> (8 * b) & 0xff);
    }
  }
  found->second = MakeRef(RowBase::kConstant, offset);
  return found->second;
}

std::uint32_t ModuleLowering::Text(const std::string& text) {
  const auto [found, added] =
      texts.try_emplace(text, static_cast<std::uint32_t>(program->texts.size()));
  if (added) {
    program->texts.push_back(text);
  }
  return found->second;
}

Ref FunctionLowering::Constant(std::uint64_t bits, char kind) {
  return module_.Constant(Truncate(bits, kind), RowWidth(kind));
}

Ref FunctionLowering::NewRegister(char kind) {
  const auto number = static_cast<std::uint32_t>(classes_.size());
  classes_.push_back(kind == 'p'   ? RowClass::kPredicate
                     : kind == 'x' ? RowClass::k64
                                   : RowClass::k32);
  return MakeRef(RowBase::kFrame, number * 4);
}

Ref FunctionLowering::Temporary(char kind) { return NewRegister(kind); }

char FunctionLowering::RegisterKind(const ptx::Operand& operand) const {
  if (operand.kind != Kind::kSymbol) {
    return 0;
  }
  const auto found = registers_.find(operand.name);
  return found == registers_.end() ? static_cast<char>(0) : found->second.kind;
}

Ref FunctionLowering::Source(const ptx::Operand& operand, char kind) {
  if (operand.kind == Kind::kImmediate) {
    return module_.Constant(ImmediateBits(operand, kind), RowWidth(kind));
  }
  if (operand.kind != Kind::kSymbol) {
    Fail("needs " + KindName(kind) + " or an immediate here");
  }
  const auto found = registers_.find(operand.name);
  if (found == registers_.end()) {
    return SymbolSource(operand, kind);
  }
  if (found->second.kind != kind) {
    Fail("needs " + KindName(kind) + ", but " + operand.name + " is " +
         KindName(found->second.kind));
  }
  if (const ptx::Operand* constant = ImmediateOf(operand)) {
    return module_.Constant(ImmediateBits(*constant, kind), RowWidth(kind));
  }
  const Ref ref = MakeRef(RowBase::kFrame, found->second.number * 4);
  if (!operand.negated) {
    return ref;
  }
  if (kind != 'p') {
    Fail("cannot negate " + operand.name);
  }
  const Ref inverse = Temporary('p');
  Emit("not.pred", {inverse}, {ref});
  return inverse;
}

Ref FunctionLowering::SymbolSource(const ptx::Operand& operand, char kind) {
  const SpecialRow special = FindSpecialRow(operand.name);
  if (special.kind != 0) {
    if (special.kind == kind) {
      return special.row;
    }
    if (special.kind == 'w' && kind == 'x') {  // mov.u64 of a 32-bit special register
      const Ref wide = Temporary('x');
      Emit("cvt.u64.u32", {wide}, {special.row});
      return wide;
    }
    if (special.kind == 'w' && kind == 'h') {
      const Ref narrow = Temporary('h');
      Emit("cvt.u16.u32", {narrow}, {special.row});
      return narrow;
    }
    if (special.kind == 'x' && kind == 'w') {
      const Ref narrow = Temporary('w');
      Emit("cvt.u32.u64", {narrow}, {special.row});
      return narrow;
    }
  }
  if (kind != 'w' && kind != 'x') {
    Fail("does not know the operand " + operand.name);
  }
  if (const auto function = module_.function_index.find(operand.name);
      function != module_.function_index.end()) {
    return Constant(kCodeWindow + function->second * kCodeStride, kind);
  }
  ptx::Operand address;
  address.kind = Kind::kAddress;
  address.elements = {operand};
  address.offset = operand.offset;
  address.elements[0].offset = 0;
  const AddressOperand resolved = Address(address);
  if (BaseOf(resolved.row) == RowBase::kConstant) {
    return Constant(static_cast<std::uint64_t>(resolved.offset), kind);
  }
  Ref base = resolved.row;
  if (resolved.wide != (kind == 'x')) {
    base = Temporary(kind);
    Emit(kind == 'x' ? "cvt.u64.u32" : "cvt.u32.u64", {base}, {resolved.row});
  }
  if (resolved.offset == 0) {
    return base;
  }
  const Ref sum = Temporary(kind);
  Emit(kind == 'x' ? "add.u64" : "add.u32", {sum},
       {base, Constant(static_cast<std::uint64_t>(resolved.offset), kind)});
  return sum;
}

Ref FunctionLowering::Destination(const ptx::Operand& operand, char kind) {
  if (operand.kind == Kind::kSink) {
    return Temporary(kind);
  }
  const char actual = RegisterKind(operand);
  if (actual == 0) {
    Fail("needs " + KindName(kind) + " to write to");
  }
  if (actual != kind) {
    Fail("writes " + KindName(kind) + ", but " + operand.name + " is " + KindName(actual));
  }
  return MakeRef(RowBase::kFrame, registers_.at(operand.name).number * 4);
}

const ptx::Operand* FunctionLowering::ImmediateOf(const ptx::Operand& operand) const {
  if (operand.kind == Kind::kImmediate) {
    return &operand;
  }
  const auto constant =
      operand.kind == Kind::kSymbol ? constants_.find(operand.name) : constants_.end();
  return constant == constants_.end() ? nullptr : constant->second;
}

std::int64_t FunctionLowering::Integer(const ptx::Operand& operand) const {
  if (operand.kind != Kind::kImmediate || operand.immediate != Immediate::kInteger) {
    Fail("needs an integer constant here");
  }
  return static_cast<std::int64_t>(operand.bits);
}

Ref FunctionLowering::Carry() {
  if (carry_ == kNone) {
    carry_ = NewRegister('p');
  }
  return carry_;
}

Ref FunctionLowering::LocalBase() {
  if (local_base_ == kNone) {
    local_base_ = NewRegister('x');
  }
  return local_base_;
}

std::uint64_t FunctionLowering::FrameParameter(const std::string& name) const {
  const auto found = frame_parameters_.find(name);
  return found == frame_parameters_.end() ? kNone : found->second;
}

void FunctionLowering::NoteShared(const Symbol& symbol) {
  if (!symbol.dynamic_shared) {
    FunctionCode& self = code();
    self.static_shared_bytes = std::max(self.static_shared_bytes,
                                        static_cast<std::uint32_t>(symbol.address + symbol.bytes));
  }
}

AddressOperand FunctionLowering::Address(const ptx::Operand& operand) {
  if (operand.kind != Kind::kAddress || operand.elements.size() != 1) {
    Fail("needs an address in brackets here");
  }
  const ptx::Operand& base = operand.elements[0];
  AddressOperand address;
  address.offset = operand.offset + base.offset;
  if (base.kind == Kind::kImmediate) {
    address.row = Constant(0, 'x');
    address.offset += static_cast<std::int64_t>(base.bits);
    return address;
  }
  if (const char kind = RegisterKind(base); kind != 0) {
    if (kind != 'w' && kind != 'x') {
      Fail("needs a 32- or 64-bit address, but " + base.name + " is " + KindName(kind));
    }
    address.row = Source(base, kind);
    address.wide = kind == 'x';
    return address;
  }
  address.symbol = true;
  if (const std::uint64_t offset = FrameParameter(base.name); offset != kNone) {
    address.frame_parameter = true;
    address.space = ptx::StateSpace::kParam;
    address.offset += static_cast<std::int64_t>(offset);
    address.row = function_.entry ? Constant(0, 'x') : LocalBase();
    return address;
  }
  const Symbol* symbol = nullptr;
  if (const auto own = variables_.find(base.name); own != variables_.end()) {
    symbol = &own->second;
  } else if (const auto found = module_.symbols->find(base.name); found != module_.symbols->end()) {
    symbol = &found->second;
  } else {
    Fail("names " + base.name + ", which is not declared");
  }
  address.space = symbol->space;
  if (symbol->space == ptx::StateSpace::kShared) {
    NoteShared(*symbol);
  }
  if (symbol->dynamic_shared) {
    address.row = RowRef(BlockRow::kDynamicShared64);
    return address;
  }
  address.offset += static_cast<std::int64_t>(symbol->address);
  address.row =
      symbol->space == ptx::StateSpace::kLocal && !function_.entry ? LocalBase() : Constant(0, 'x');
  return address;
}

}  // namespace voltcheck::simulator
