#ifndef VOLTCHECK_KERNELS_SIMULATOR_EXEC_REGISTRY_H_
#define VOLTCHECK_KERNELS_SIMULATOR_EXEC_REGISTRY_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/simulator/program/program.h"

namespace voltcheck::simulator {

/// How one instruction is executed. `key` is the PTX spelling, "mad.lo.s32", or "@name" for a
/// building block that only a decoder emits.
///
/// `pattern` lists operands, destinations before '=': h 16-bit, w 32-bit, x 64-bit register or
/// immediate, p predicate, i integer immediate (goes to Instr::imm). "KEY#IMM" is KEY for one value
/// of its immediate, where that is worth handlers of its own.
struct OpEntry {
  std::string key;
  std::string pattern;
  Handler any = nullptr;
  Handler full = nullptr;
};
using OpList = std::vector<OpEntry>;

/// The forms of "@load" and "@store" for `words` (1, 2 or 4) whole 32-bit registers in shared or
/// in global memory.
inline std::string WordAccessSuffix(bool shared, std::uint32_t words) {
  return std::string(shared ? ".shared." : ".global.") + std::to_string(words);
}

/// All instructions, each with the handlers for the best SIMD target of this machine.
class OpRegistry {
 public:
  static const OpRegistry& Get();
  const OpEntry* Find(const std::string& key) const;

 private:
  OpRegistry();
  std::unordered_map<std::string, OpEntry> entries_;
};

// The families, one file each in kernels/simulator/exec. A new instruction is one more line there.
void AppendIntegerOps(OpList& list);
void AppendInteger64Ops(OpList& list);
void AppendIntegerScalarOps(OpList& list);
void AppendCarryOps(OpList& list);
void AppendFloatOps(OpList& list);
void AppendFloatScalarOps(OpList& list);
void AppendDoubleScalarOps(OpList& list);
void AppendHalfOps(OpList& list);
void AppendCompareOps(OpList& list);
void AppendConvertOps(OpList& list);
void AppendConvertScalarOps(OpList& list);
void AppendMoveOps(OpList& list);
void AppendMemoryOps(OpList& list);
void AppendAtomicOps(OpList& list);
void AppendCollectiveOps(OpList& list);
void AppendTensorOps(OpList& list);
void AppendWmmaOps(OpList& list);
void AppendRuntimeOps(OpList& list);

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_EXEC_REGISTRY_H_
