// shfl, vote, match, activemask, mma.
#include <string>
#include <utility>
#include <vector>

#include "kernels/simulator/program/decoders.h"

namespace voltcheck::simulator {
namespace {

using Kind = ptx::Operand::Kind;

/// The instruction just emitted waits for the lanes of the mask in op[mask_operand].
void WaitForMask(FunctionLowering& lowering, std::uint32_t mask_operand, std::string kinds) {
  const std::uint32_t signature = lowering.Signature(lowering.instruction().Mnemonic());
  Control& control = lowering.MakeControl(ControlKind::kSync);
  control.mask_operand = mask_operand;
  control.signature = signature;
  control.kinds = std::move(kinds);
}

}  // namespace

void DecodeShfl(FunctionLowering& lowering) {
  lowering.ExpectOperands(5, 5);
  const auto& modifiers = lowering.instruction().modifiers;
  if (modifiers.size() != 3 || modifiers[0] != "sync" || modifiers[2] != "b32") {
    lowering.FailUnknown();
  }
  const ptx::Operand& to = lowering.operand(0);
  const bool pair = to.kind == Kind::kPair;
  const Ref a = lowering.Source(lowering.operand(1), 'w');
  const Ref b = lowering.Source(lowering.operand(2), 'w');
  const Ref c = lowering.Source(lowering.operand(3), 'w');
  const Ref mask = lowering.Source(lowering.operand(4), 'w');
  const Ref d = lowering.Destination(pair ? to.elements[0] : to, 'w');
  const Ref p = pair ? lowering.Destination(to.elements[1], 'p') : lowering.Temporary('p');
  lowering.Emit("@shfl." + modifiers[1], {d, p}, {a, b, c, mask});
  WaitForMask(lowering, 5, "wp=wwww");
}

void DecodeVote(FunctionLowering& lowering) {
  lowering.ExpectOperands(3, 3);
  std::vector<std::string> modifiers = lowering.instruction().modifiers;
  if (modifiers.size() == 3 && modifiers[1] == "sync") {
    std::swap(modifiers[0], modifiers[1]);  // vote.ballot.sync, which ptxas takes, too
  }
  if (modifiers.size() != 3 || modifiers[0] != "sync") {
    lowering.FailUnknown();
  }
  const Ref a = lowering.Source(lowering.operand(1), 'p');
  const Ref mask = lowering.Source(lowering.operand(2), 'w');
  const char kind = modifiers[2] == "pred" ? 'p' : 'w';
  const Ref d = lowering.Destination(lowering.operand(0), kind);
  lowering.Emit("@vote." + modifiers[1] + "." + modifiers[2], {d}, {a, mask});
  WaitForMask(lowering, 2, kind == 'p' ? "p=pw" : "w=pw");
}

void DecodeMatch(FunctionLowering& lowering) {
  lowering.ExpectOperands(3, 3);
  const auto& modifiers = lowering.instruction().modifiers;
  if (modifiers.size() != 3 || modifiers[1] != "sync" ||
      (modifiers[2] != "b32" && modifiers[2] != "b64")) {
    lowering.FailUnknown();
  }
  const Ref a = lowering.Source(lowering.operand(1), modifiers[2] == "b64" ? 'x' : 'w');
  const Ref mask = lowering.Source(lowering.operand(2), 'w');
  const ptx::Operand& to = lowering.operand(0);
  const bool pair = to.kind == Kind::kPair;
  const Ref d = lowering.Destination(pair ? to.elements[0] : to, 'w');
  const Ref p = pair ? lowering.Destination(to.elements[1], 'p') : lowering.Temporary('p');
  lowering.Emit("@match." + modifiers[0] + "." + modifiers[2], {d, p}, {a, mask});
  WaitForMask(lowering, 3, modifiers[2] == "b64" ? "wp=xw" : "wp=ww");
}

void DecodeActivemask(FunctionLowering& lowering) {
  lowering.ExpectOperands(1, 1);
  const Ref d = lowering.Destination(lowering.operand(0), 'w');
  lowering.Emit("@activemask", {d}, {});
  lowering.program().visible.back() = 1;
}

void DecodeMma(FunctionLowering& lowering) {
  lowering.ExpectOperands(4, 4);
  // mma.sync.aligned.m8n8k4.<a layout>.<b layout>.<d type>.f16.f16.<c type>
  const auto& modifiers = lowering.instruction().modifiers;
  const auto is_layout = [](const std::string& s) { return s == "row" || s == "col"; };
  const auto is_type = [](const std::string& s) { return s == "f16" || s == "f32"; };
  if (modifiers.size() != 9 || modifiers[0] != "sync" || modifiers[1] != "aligned" ||
      modifiers[2] != "m8n8k4" || !is_layout(modifiers[3]) || !is_layout(modifiers[4]) ||
      !is_type(modifiers[5]) || modifiers[6] != "f16" || modifiers[7] != "f16" ||
      !is_type(modifiers[8])) {
    lowering.FailUnknown();
  }
  const auto fragment = [&](std::size_t index, std::size_t registers, bool destination) {
    const ptx::Operand& operand = lowering.operand(index);
    if (operand.kind != Kind::kVector || operand.elements.size() != registers) {
      lowering.Fail("needs " + std::to_string(registers) + " registers in operand " +
                    std::to_string(index + 1));
    }
    std::vector<Ref> refs;
    for (const ptx::Operand& element : operand.elements) {
      refs.push_back(destination ? lowering.Destination(element, 'w')
                                 : lowering.Source(element, 'w'));
    }
    return refs;
  };
  const std::vector<Ref> a = fragment(1, 2, false);
  const std::vector<Ref> b = fragment(2, 2, false);
  const std::vector<Ref> c = fragment(3, modifiers[8] == "f32" ? 8 : 4, false);
  const std::vector<Ref> d = fragment(0, modifiers[5] == "f32" ? 8 : 4, true);
  std::vector<Ref> sources = a;
  sources.insert(sources.end(), b.begin(), b.end());
  sources.insert(sources.end(), c.begin(), c.end());
  Instr& instr =
      lowering.EmitPooled("@mma.m8n8k4." + modifiers[5] + "." + modifiers[8], d, sources);
  instr.imm = (modifiers[3] == "col" ? 1 : 0) | (modifiers[4] == "col" ? 2 : 0);
  lowering.MakeControl(ControlKind::kSync).aligned = true;
}

}  // namespace voltcheck::simulator
