// ld, st, atom, red, membar, fence, prefetch.
#include <algorithm>

#include "kernels/simulator/program/decoders.h"
#include "kernels/simulator/program/type_suffix.h"

namespace voltcheck::simulator {
namespace {

using Kind = ptx::Operand::Kind;

/// Modifiers of a memory instruction, read one by one.
struct MemoryModifiers {
  MemorySite site;
  TypeSuffix type;
  std::string operation;  ///< of an atomic
  bool space_given = false;
};

bool ReadSpace(const std::string& word, MemoryModifiers& memory) {
  static const std::pair<const char*, Space> spaces[] = {
      {"global", Space::kGlobal}, {"shared", Space::kShared}, {"shared::cta", Space::kShared},
      {"local", Space::kLocal},   {"const", Space::kConst},   {"param", Space::kParam}};
  for (const auto& [name, space] : spaces) {
    if (word == name) {
      memory.site.space = space;
      memory.space_given = true;
      return true;
    }
  }
  return false;
}

/// Orderings and scopes. Scopes change no value, as the simulator's memory is coherent for all
/// threads; the race checker looks at them.
bool ReadOrder(const std::string& word, MemorySite& site) {
  if (word == "volatile" || word == "relaxed" || word == "mmio") {
    site.ordered = true;
    return true;
  }
  if (word == "acquire" || word == "release" || word == "acq_rel") {
    site.ordered = true;
    site.acquire = word != "release";
    site.release = word != "acquire";
    return true;
  }
  if (word == "cta") {
    site.block_scope = true;
    return true;
  }
  return word == "weak" || word == "gpu" || word == "sys" || word == "cluster";
}

/// Cache operators and hints, which have no effect on values. `.cv` reads memory again, as volatile
/// does.
bool ReadCacheHint(const std::string& word, MemorySite& site) {
  if (word == "cv") {
    site.ordered = true;
    return true;
  }
  static const char* const hints[] = {"nc", "ca", "cg", "cs", "lu", "wb", "wt"};
  return std::any_of(std::begin(hints), std::end(hints),
                     [&](const char* hint) { return word == hint; }) ||
         word.starts_with("L1::") || word.starts_with("L2::");
}

MemoryModifiers ReadModifiers(const FunctionLowering& lowering, bool atomic) {
  MemoryModifiers memory;
  static const char* const operations[] = {"add", "min",  "max", "and", "or",
                                           "xor", "exch", "cas", "inc", "dec"};
  for (const std::string& word : lowering.instruction().modifiers) {
    if (ReadSpace(word, memory) || ReadOrder(word, memory.site)) {
      continue;
    }
    if (!atomic && ReadCacheHint(word, memory.site)) {
      continue;
    }
    if (!atomic && (word == "v2" || word == "v4")) {
      memory.site.vector = word == "v2" ? 2 : 4;
      continue;
    }
    if (atomic && memory.operation.empty() &&
        std::any_of(std::begin(operations), std::end(operations),
                    [&](const char* name) { return word == name; })) {
      memory.operation = word;
      continue;
    }
    if (atomic && word == "noftz") {
      continue;
    }
    const TypeSuffix type = FindTypeSuffix(word);
    if (type.bytes == 0 || memory.type.valid()) {
      lowering.FailUnknown();
    }
    memory.type = type;
  }
  if (!memory.type.valid()) {
    lowering.FailUnknown();
  }
  memory.site.bytes = memory.type.bytes;
  memory.site.number = memory.type.number;
  if (memory.site.bytes * memory.site.vector > 16) {
    lowering.Fail("moves more than 16 bytes per lane");
  }
  return memory;
}

/// Resolves the address and completes the site's space.
AddressOperand ReadAddress(FunctionLowering& lowering, std::size_t operand,
                           MemoryModifiers& memory) {
  const AddressOperand address = lowering.Address(lowering.operand(operand));
  MemorySite& site = memory.site;
  site.wide_address = address.wide;
  if (address.frame_parameter ||
      (site.space == Space::kParam && !address.symbol && !lowering.function().entry)) {
    site.space = Space::kLocal;  // parameters of calls live in the lane's frame
  } else if (address.symbol && !memory.space_given) {
    // A variable named in a generic access means itself, not its offset as a generic address.
    switch (address.space) {
      case ptx::StateSpace::kShared:
        site.space = Space::kShared;
        break;
      case ptx::StateSpace::kLocal:
        site.space = Space::kLocal;
        break;
      case ptx::StateSpace::kConst:
        site.space = Space::kConst;
        break;
      case ptx::StateSpace::kParam:
        site.space = Space::kParam;
        break;
      default:
        site.space = Space::kGlobal;
    }
  }
  return address;
}

bool MayReachOtherBlocks(const MemorySite& site) {
  return site.ordered && (site.space == Space::kGlobal || site.space == Space::kGeneric);
}

void Finish(FunctionLowering& lowering, Instr& instr, const MemorySite& site, std::int64_t offset) {
  Program& program = lowering.program();
  instr.imm = offset;
  instr.aux = static_cast<std::uint32_t>(program.memory.size());
  program.memory.push_back(site);
  program.visible.back() = site.space == Space::kParam || site.space == Space::kConst ? 0 : 1;
  if (MayReachOtherBlocks(site)) {
    lowering.MakeControl(ControlKind::kOrdered);
  }
}

/// The elements of a data operand: one, or the parts of a vector.
std::vector<ptx::Operand> DataElements(const FunctionLowering& lowering, std::size_t operand,
                                       std::size_t vector) {
  const ptx::Operand& data = lowering.operand(operand);
  if (vector == 1 && data.kind != Kind::kVector) {
    return {data};
  }
  if (data.kind != Kind::kVector || data.elements.size() != vector) {
    lowering.Fail("needs a vector of " + std::to_string(vector) + " registers");
  }
  return data.elements;
}

std::uint8_t RegisterBits(char kind) { return kind == 'h' ? 16 : kind == 'w' ? 32 : 64; }

/// The register kind of a data operand, which may be wider than the type in memory.
char DataKind(const FunctionLowering& lowering, const std::vector<ptx::Operand>& elements,
              const TypeSuffix& type) {
  char kind = 0;
  for (const ptx::Operand& element : elements) {
    if (const char own = lowering.RegisterKind(element); own != 0) {
      if (kind != 0 && own != kind) {
        lowering.Fail("mixes registers of different widths");
      }
      kind = own;
    }
  }
  kind = kind == 0 ? type.kind : kind;
  if (kind == 'p' || RegisterBits(kind) < 8 * type.bytes) {
    lowering.Fail("needs registers of at least " + std::to_string(8 * type.bytes) + " bits");
  }
  return kind;
}

/// Which handlers a load or store gets.
std::string KeyOf(const MemorySite& site) {
  const std::string key = site.write ? "@store" : "@load";
  const bool words = site.bytes == 4 && site.register_bits == 32 && !site.ordered;
  if (words && site.space == Space::kShared && !site.wide_address) {
    return key + WordAccessSuffix(true, site.vector);
  }
  if (words && (site.space == Space::kGlobal || site.space == Space::kGeneric) &&
      site.wide_address) {
    return key + WordAccessSuffix(false, site.vector);
  }
  return key;
}

}  // namespace

void DecodeLoad(FunctionLowering& lowering) {
  MemoryModifiers memory = ReadModifiers(lowering, false);
  lowering.ExpectOperands(2, 3);  // a third one is a cache policy
  const AddressOperand address = ReadAddress(lowering, 1, memory);
  const auto elements = DataElements(lowering, 0, memory.site.vector);
  const char kind = DataKind(lowering, elements, memory.type);
  memory.site.register_bits = RegisterBits(kind);
  memory.site.sign_extend = memory.type.number == NumberKind::kSigned;
  std::vector<Ref> destinations;
  for (const ptx::Operand& element : elements) {
    destinations.push_back(lowering.Destination(element, kind));
  }
  Instr& instr =
      lowering.Emit(*OpRegistry::Get().Find(KeyOf(memory.site)), destinations, {address.row});
  Finish(lowering, instr, memory.site, address.offset);
}

void DecodeStore(FunctionLowering& lowering) {
  MemoryModifiers memory = ReadModifiers(lowering, false);
  lowering.ExpectOperands(2, 3);
  const AddressOperand address = ReadAddress(lowering, 0, memory);
  if (memory.site.space == Space::kConst || memory.site.space == Space::kParam) {
    lowering.Fail("writes to read-only memory");
  }
  const auto elements = DataElements(lowering, 1, memory.site.vector);
  const char kind = DataKind(lowering, elements, memory.type);
  memory.site.register_bits = RegisterBits(kind);
  memory.site.write = true;
  std::vector<Ref> sources = {address.row};
  for (const ptx::Operand& element : elements) {
    sources.push_back(lowering.Source(element, kind));
  }
  Instr& instr = lowering.Emit(*OpRegistry::Get().Find(KeyOf(memory.site)), {}, sources);
  Finish(lowering, instr, memory.site, address.offset);
}

void DecodeAtomic(FunctionLowering& lowering) {
  MemoryModifiers memory = ReadModifiers(lowering, true);
  static const std::pair<const char*, AtomicOp> operations[] = {
      {"add", AtomicOp::kAdd}, {"min", AtomicOp::kMin},   {"max", AtomicOp::kMax},
      {"and", AtomicOp::kAnd}, {"or", AtomicOp::kOr},     {"xor", AtomicOp::kXor},
      {"cas", AtomicOp::kCas}, {"exch", AtomicOp::kExch}, {"inc", AtomicOp::kInc},
      {"dec", AtomicOp::kDec}};
  const auto* operation =
      std::find_if(std::begin(operations), std::end(operations),
                   [&](const auto& entry) { return memory.operation == entry.first; });
  const bool reduction = lowering.instruction().opcode == "red";
  if (operation == std::end(operations) || memory.site.bytes < 2 ||
      (reduction &&
       (operation->second == AtomicOp::kCas || operation->second == AtomicOp::kExch)) ||
      memory.site.space == Space::kConst || memory.site.space == Space::kParam) {
    lowering.FailUnknown();
  }
  MemorySite& site = memory.site;
  site.operation = operation->second;
  site.write = true;
  site.atomic = true;
  site.ordered = true;
  const bool is_float = site.number == NumberKind::kFloat || site.number == NumberKind::kFloatPair;
  const bool bitwise = site.operation != AtomicOp::kAdd && site.operation != AtomicOp::kExch &&
                       site.operation != AtomicOp::kCas;
  if ((is_float && bitwise) || (site.bytes == 2 && !is_float && site.operation != AtomicOp::kCas)) {
    lowering.FailUnknown();
  }
  const std::size_t first = reduction ? 0 : 1;
  const std::size_t operands = first + (site.operation == AtomicOp::kCas ? 3 : 2);
  lowering.ExpectOperands(operands, operands + 1);
  const AddressOperand address = ReadAddress(lowering, first, memory);
  const char kind = memory.type.kind;
  site.register_bits = RegisterBits(kind);
  std::vector<Ref> sources = {address.row, lowering.Source(lowering.operand(first + 1), kind)};
  if (site.operation == AtomicOp::kCas) {
    sources.push_back(lowering.Source(lowering.operand(first + 2), kind));
  }
  const Ref destination =
      reduction ? lowering.Temporary(kind) : lowering.Destination(lowering.operand(0), kind);
  Instr& instr = lowering.Emit(*OpRegistry::Get().Find("@atomic"), {destination}, sources);
  Finish(lowering, instr, site, address.offset);
}

void DecodeFence(FunctionLowering& lowering) {
  lowering.ExpectOperands(0, 0);
  static const char* const known[] = {"cta", "gl", "sys", "gpu", "sc", "acq_rel"};
  for (const std::string& word : lowering.instruction().modifiers) {
    if (std::none_of(std::begin(known), std::end(known),
                     [&](const char* name) { return word == name; })) {
      lowering.FailUnknown();
    }
  }
  const bool block_only = lowering.Has("cta");
  lowering.Emit("@fence", {}, {}).imm = (block_only ? 1 : 0) + (lowering.Has("acq_rel") ? 4 : 0);
}

void DecodePrefetch(FunctionLowering& lowering) {
  lowering.ExpectOperands(1, 1);
  lowering.Address(lowering.operand(0));
}

}  // namespace voltcheck::simulator
