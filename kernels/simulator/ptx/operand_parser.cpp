#include "kernels/simulator/ptx/operand_parser.h"

#include <string_view>
#include <utility>

#include "kernels/simulator/ptx/expression.h"
#include "kernels/simulator/ptx/limits.h"

namespace voltcheck::simulator::ptx {
namespace {

/// Components of vectors and, for the video instructions, bytes and halves of a register.
bool IsComponent(std::string_view word) {
  if (word.size() == 1) {
    return std::string_view("xyzwrgba").find(word[0]) != std::string_view::npos;
  }
  return word == "b0" || word == "b1" || word == "b2" || word == "b3" || word == "h0" ||
         word == "h1";
}

bool IsSpecial(std::string_view name) { return name.size() > 1 && name[0] == '%'; }

}  // namespace

std::string OperandParser::ResolveName(const Token& token) const {
  std::string name(token.text);
  if (const NameScopes::Entry* entry = scopes_.Find(name)) {
    return entry->unique;
  }
  if (!IsSpecial(name) && !context_.Has(name)) {
    cursor_.Fail(token.location, Quote(name) + " is not declared", "declare it before its use");
  }
  return name;
}

void OperandParser::ParseAll(Instruction& instruction, std::size_t index) {
  if (cursor_.At(";")) {
    return;
  }
  do {
    const Token first = cursor_.Peek();
    if (instruction.operands.size() == kMaxOperands) {
      cursor_.Fail(first.location, "more than " + std::to_string(kMaxOperands) + " operands",
                   "no instruction takes that many");
    }
    Operand operand = ParseOperand(instruction, 0);
    // What is declared by now wins, except where only a label can stand.
    if (operand.kind == Operand::Kind::kSymbol && first.kind == Token::Kind::kName &&
        !IsSpecial(first.text)) {
      std::string written(first.text);
      if (instruction.opcode == "bra" || scopes_.Find(written) == nullptr) {
        cursor_.Charge(1);
        scopes_.UseForward({written, first.location, index, instruction.operands.size(), {}});
        operand.name = std::move(written);
      }
    }
    instruction.operands.push_back(std::move(operand));
  } while (cursor_.Try(","));
}

Operand OperandParser::ParseOperand(const Instruction& instruction, int depth) {
  cursor_.Charge(1);
  if (depth > kMaxOperandDepth) {
    cursor_.Fail(cursor_.Peek().location, "operands nested too deeply",
                 "no instruction takes such");
  }
  Operand operand;
  operand.location = cursor_.Peek().location;
  if (cursor_.At("[")) {
    return ParseBracketed(instruction, depth);
  }
  if (cursor_.Try("{")) {
    operand.kind = Operand::Kind::kVector;
    ParseElements(operand, instruction, "}", depth);
    return operand;
  }
  if (instruction.opcode == "call" && depth == 0 && cursor_.Try("(")) {
    operand.kind = Operand::Kind::kList;
    ParseElements(operand, instruction, ")", depth);
    return operand;
  }
  if (AtConstant(cursor_)) {
    return ParseImmediate();
  }
  if (cursor_.At("!") || cursor_.At("-")) {
    cursor_.Take();
    operand = ParseSymbol(instruction, kMaxOperandDepth);
    operand.negated = true;
    return operand;
  }
  return ParseSymbol(instruction, depth);
}

void OperandParser::ParseElements(Operand& operand, const Instruction& instruction,
                                  const char* close, int depth) {
  if (operand.kind == Operand::Kind::kList && cursor_.Try(close)) {
    return;
  }
  do {
    if (operand.elements.size() == kMaxListElements) {
      cursor_.Fail(cursor_.Peek().location,
                   "more than " + std::to_string(kMaxListElements) + " elements",
                   "no instruction takes that many");
    }
    operand.elements.push_back(ParseOperand(instruction, depth + 1));
  } while (cursor_.Try(","));
  cursor_.Expect(close, "after the last element");
}

Operand OperandParser::ParseImmediate() {
  Operand operand;
  operand.kind = Operand::Kind::kImmediate;
  operand.location = cursor_.Peek().location;
  const Constant value = ParseConstant(cursor_);
  operand.bits = value.bits;
  operand.immediate = value.kind == Constant::Kind::kF32   ? Operand::Immediate::kF32
                      : value.kind == Constant::Kind::kF64 ? Operand::Immediate::kF64
                                                           : Operand::Immediate::kInteger;
  return operand;
}

std::int64_t OperandParser::ParseOffset() {
  std::uint64_t offset = 0;
  while (cursor_.At("+") || cursor_.At("-")) {
    const bool minus = cursor_.Take().text == "-";
    const Location where = cursor_.Peek().location;
    if (!AtConstant(cursor_)) {
      cursor_.FailExpected("a constant offset", "add registers with an instruction of their own");
    }
    const Constant value = ParseConstantUnary(cursor_);
    if (value.is_float()) {
      cursor_.Fail(where, "a floating-point offset", "write an integer");
    }
    offset = minus ? offset - value.bits : offset + value.bits;
  }
  return static_cast<std::int64_t>(offset);
}

Operand OperandParser::ParseSymbol(const Instruction& instruction, int depth) {
  if (!cursor_.AtName()) {
    cursor_.FailExpected("an operand", "write a register, a number, an address or a vector");
  }
  const Token name = cursor_.Take();
  Operand operand;
  operand.location = name.location;
  if (name.text == "_") {
    operand.kind = Operand::Kind::kSink;
  } else {
    const bool may_be_forward = depth == 0;
    const NameScopes::Entry* entry = scopes_.Find(std::string(name.text));
    operand.name = entry != nullptr ? entry->unique
                   : may_be_forward ? std::string(name.text)
                                    : ResolveName(name);
    if (cursor_.Peek().kind == Token::Kind::kWord) {
      const Token component = cursor_.Take();
      if (!IsComponent(component.text)) {
        cursor_.Fail(component.location,
                     Quote("." + std::string(component.text)) + " of a register",
                     "write a component such as .x");
      }
      operand.name += "." + std::string(component.text);
    }
    if (cursor_.At("[")) {
      return ParseIndexed(instruction, std::move(operand), name);
    }
    operand.offset = ParseOffset();
  }
  if (depth == 0 && cursor_.Try("|")) {
    Operand pair;
    pair.kind = Operand::Kind::kPair;
    pair.location = operand.location;
    if (operand.kind == Operand::Kind::kSymbol) {
      ResolveName(name);  // no label can stand here, so the name must be declared by now
    }
    cursor_.Charge(1);
    pair.elements.push_back(std::move(operand));
    pair.elements.push_back(ParseSymbol(instruction, 1));
    return pair;
  }
  return operand;
}

/// `a[2]`: element 2 of the array a, as an address (as a value for mov).
Operand OperandParser::ParseIndexed(const Instruction& instruction, Operand symbol,
                                    const Token& name) {
  cursor_.Expect("[", "before an index");
  const std::uint64_t element_bytes = ElementBytes(std::string(name.text));
  if (element_bytes == 0) {
    cursor_.Fail(name.location, Quote(name.text) + " is not an array", "index a declared array");
  }
  const Location where = cursor_.Peek().location;
  if (!AtConstant(cursor_)) {
    cursor_.FailExpected("a constant index", "compute the address in a register");
  }
  const Constant index = ParseConstant(cursor_);
  if (index.is_float()) {
    cursor_.Fail(where, "a floating-point index", "write an integer");
  }
  cursor_.Expect("]", "after the index");
  const auto offset = static_cast<std::int64_t>(index.bits * element_bytes);
  if (instruction.opcode == "mov") {
    symbol.offset = offset;
    return symbol;
  }
  Operand address;
  address.kind = Operand::Kind::kAddress;
  address.location = symbol.location;
  address.offset = offset;
  address.elements.push_back(std::move(symbol));
  return address;
}

std::uint64_t OperandParser::ElementBytes(const std::string& name) const {
  if (const NameScopes::Entry* entry = scopes_.Find(name)) {
    return entry->element_bytes;
  }
  const auto found = context_.variables.find(name);
  return found == context_.variables.end()
             ? 0
             : context_.module.variables[found->second].element_bytes();
}

Operand OperandParser::ParseBracketed(const Instruction& instruction, int depth) {
  Operand address;
  address.kind = Operand::Kind::kAddress;
  address.location = cursor_.Take().location;
  cursor_.Charge(1);
  if (AtConstant(cursor_)) {
    address.elements.push_back(ParseImmediate());
    if (address.elements[0].immediate != Operand::Immediate::kInteger) {
      cursor_.Fail(address.elements[0].location, "a floating-point address", "write an integer");
    }
  } else {
    Operand base = ParseSymbol(instruction, kMaxOperandDepth);
    if (base.kind != Operand::Kind::kSymbol) {
      cursor_.Fail(base.location, "an address without a register, variable or number",
                   "write [register+offset] or [variable+offset]");
    }
    address.offset = std::exchange(base.offset, 0);
    address.elements.push_back(std::move(base));
  }
  while (cursor_.Try(",")) {
    if (address.elements.size() == kMaxOperands) {
      cursor_.Fail(cursor_.Peek().location, "too many operands in an address",
                   "no instruction takes that many");
    }
    address.elements.push_back(ParseOperand(instruction, depth + 1));
  }
  cursor_.Expect("]", "after the address");
  return address;
}

}  // namespace voltcheck::simulator::ptx
