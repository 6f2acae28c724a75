#include "kernels/simulator/check/spin_loops.h"

#include <algorithm>

namespace voltcheck::simulator {
namespace {

/// A loop that waits is short.
constexpr std::uint32_t kMostInstructions = 64;

bool IsConstant(Ref ref) { return BaseOf(ref) == RowBase::kConstant; }

bool IsZero(const Program& program, Ref ref) {
  if (!IsConstant(ref)) {
    return false;
  }
  const auto* row = reinterpret_cast<const std::byte*>(program.constants.data()) + (ref & ~3u);
  return std::all_of(row, row + 4, [](std::byte b) { return b == std::byte{0}; });
}

/// Whether a memory instruction looks at a word that somebody else changes.
bool Looks(const Program& program, const Instr& instr, const MemorySite& site) {
  if (!site.atomic) {
    return !site.write;
  }
  switch (site.operation) {
    case AtomicOp::kCas:
      return IsConstant(instr.op[2]);  // against a loaded value: an update without a lock
    case AtomicOp::kExch:
      return true;
    case AtomicOp::kAdd:
    case AtomicOp::kOr:
      return IsZero(program, instr.op[2]);
    default:
      return false;
  }
}

/// Whether code[begin..end] only waits.
bool OnlyWaits(const Program& program, std::uint32_t begin, std::uint32_t end) {
  bool looks = false;
  for (std::uint32_t pc = begin; pc <= end; ++pc) {
    const Instr& instr = program.code[pc];
    if (instr.is_control()) {
      const ControlKind kind = program.control[instr.control()].kind;
      if (kind != ControlKind::kBranch && kind != ControlKind::kOrdered &&
          kind != ControlKind::kYield) {
        return false;
      }
    }
    if (instr.aux < program.memory.size() && program.visible[pc] != 0) {
      if (!Looks(program, instr, program.memory[instr.aux])) {
        return false;
      }
      looks = true;
    }
  }
  return looks;
}

bool AddressStays(const Program& program, std::uint32_t begin, std::uint32_t end,
                  std::uint32_t at) {
  const MemorySite& site = program.memory[program.code[at].aux];
  const Ref address = program.code[at].op[AddressOperandOf(site)];
  for (std::uint32_t pc = begin; pc <= end; ++pc) {
    const Instr& instr = program.code[pc];
    if (pc != at && !instr.is_control() && instr.op[0] == address) {
      return false;
    }
  }
  return true;
}

}  // namespace

SpinLoops FindSpinLoops(const Program& program) {
  SpinLoops loops;
  loops.is_lock.assign(program.memory.size(), 0);
  loops.poll.assign(program.code.size(), kNone);
  for (std::uint32_t end = 0; end < program.code.size(); ++end) {
    const Instr& branch = program.code[end];
    if (!branch.is_control() || program.control[branch.control()].kind != ControlKind::kBranch) {
      continue;
    }
    const std::uint32_t begin = program.control[branch.control()].target;
    if (begin > end || end - begin >= kMostInstructions || !OnlyWaits(program, begin, end)) {
      continue;
    }
    for (std::uint32_t pc = begin; pc <= end; ++pc) {
      const Instr& instr = program.code[pc];
      if (instr.aux >= program.memory.size() || program.visible[pc] == 0) {
        continue;
      }
      std::fill(loops.poll.begin() + begin, loops.poll.begin() + end + 1, pc);
      if (program.memory[instr.aux].ordered && AddressStays(program, begin, end, pc)) {
        loops.is_lock[instr.aux] = 1;
      }
    }
  }
  return loops;
}

}  // namespace voltcheck::simulator
