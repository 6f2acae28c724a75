// add, sub, mad with .cc, and addc, subc, madc: chains through the carry flag, which is a predicate
// of the function here.
#include "kernels/simulator/program/decoders.h"
#include "kernels/simulator/program/type_suffix.h"

namespace voltcheck::simulator {

void DecodeCarry(FunctionLowering& lowering) {
  const ptx::Instruction& instruction = lowering.instruction();
  const bool sets = lowering.Has("cc");
  const bool uses = instruction.opcode.size() == 4;  // addc, subc, madc
  if (!sets && !uses) {
    lowering.EmitByTable(instruction.Mnemonic());
    return;
  }
  const std::string operation = instruction.opcode.substr(0, 3);
  const TypeSuffix type =
      instruction.modifiers.empty() ? TypeSuffix{} : FindTypeSuffix(instruction.modifiers.back());
  const bool mad = operation == "mad";
  const bool high = lowering.Has("hi");
  const std::size_t words = (sets ? 1 : 0) + (mad ? 2 : 1);
  if (type.bytes < 4 || type.number == NumberKind::kFloat ||
      instruction.modifiers.size() != words || instruction.modifiers.back()[0] == 'b' ||
      (mad && !high && !lowering.Has("lo"))) {
    lowering.FailUnknown();
  }
  lowering.ExpectOperands(mad ? 4 : 3, mad ? 4 : 3);
  std::vector<Ref> sources;
  for (std::size_t i = 1; i < lowering.operand_count(); ++i) {
    sources.push_back(lowering.Source(lowering.operand(i), type.kind));
  }
  const std::uint64_t first = operation == "sub" ? 1 : 0;  // a subtraction is a + ~b + 1
  sources.push_back(uses ? lowering.Carry() : lowering.Constant(first, 'p'));
  const Ref destination = lowering.Destination(lowering.operand(0), type.kind);
  const Ref carry = sets ? lowering.Carry() : lowering.Temporary('p');
  std::string key = "@" + operation + "c.";
  key += mad ? std::string(high ? "hi." : "lo.") + instruction.modifiers.back()
             : std::string(type.kind == 'x' ? "64" : "32");
  lowering.Emit(*OpRegistry::Get().Find(key), {destination, carry}, sources);
}

}  // namespace voltcheck::simulator
