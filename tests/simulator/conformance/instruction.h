#ifndef VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_INSTRUCTION_H_
#define VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_INSTRUCTION_H_

#include <cstdint>
#include <string>
#include <vector>

namespace voltcheck::conformance {

/// What an operand's values are drawn from: a list of edge cases and a random distribution.
enum class Domain {
  kBits,     ///< integers of the operand's width
  kShift,    ///< shift counts, most of them near the width, some absurd
  kDivisor,  ///< integers other than 0
  kBool,     ///< 0 or 1, as 32 bits
  kHalf,     ///< binary16
  kHalf2,    ///< two binary16 in 32 bits
  kMatrix,   ///< two binary16 of moderate size in 32 bits, few of them special
  kFloat,    ///< binary32
  kDouble,   ///< binary64
};

struct Operand {
  Domain domain = Domain::kBits;
  std::uint32_t bytes = 4;
};

/// One instruction (or short sequence) as one kernel over many lanes. `body` is PTX over the
/// registers %a0.. (inputs), %x0.. (results), both untyped and of the operands' width, the
/// temporaries %p0..%p3
/// (.pred), %h0..%h3 (.b16), %t0..%t7 (.b32) and %u0..%u3 (.b64), the lane's own 16 bytes of shared
/// and 128 bytes of global memory at %shared (.u32) and %global (.u64), the warp's 4096 bytes of
/// global memory at %warp (.u64), and the lane's number in its warp, %lane (.u32). Every lane of
/// every warp runs it.
struct Instruction {
  std::string name;  ///< unique, for people and for the golden file: "add.rn.ftz.f32"
  std::vector<Operand> inputs;
  std::vector<std::uint32_t> results;  ///< bytes of each
  std::string body;
};

/// Every instruction of the suite, in a fixed order.
std::vector<Instruction> AllInstructions();

// The families that AllInstructions joins, one file each.
void AddInteger(std::vector<Instruction>& all);
void AddBits(std::vector<Instruction>& all);
void AddFloat(std::vector<Instruction>& all);
void AddHalf(std::vector<Instruction>& all);
void AddConvert(std::vector<Instruction>& all);
void AddCompare(std::vector<Instruction>& all);
void AddWarp(std::vector<Instruction>& all);
void AddMemory(std::vector<Instruction>& all);
void AddMatrix(std::vector<Instruction>& all);

/// The operand that a PTX type such as "s32" or "f16x2" asks for.
Operand OperandOf(const std::string& type);

/// `mnemonic %x0, %a0, %a1, ...;` with inputs of the given types and one result.
Instruction Plain(const std::string& mnemonic, const std::vector<std::string>& inputs,
                  const std::string& result);

/// A PTX module that holds the instruction's kernel. Its parameters are the addresses of the input
/// columns (one behind the other, `lanes` values each), of the result columns, and of 128 bytes of
/// scratch a lane.
std::string ModuleText(const Instruction& instruction, std::uint32_t lanes);
/// The kernel's name in it.
std::string KernelName(const Instruction& instruction);

inline constexpr std::uint32_t kBlock = 128;  ///< threads of a block; lanes are a multiple
inline constexpr std::uint32_t kScratchBytes = 128;

}  // namespace voltcheck::conformance

#endif  // VOLTCHECK_TESTS_SIMULATOR_CONFORMANCE_INSTRUCTION_H_
