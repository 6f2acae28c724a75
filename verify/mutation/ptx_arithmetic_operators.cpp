// What is computed: operands, rounding, fused operations, the tensor core and its accumulators.
#include <array>

#include "verify/mutation/ptx_edits.h"

namespace voltcheck::mutation {
namespace {

// The two operands that a - b, a < b ? ..., a * b + c may get in the wrong order; {0, 0}: none.
std::array<std::size_t, 2> Exchangeable(const ptx::Instruction& i) {
  if (Is(i, {"sub", "setp", "shl", "shr", "div", "rem", "selp", "mma", "prmt", "bfi"}) &&
      i.operands.size() >= 3) {
    return {1, 2};
  }
  if (Is(i, {"fma", "mad"}) && i.operands.size() >= 4) {
    return {2, 3};
  }
  return {0, 0};
}

// A branch back to where control has been: the instructions from its label to here are a loop.
bool IsInLoop(const KernelText& kernel, std::size_t instruction) {
  for (std::size_t i = instruction; i < kernel.body().size(); ++i) {
    const ptx::Instruction& branch = kernel.body()[i];
    if (!Is(branch, {"bra"})) {
      continue;
    }
    const auto label = kernel.function().labels.find(branch.operands.front().name);
    if (label != kernel.function().labels.end() && label->second <= instruction) {
      return true;
    }
  }
  return false;
}

std::string ThroughHalf(std::string_view accumulator) {
  const std::string name(accumulator);
  return "\n\t{ .reg .b16 %voltcheck_h; cvt.rn.f16.f32 %voltcheck_h, " + name + "; cvt.f32.f16 " +
         name + ", %voltcheck_h; }";
}

}  // namespace

void SwapOperands(const KernelText& kernel, PtxFaults& faults) {
  for (std::size_t i = 0; i < kernel.body().size(); ++i) {
    const auto [a, b] = Exchangeable(kernel.body()[i]);
    if (a == b) {
      continue;
    }
    const Edit first = kernel.OperandSpan(i, a);
    const Edit second = kernel.OperandSpan(i, b);
    const std::string first_text(kernel.View(first));
    const std::string second_text(kernel.View(second));
    if (first_text != second_text) {
      faults.push_back({i,
                        std::string(kernel.View(kernel.Mnemonic(i))) + ": " + first_text + " and " +
                            second_text + " exchanged",
                        {With(first, second_text), With(second, first_text)}});
    }
  }
}

void ChangeRounding(const KernelText& kernel, PtxFaults& faults) {
  constexpr std::array<std::array<std::string_view, 2>, 7> kOther{{{".rn.", ".rz."},
                                                                   {".rm.", ".rp."},
                                                                   {".rz.", ".rn."},
                                                                   {".rp.", ".rm."},
                                                                   {".rzi.", ".rni."},
                                                                   {".rni.", ".rzi."},
                                                                   {".rmi.", ".rpi."}}};
  for (std::size_t i = 0; i < kernel.body().size(); ++i) {
    const ptx::Instruction& instruction = kernel.body()[i];
    const bool has_modes = TypeOf(instruction) != "f16" && TypeOf(instruction) != "f16x2";
    const Edit mnemonic = kernel.Mnemonic(i);
    std::string text(kernel.View(mnemonic));
    if (Is(instruction, {"cvt"}) ||
        (Is(instruction, {"add", "sub", "mul", "fma", "div", "sqrt", "rcp"}) && has_modes)) {
      for (const auto& [from, to] : kOther) {
        const std::size_t at = text.find(from);
        if (at != std::string::npos) {
          text.replace(at, from.size(), to);
          faults.push_back(Replace(kernel, i, mnemonic, text));
          break;
        }
      }
    }
    // No mode is round to nearest, which the assembler may also fuse.
    if (Is(instruction, {"add", "sub", "mul"}) && text.ends_with(".f32") &&
        instruction.modifiers.size() == 1) {
      text.insert(text.size() - 4, ".rz");
      faults.push_back(Replace(kernel, i, mnemonic, text));
    }
  }
}

void SplitFma(const KernelText& kernel, PtxFaults& faults) {
  for (std::size_t i = 0; i < kernel.body().size(); ++i) {
    const ptx::Instruction& instruction = kernel.body()[i];
    if (!Is(instruction, {"fma"}) || !instruction.guard.empty()) {
      continue;
    }
    const std::string type(TypeOf(instruction));
    const std::string reg = type == "f16x2" ? "b32" : type == "f16" ? "b16" : type;
    std::string modifiers(kernel.View(kernel.Mnemonic(i)));
    modifiers = modifiers.substr(modifiers.find('.'));
    const auto operand = [&](std::size_t k) { return std::string(kernel.OperandText(i, k)); };
    const Edit statement = kernel.Statement(i);
    const std::string text = "{ .reg ." + reg + " %voltcheck_t; mul" + modifiers +
                             " %voltcheck_t, " + operand(1) + ", " + operand(2) + "; add" +
                             modifiers + " " + operand(0) + ", %voltcheck_t, " + operand(3) + "; }";
    faults.push_back(
        {i, std::string(kernel.View(statement)) + " as mul and add", {With(statement, text)}});
  }
}

void MmaLayout(const KernelText& kernel, PtxFaults& faults) {
  for (std::size_t i = 0; i < kernel.body().size(); ++i) {
    if (!Is(kernel.body()[i], {"mma"})) {
      continue;
    }
    const Edit mnemonic = kernel.Mnemonic(i);
    const std::string text(kernel.View(mnemonic));
    for (const std::string_view layout : {".row.row.", ".col.col.", ".col.row."}) {
      const std::size_t at = text.find(".row.col.");
      if (at != std::string::npos) {
        faults.push_back(
            Replace(kernel, i, mnemonic, std::string(text).replace(at, layout.size(), layout)));
      }
    }
  }
}

void SkipStep(const KernelText& kernel, PtxFaults& faults) {
  for (std::size_t i = 0; i < kernel.body().size(); ++i) {
    const ptx::Instruction& instruction = kernel.body()[i];
    if (Is(instruction, {"mma"})) {
      faults.push_back(Remove(kernel, i));
      continue;
    }
    const bool accumulates =
        instruction.operands.size() >= 3 && Is(instruction, {"fma", "add", "mad"}) &&
        kernel.OperandText(i, 0) == kernel.OperandText(i, instruction.operands.size() - 1);
    if (accumulates && IsInLoop(kernel, i)) {
      faults.push_back(Remove(kernel, i));
    }
    // A counter's step, doubled: every other round is left out.
    if (Is(instruction, {"add"}) && IsInteger(instruction.operands[2]) &&
        kernel.OperandText(i, 0) == kernel.OperandText(i, 1) && IsInLoop(kernel, i)) {
      const auto step = static_cast<std::int64_t>(instruction.operands[2].bits);
      faults.push_back(Replace(kernel, i, kernel.OperandSpan(i, 2), std::to_string(2 * step)));
    }
  }
}

void HalfAccumulator(const KernelText& kernel, PtxFaults& faults) {
  for (std::size_t i = 0; i < kernel.body().size(); ++i) {
    const ptx::Instruction& instruction = kernel.body()[i];
    std::string added;
    if (Is(instruction, {"mma"}) &&
        instruction.operands.front().kind == ptx::Operand::Kind::kVector) {
      for (const ptx::Operand& accumulator : instruction.operands.front().elements) {
        added += ThroughHalf(accumulator.name);
      }
    } else if (Is(instruction, {"fma", "add"}) && TypeOf(instruction) == "f32" &&
               instruction.guard.empty() &&
               kernel.OperandText(i, 0) == kernel.OperandText(i, instruction.operands.size() - 1)) {
      added = ThroughHalf(kernel.OperandText(i, 0));
    }
    if (!added.empty()) {
      const std::size_t end = kernel.Statement(i).end;
      faults.push_back({i,
                        std::string(kernel.View(kernel.Mnemonic(i))) + ": accumulator through fp16",
                        {{end, end, added}}});
    }
  }
}

}  // namespace voltcheck::mutation
