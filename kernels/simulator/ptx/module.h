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
  kPred, kB8, kB16, kB32, kB64, kU8, kU16, kU32, kU64, kS8, kS16, kS32, kS64,
  kF16, kF16x2, kBf16, kBf16x2, kF32, kF64,
};
/// Bytes of one element in memory (a predicate has none: 0).
std::uint32_t SizeOf(Type type);

/// A symbol's address that an initialiser stores.
struct Relocation {
  std::uint64_t offset = 0;  ///< in the variable
  std::string symbol;
  std::int64_t addend = 0;
  bool generic = false;      ///< `generic(symbol)`
};

/// A declared variable, register or parameter. Names are unique within a function: the parser renames what
/// nested scopes hide.
struct Variable {
  StateSpace space = StateSpace::kRegister;
  Type type = Type::kB32;
  std::string name;
  std::uint32_t vector = 1;          ///< .v2, .v4
  std::uint32_t alignment = 1;
  std::uint64_t elements = 1;        ///< product of the array dimensions; 0: unsized (dynamic shared)
  std::uint64_t bytes() const { return std::uint64_t{SizeOf(type)} * vector * elements; }
  std::vector<std::byte> initial;    ///< empty: zero
  std::vector<Relocation> relocations;
  bool external = false;
  Location location;
};

struct Operand {
  enum class Kind {
    kSymbol,     ///< register, variable, parameter, function or label `name`; with `offset` for name+4
    kImmediate,  ///< `bits`; integers sign-extended to 64 bits, floats as written (see `is_float`)
    kVector,     ///< {a, b, ...} in `elements`
    kAddress,    ///< [name + offset] or [immediate]: base in elements[0]
    kList,       ///< (a, b, ...) of a call, in `elements`
    kPair,       ///< p|q, in `elements`
    kSink,       ///< _
  };
  Kind kind = Kind::kSymbol;
  std::string name;
  bool negated = false;        ///< !%p, or -%f where the syntax allows it
  std::int64_t offset = 0;
  std::uint64_t bits = 0;
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
  bool declaration = false;              ///< `.extern .func` or a prototype without body
  std::vector<Variable> returns;
  std::vector<Variable> parameters;
  std::vector<Variable> variables;       ///< registers and .local/.shared/.param variables of the body
  std::vector<Instruction> body;
  std::map<std::string, std::uint32_t> labels;  ///< name -> index into body (body.size(): the end)
  std::map<std::string, std::vector<std::string>> branch_targets;  ///< `L: .branchtargets a, b;`
  std::map<std::string, Function> prototypes;                       ///< `L: .callprototype`
  std::uint32_t max_threads = 0;         ///< .maxntid product, 0: not given
  std::uint32_t required_threads[3] = {0, 0, 0};  ///< .reqntid
  Location location;
};

struct Module {
  std::string file;  ///< name for messages
  std::uint32_t version_major = 0;
  std::uint32_t version_minor = 0;
  std::string target;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::map<std::uint32_t, std::string> source_files;  ///< .file number -> path
};

/// Parses PTX text. Throws Error (status 2), "FILE:LINE:COLUMN: what; what to do", for anything malformed.
/// Instructions are not checked beyond their syntax; the program builder does that.
Module ParseModule(const std::string& file, const std::string& text);

}  // namespace voltcheck::simulator::ptx

#endif  // VOLTCHECK_KERNELS_SIMULATOR_PTX_MODULE_H_
