#ifndef VOLTCHECK_KERNELS_SIMULATOR_PTX_MODULE_H_
#define VOLTCHECK_KERNELS_SIMULATOR_PTX_MODULE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace voltcheck::simulator::ptx {

/// A place in a PTX file, both counted from 1.
struct Location {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

enum class StateSpace { kRegister, kConst, kGlobal, kLocal, kParam, kShared };

enum class Type {
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBf16,
  kBf16x2,
  kF32,
  kF64,
};
/// Bytes of one element in memory (a predicate has none: 0).
std::uint32_t SizeOf(Type type);

/// A symbol's address that an initialiser stores: bytes `shift / 8` .. of (symbol + addend),
/// `bytes` many.
struct Relocation {
  std::uint64_t offset = 0;  ///< in the variable
  std::string symbol;        ///< a variable or function of the module
  std::int64_t addend = 0;
  bool generic = false;     ///< `generic(symbol)`
  std::uint32_t bytes = 8;  ///< size of the stored value; a wider address is cut
  std::uint32_t shift = 0;  ///< bits dropped first: 8 for `0xFF00(symbol)`
};

/// A declared variable, register or parameter. Names are unique within a function and differ from
/// those of the module: the parser renames a second `t` to `t#1`, in the declaration and wherever
/// it is meant.
/// `%r<8>` becomes the eight variables %r0 .. %r7.
struct Variable {
  StateSpace space = StateSpace::kRegister;
  Type type = Type::kB32;
  std::string name;
  std::uint32_t vector = 1;  ///< .v2, .v4
  std::uint32_t alignment = 1;
  std::uint64_t elements = 1;  ///< product of the array dimensions; 0: unsized (dynamic shared)
  std::uint64_t element_bytes() const { return std::uint64_t{SizeOf(type)} * vector; }
  std::uint64_t bytes() const { return element_bytes() * elements; }
  std::vector<std::byte> initial;  ///< `bytes()` bytes, or empty: zero
  std::vector<Relocation> relocations;
  bool external = false;
  bool managed = false;  ///< .attribute(.managed): the host reads and writes it, too
  Location location;
};

/// A name that is declared nowhere and begins with % is left as written: a special register
/// (`%tid.x`) or a mistake, which the program builder tells apart. Every other name is declared.
struct Operand {
  enum class Kind {
    kSymbol,     ///< register, variable, parameter, function or label `name`; with `offset` for
                 ///< name+4. Components keep their suffix: `%tid.x`, `v.y`, and `r.b0`, `r.h1` of
                 ///< video instructions
    kImmediate,  ///< `bits`; integers sign-extended to 64 bits, floats as written (see `immediate`)
    kVector,     ///< {a, b, ...} in `elements`
    kAddress,    ///< [base + offset] or [immediate]: base in elements[0], `offset` here; further
                 ///< operands inside the brackets ([tensor, {x, y}]) follow in elements[1], ...
    kList,       ///< (a, b, ...) of a call, in `elements`
    kPair,       ///< p|q, in `elements`; either may be a sink
    kSink,       ///< _
  };
  Kind kind = Kind::kSymbol;
  std::string name;
  bool negated = false;  ///< !%p, or -%r of video instructions; signs of numbers are in `bits`
  std::int64_t offset = 0;
  std::uint64_t bits = 0;
  /// How it was written: an integer, 0f... (32 bits in `bits`), or 0d... and decimals (64 bits).
  enum class Immediate { kInteger, kF32, kF64 } immediate = Immediate::kInteger;
  std::vector<Operand> elements;
  Location location;
};

struct Instruction {
  std::string opcode;                  ///< "mma"
  std::vector<std::string> modifiers;  ///< {"sync", "aligned", "m8n8k4", "row", "col", "f32", ...}
  std::string guard;                   ///< predicate register or empty
  bool guard_negated = false;
  std::vector<Operand> operands;
  Location location;
  std::uint32_t source_file = 0;  ///< from .loc: number of the .file directive, 0: none
  std::uint32_t source_line = 0;
  /// As written, without guard and semicolon, for messages: "mma.sync.aligned...".
  std::string Mnemonic() const;
};

struct Function {
  std::string name;
  bool entry = false;
  bool declaration = false;  ///< `.extern .func` or a prototype without body
  std::vector<Variable> returns;
  std::vector<Variable> parameters;
  /// Registers and .local/.shared/.param variables of the body; its .global and .const variables
  /// are hoisted into the module under names of their own.
  std::vector<Variable> variables;
  std::vector<Instruction> body;
  std::map<std::string, std::uint32_t> labels;  ///< name -> index into body (body.size(): the end)
  std::map<std::string, std::vector<std::string>> branch_targets;  ///< `L: .branchtargets a, b;`
  std::map<std::string, std::vector<std::string>> call_targets;    ///< `L: .calltargets f, g;`
  std::map<std::string, Function> prototypes;                      ///< `L: .callprototype`
  std::uint32_t max_threads = 0;                  ///< .maxntid product, 0: not given
  std::uint32_t required_threads[3] = {0, 0, 0};  ///< .reqntid
  Location location;
};

struct Module {
  std::string file;  ///< name for messages
  std::uint32_t version_major = 0;
  std::uint32_t version_minor = 0;
  std::string target;  ///< the first architecture named: "sm_70"
  Location target_location;
  std::vector<Variable> variables;
  std::vector<Function> functions;  ///< one of each name: a definition replaces its declaration
  std::map<std::uint32_t, std::string> source_files;  ///< .file number -> path
};

/// Parses PTX text. Throws Error (status 2), "FILE:LINE:COLUMN: what; what to do", for anything
/// malformed. Instructions are not checked beyond their syntax and their names; the program builder
/// does that. The file may come from anywhere: limits.h bounds what it can ask for.
Module ParseModule(const std::string& file, const std::string& text);

}  // namespace voltcheck::simulator::ptx

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PTX_MODULE_H_
