#ifndef VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_PROGRAM_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace voltcheck::simulator {

inline constexpr std::uint32_t kWarpSize = 32;
inline constexpr std::uint32_t kFullMask = 0xffffffffu;
inline constexpr std::uint32_t kNone = 0xffffffffu;

struct ExecContext;
struct Instr;

/// Executes one instruction for the lanes in context.mask. Every instruction has two: one for any
/// mask, one that may assume all 32 lanes.
using Handler = void (*)(ExecContext& context, const Instr& instr);

/// Where an operand's row lives. A row holds one value per lane: 32-bit rows are 128 bytes (8- and
/// 16-bit values zero-extended), 64-bit rows 256 bytes, a predicate is one 32-bit mask.
enum class RowBase : std::uint32_t {
  kFrame,     ///< registers of the current call frame
  kConstant,  ///< immediates, shared by the whole program
  kBlock,     ///< %ctaid, %ntid, ...: one set per block (block_rows.h)
  kWarp,      ///< %tid, %laneid, ...: one set per warp
};

/// Base in the two low bits, byte offset of the row in the others (rows are 4-byte aligned at
/// least).
using Ref = std::uint32_t;
constexpr Ref MakeRef(RowBase base, std::uint32_t byte_offset) {
  return byte_offset | static_cast<std::uint32_t>(base);
}
constexpr RowBase BaseOf(Ref ref) { return static_cast<RowBase>(ref & 3u); }

/// The first constant row is a predicate that is true in all lanes: the guard of unguarded
/// instructions.
inline constexpr Ref kTrue = MakeRef(RowBase::kConstant, 0);

/// One executable instruction: 64 bytes, all operands resolved. PTX instructions become one or
/// more.
struct alignas(64) Instr {
  Handler handler[2] = {nullptr, nullptr};                 ///< [0] any mask, [1] all lanes
  Ref op[6] = {kTrue, kTrue, kTrue, kTrue, kTrue, kTrue};  ///< destinations first
  Ref guard = kTrue;                                       ///< predicate row
  std::uint32_t guard_flip = 0;                            ///< all ones for @!p
  std::int64_t imm = 0;                                    ///< address offset, LUT, ...
  std::uint32_t aux = kNone;  ///< index into Program::memory or ::pool, by handler
  /// > 0: straight-line instructions from here on, among them Control::whole_warp ones. < 0: a
  /// control instruction.
  std::int32_t run = 1;

  bool is_control() const { return run < 0; }
  std::uint32_t control() const {
    return ~static_cast<std::uint32_t>(run);
  }  ///< in Program::control
};
static_assert(sizeof(Instr) == 64);

/// What a control instruction does.
enum class ControlKind : std::uint8_t {
  kBranch,       ///< to `target`, reconverging at `reconvergence`
  kBranchTable,  ///< to table[op[0]]
  kCall,         ///< `function`, or the one whose code address is in op[0]
  kReturn,
  kExit,
  kTrap,
  kBarrier,  ///< op[0] result, op[1] id, op[2] thread count, op[3] predicate
  kSync,     ///< handler runs once all lanes of the mask in op[mask_operand] have arrived
  kOrdered,  ///< handler orders with other blocks: global atomics, volatile, acquire, release
  kYield,    ///< nanosleep: nothing but a hint
};

enum class BarrierOp : std::uint8_t { kSync, kArrive, kRedAnd, kRedOr, kRedPopc };

/// Bytes that a call copies between the parameter variables of caller and callee, per lane.
struct ParamCopy {
  std::uint64_t caller_offset = 0;
  std::uint64_t callee_offset = 0;
  std::uint64_t bytes = 0;
};

struct Control {
  ControlKind kind = ControlKind::kExit;
  std::uint32_t target = kNone;
  std::uint32_t reconvergence = kNone;  ///< immediate post-dominator, kNone: only the exit
  bool backward = false;                ///< kBranch: to this pc or one before it
  bool idle = false;                    ///< backward, over nothing but arithmetic and branches
  std::vector<std::uint32_t> table;     ///< kBranchTable
  BarrierOp barrier = BarrierOp::kSync;
  bool barrier_has_count = false;
  bool aligned = false;                ///< all lanes of the warp must execute this very instruction
  bool whole_warp = false;             ///< kSync: straight-line code for a group of all 32 lanes
  std::uint32_t mask_operand = kNone;  ///< kSync: which op holds the member mask; kNone: aligned
  std::uint32_t signature = 0;         ///< kSync: instructions with equal numbers may meet
  std::string kinds;                   ///< kSync: kinds of op[], destinations before '='
  std::uint32_t function = kNone;
  std::vector<ParamCopy> arguments;  ///< kCall: caller to callee
  std::vector<ParamCopy> returns;    ///< kCall: callee to caller
};

/// Storage for rows: vectors of this are aligned for every SIMD target.
struct alignas(64) AlignedBytes {
  std::byte bytes[64] = {};
};

/// The address space an instruction names.
enum class Space : std::uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam };

enum class AtomicOp : std::uint8_t { kAdd, kMin, kMax, kAnd, kOr, kXor, kExch, kCas, kInc, kDec };
enum class NumberKind : std::uint8_t { kUnsigned, kSigned, kFloat, kFloatPair };

/// What a load, store or atomic does beyond its operands; `Instr::aux` indexes Program::memory.
struct MemorySite {
  Space space = Space::kGeneric;
  std::uint8_t bytes = 4;           ///< of one element
  std::uint8_t vector = 1;          ///< elements per lane
  bool sign_extend = false;         ///< narrow loads into wider registers
  std::uint8_t register_bits = 32;  ///< width of the data registers: 16, 32 or 64
  bool wide_address = true;         ///< the address register is 64-bit
  bool write = false;
  bool atomic = false;
  bool ordered = false;  ///< volatile, acquire, release or atomic: may carry messages
  bool acquire = false;
  bool release = false;
  bool block_scope = false;  ///< .cta: orders nothing for other blocks
  AtomicOp operation = AtomicOp::kAdd;
  NumberKind number = NumberKind::kUnsigned;
};

/// Where an instruction came from, for findings.
struct InstrInfo {
  std::uint32_t function = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t source_file = 0;
  std::uint32_t source_line = 0;
  std::uint32_t text = 0;  ///< index into Program::texts
};

struct ParameterSlot {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t alignment = 1;
};

struct FunctionCode {
  std::string name;
  bool entry = false;
  std::uint32_t begin = 0;  ///< pcs
  std::uint32_t end = 0;
  std::uint32_t frame_bytes = 0;          ///< register frame
  std::uint64_t local_bytes = 0;          ///< .local variables, and .param ones of device functions
  std::uint32_t static_shared_bytes = 0;  ///< entries: end of the shared variables it can reach
  std::uint32_t dynamic_shared_offset = 0;  ///< entries: where dynamic shared memory begins
  Ref local_base = kNone;  ///< row that a call fills with the frame's local address
  std::vector<ParameterSlot> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t max_threads = 0;
  std::uint32_t required_threads[3] = {0, 0, 0};
};

/// A module ready to run. Plain data; shared by all threads, never written after it is built.
struct Program {
  std::string file;
  std::vector<Instr> code;
  std::vector<InstrInfo> info;        ///< one per instruction
  std::vector<std::uint8_t> visible;  ///< 1: touches memory, so other lanes may see when it runs
  std::vector<Control> control;
  std::vector<MemorySite> memory;
  std::vector<Ref> pool;                ///< operands of instructions with more than six
  std::vector<AlignedBytes> constants;  ///< constant rows
  std::vector<FunctionCode> functions;
  std::vector<std::string> texts;  ///< mnemonics
  std::map<std::uint32_t, std::string> source_files;
  std::uint32_t call_frame_bytes = 0;  ///< register frame of every call below an entry
};

/// Code addresses that function pointers hold.
inline constexpr std::uint64_t kCodeWindow = 0x0000'0c0d'e000'0000;
inline constexpr std::uint64_t kCodeStride = 16;

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PROGRAM_PROGRAM_H_
