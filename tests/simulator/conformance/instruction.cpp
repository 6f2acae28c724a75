#include "instruction.h"

#include <stdexcept>

namespace voltcheck::conformance {

Operand OperandOf(const std::string& type) {
  if (type == "pred") return {Domain::kBool, 4};
  if (type == "f16") return {Domain::kHalf, 2};
  if (type == "f16x2") return {Domain::kHalf2, 4};
  if (type == "f32") return {Domain::kFloat, 4};
  if (type == "f64") return {Domain::kDouble, 8};
  // 8-bit integers have no registers of their own; they are the low byte of a wider one.
  const std::uint32_t bits = static_cast<std::uint32_t>(std::stoul(type.substr(1)));
  return {Domain::kBits, bits == 8 ? 4 : bits / 8};
}

Instruction Plain(const std::string& mnemonic, const std::vector<std::string>& inputs,
                  const std::string& result) {
  Instruction instruction;
  instruction.name = mnemonic;
  instruction.body = mnemonic + " %x0";
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    instruction.inputs.push_back(OperandOf(inputs[i]));
    instruction.body += ", %a" + std::to_string(i);
  }
  instruction.body += ";";
  instruction.results = {OperandOf(result).bytes};
  return instruction;
}

std::vector<Instruction> AllInstructions() {
  std::vector<Instruction> all;
  AddInteger(all);
  AddBits(all);
  AddFloat(all);
  AddHalf(all);
  AddConvert(all);
  AddCompare(all);
  AddWarp(all);
  AddMemory(all);
  AddMatrix(all);
  return all;
}

}  // namespace voltcheck::conformance
