// Which thread does what to which element: guards, bounds, constants, addresses.
#include <array>
#include <cstdint>
#include <optional>

#include "verify/mutation/ptx_edits.h"

namespace voltcheck::mutation {
namespace {

// Bytes of what a load or store moves for one address step: "v4.u32" moves 16.
std::int64_t AccessBytes(const ptx::Instruction& i) {
  const std::string_view type = TypeOf(i);
  const std::int64_t element = type.ends_with("64")   ? 8
                               : type.ends_with("32") ? 4
                               : type.ends_with("16") ? 2
                                                      : 1;
  return element * (Has(i, "v4") ? 4 : Has(i, "v2") ? 2 : 1);
}

bool IsAccess(const ptx::Instruction& i) {
  return Is(i, {"ld", "ldu", "st", "atom", "red"}) && !Has(i, "param");
}

// The operand that is an address, if there is one.
std::optional<std::size_t> AddressOperand(const ptx::Instruction& i) {
  for (std::size_t k = 0; k < i.operands.size(); ++k) {
    if (i.operands[k].kind == ptx::Operand::Kind::kAddress) {
      return k;
    }
  }
  return std::nullopt;
}

std::string Signed(std::uint64_t bits) { return std::to_string(static_cast<std::int64_t>(bits)); }

void OffByOneAddress(const KernelText& kernel, std::size_t i, PtxFaults& faults) {
  const ptx::Instruction& instruction = kernel.body()[i];
  const auto operand = AddressOperand(instruction);
  if (!operand) {
    return;
  }
  const ptx::Operand& address = instruction.operands[*operand];
  const std::int64_t moved = address.offset + AccessBytes(instruction);
  const std::string base(kernel.View(kernel.AddressBase(i, *operand)));
  std::string text = "[" + base;
  if (moved != 0) {
    text += "+" + std::to_string(moved);
  }
  faults.push_back(Replace(kernel, i, kernel.OperandSpan(i, *operand), text + "]"));
}

std::string ReplacedModifier(std::string_view mnemonic, std::string_view from,
                             std::string_view to) {
  std::string text(mnemonic);
  const std::size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

}  // namespace

void DropPredicate(const KernelText& kernel, PtxFaults& faults) {
  for (std::size_t i = 0; i < kernel.body().size(); ++i) {
    const ptx::Instruction& instruction = kernel.body()[i];
    if (instruction.guard.empty()) {
      continue;
    }
    faults.push_back(Replace(kernel, i, kernel.Guard(i), ""));
    if (Is(instruction, {"bra"})) {
      faults.push_back(Remove(kernel, i));  // never taken
    }
    const std::string negated =
        std::string(instruction.guard_negated ? "@" : "@!") + instruction.guard + " ";
    faults.push_back(Replace(kernel, i, kernel.Guard(i), negated));
  }
}

void WidenBound(const KernelText& kernel, PtxFaults& faults) {
  constexpr std::array<std::array<std::string_view, 2>, 8> kWider{{{".lt.", ".le."},
                                                                   {".le.", ".lt."},
                                                                   {".gt.", ".ge."},
                                                                   {".ge.", ".gt."},
                                                                   {".lo.", ".ls."},
                                                                   {".ls.", ".lo."},
                                                                   {".hi.", ".hs."},
                                                                   {".hs.", ".hi."}}};
  for (std::size_t i = 0; i < kernel.body().size(); ++i) {
    if (!Is(kernel.body()[i], {"setp", "set"})) {
      continue;
    }
    const Edit mnemonic = kernel.Mnemonic(i);
    for (const auto& [from, to] : kWider) {
      if (kernel.View(mnemonic).find(from) != std::string_view::npos) {
        faults.push_back(
            Replace(kernel, i, mnemonic, ReplacedModifier(kernel.View(mnemonic), from, to)));
        break;
      }
    }
  }
}

void OffByOne(const KernelText& kernel, PtxFaults& faults) {
  for (std::size_t i = 0; i < kernel.body().size(); ++i) {
    const ptx::Instruction& instruction = kernel.body()[i];
    if (IsAccess(instruction)) {
      OffByOneAddress(kernel, i, faults);
      continue;
    }
    if (!Is(instruction,
            {"add", "sub", "mul", "mad", "mov", "setp", "min", "max", "selp", "rem", "div"})) {
      continue;
    }
    for (std::size_t k = 1; k < instruction.operands.size(); ++k) {
      const ptx::Operand& operand = instruction.operands[k];
      if (IsInteger(operand) && TypeOf(instruction) != "pred") {
        faults.push_back(Replace(kernel, i, kernel.OperandSpan(i, k), Signed(operand.bits + 1)));
        faults.push_back(Replace(kernel, i, kernel.OperandSpan(i, k), Signed(operand.bits - 1)));
      }
    }
  }
}

void ShiftOrMask(const KernelText& kernel, PtxFaults& faults) {
  for (std::size_t i = 0; i < kernel.body().size(); ++i) {
    const ptx::Instruction& instruction = kernel.body()[i];
    const bool shifts = Is(instruction, {"shl", "shr"});
    const bool masks = Is(instruction, {"and", "or", "xor", "lop3", "prmt"});
    const bool fields = Is(instruction, {"bfe", "bfi", "shf"});
    if (!shifts && !masks && !fields) {
      continue;
    }
    for (std::size_t k = 1; k < instruction.operands.size(); ++k) {
      const ptx::Operand& operand = instruction.operands[k];
      if (!IsInteger(operand)) {
        continue;
      }
      const Edit span = kernel.OperandSpan(i, k);
      if (shifts || fields) {
        faults.push_back(Replace(kernel, i, span, Signed(operand.bits + 1)));
      }
      if (shifts && operand.bits > 0) {
        faults.push_back(Replace(kernel, i, span, Signed(operand.bits - 1)));
      }
      if (masks) {
        faults.push_back(Replace(kernel, i, span, Signed(operand.bits ^ 1)));
        // The highest bit that is set; of a negative number the one below its ones.
        std::uint64_t highest = std::uint64_t{1} << 31;
        while (highest > 1 && (operand.bits & highest) == 0) {
          highest >>= 1;
        }
        faults.push_back(Replace(kernel, i, span, Signed(operand.bits & 0xffffffffU & ~highest)));
      }
    }
  }
}

void AddressRegister(const KernelText& kernel, PtxFaults& faults) {
  std::optional<std::string> last_wide;    // a 64-bit register
  std::optional<std::string> last_narrow;  // a 32-bit one or a variable: shared memory
  for (std::size_t i = 0; i < kernel.body().size(); ++i) {
    const ptx::Instruction& instruction = kernel.body()[i];
    const auto operand = AddressOperand(instruction);
    if (!IsAccess(instruction) || !operand) {
      continue;
    }
    const Edit span = kernel.AddressBase(i, *operand);
    const std::string base(kernel.View(span));
    std::optional<std::string>& last = Has(instruction, "shared") ? last_narrow : last_wide;
    if (last && *last != base) {
      faults.push_back(Replace(kernel, i, span, *last));
    }
    last = base;
  }
}

void ThreadIndex(const KernelText& kernel, PtxFaults& faults) {
  constexpr std::array<std::array<std::string_view, 2>, 10> kOther{{{"%tid.x", "%ctaid.x"},
                                                                    {"%tid.x", "%laneid"},
                                                                    {"%tid.x", "%tid.y"},
                                                                    {"%ctaid.x", "%ctaid.y"},
                                                                    {"%ctaid.x", "%tid.x"},
                                                                    {"%ctaid.y", "%ctaid.x"},
                                                                    {"%ctaid.y", "%ctaid.z"},
                                                                    {"%ctaid.z", "%ctaid.y"},
                                                                    {"%ntid.x", "%nctaid.x"},
                                                                    {"%nctaid.x", "%nctaid.y"}}};
  for (std::size_t i = 0; i < kernel.body().size(); ++i) {
    const ptx::Instruction& instruction = kernel.body()[i];
    for (std::size_t k = 1; k < instruction.operands.size(); ++k) {
      const std::string_view text = kernel.OperandText(i, k);
      for (const auto& [from, to] : kOther) {
        if (text == from) {
          faults.push_back(Replace(kernel, i, kernel.OperandSpan(i, k), std::string(to)));
        }
      }
      if (Is(instruction, {"shfl"}) && IsInteger(instruction.operands[k])) {
        faults.push_back(
            Replace(kernel, i, kernel.OperandSpan(i, k), Signed(instruction.operands[k].bits ^ 1)));
      }
    }
  }
}

}  // namespace voltcheck::mutation
