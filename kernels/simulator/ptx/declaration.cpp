#include "kernels/simulator/ptx/declaration.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "kernels/simulator/ptx/expression.h"
#include "kernels/simulator/ptx/limits.h"

namespace voltcheck::simulator::ptx {
namespace {

struct SpaceWord {
  std::string_view word;
  StateSpace space;
};
constexpr std::array<SpaceWord, 6> kSpaces = {{{"reg", StateSpace::kRegister},
                                               {"const", StateSpace::kConst},
                                               {"global", StateSpace::kGlobal},
                                               {"local", StateSpace::kLocal},
                                               {"param", StateSpace::kParam},
                                               {"shared", StateSpace::kShared}}};

struct TypeWord {
  std::string_view word;
  Type type;
  std::uint32_t bytes;
};
// In the order of the enumeration, which SizeOf relies on.
constexpr std::array<TypeWord, 19> kTypes = {{{"pred", Type::kPred, 0},
                                              {"b8", Type::kB8, 1},
                                              {"b16", Type::kB16, 2},
                                              {"b32", Type::kB32, 4},
                                              {"b64", Type::kB64, 8},
                                              {"u8", Type::kU8, 1},
                                              {"u16", Type::kU16, 2},
                                              {"u32", Type::kU32, 4},
                                              {"u64", Type::kU64, 8},
                                              {"s8", Type::kS8, 1},
                                              {"s16", Type::kS16, 2},
                                              {"s32", Type::kS32, 4},
                                              {"s64", Type::kS64, 8},
                                              {"f16", Type::kF16, 2},
                                              {"f16x2", Type::kF16x2, 4},
                                              {"bf16", Type::kBf16, 2},
                                              {"bf16x2", Type::kBf16x2, 4},
                                              {"f32", Type::kF32, 4},
                                              {"f64", Type::kF64, 8}}};

std::uint32_t ParseAlignment(Cursor& cursor) {
  const Location where = cursor.Peek().location;
  const std::uint64_t alignment = cursor.ExpectInteger("an alignment in bytes");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > kMaxAlignment) {
    cursor.Fail(where,
                "the alignment " + std::to_string(alignment) + " is not a power of two up to " +
                    std::to_string(kMaxAlignment),
                "write 1, 2, 4, 8, ...");
  }
  return static_cast<std::uint32_t>(alignment);
}

/// `.ptr .global .align 16`: what a pointer parameter points to, without effect here.
void SkipPointee(Cursor& cursor) {
  for (const std::string_view space : {"const", "global", "local", "shared", "generic", "param"}) {
    if (cursor.TryWord(space)) {
      break;
    }
  }
  if (cursor.TryWord("align")) {
    ParseAlignment(cursor);
  }
}

/// Parses `[4][2]`; an open first dimension counts as 0. The product of the others is bounded.
std::vector<std::uint64_t> ParseDimensions(Cursor& cursor, std::uint64_t element_bytes) {
  std::vector<std::uint64_t> dimensions;
  std::uint64_t left = kMaxVariableBytes / std::max<std::uint64_t>(element_bytes, 1);
  while (cursor.At("[")) {
    const Location where = cursor.Take().location;
    if (dimensions.size() == kMaxInitialiserDepth) {
      cursor.Fail(where, "too many array dimensions",
                  "use at most " + std::to_string(kMaxInitialiserDepth));
    }
    if (cursor.Try("]")) {
      if (!dimensions.empty()) {
        cursor.Fail(where, "only the first dimension may be left open", "write its size");
      }
      dimensions.push_back(0);
      continue;
    }
    const std::uint64_t size =
        cursor.AtName() ? static_cast<std::uint64_t>(ParseIntegerConstant(cursor, "an array size"))
                        : cursor.ExpectInteger("an array size");
    cursor.Expect("]", "after the array size");
    if (size == 0 || size > left) {
      cursor.Fail(where, "an array of no or too many elements",
                  "use 1 to " + std::to_string(kMaxVariableBytes) + " bytes in all");
    }
    left /= size;
    dimensions.push_back(size);
  }
  return dimensions;
}

}  // namespace

std::optional<StateSpace> FindSpace(std::string_view word) {
  for (const SpaceWord& candidate : kSpaces) {
    if (candidate.word == word) {
      return candidate.space;
    }
  }
  return std::nullopt;
}

std::optional<Type> FindType(std::string_view word) {
  for (const TypeWord& candidate : kTypes) {
    if (candidate.word == word) {
      return candidate.type;
    }
  }
  return std::nullopt;
}

std::uint32_t SizeOf(Type type) { return kTypes[static_cast<std::size_t>(type)].bytes; }

bool SkipAttribute(Cursor& cursor) {
  cursor.Expect("(", "after .attribute");
  bool managed = false;
  for (int depth = 1; depth > 0;) {
    if (cursor.AtEnd()) {
      cursor.FailExpected("')' of .attribute", "close it");
    }
    const Token token = cursor.Take();
    if (token.kind == Token::Kind::kPunctuation) {
      depth += token.text == "(" ? 1 : token.text == ")" ? -1 : 0;
    }
    managed |= token.kind == Token::Kind::kWord && token.text == "managed";
  }
  return managed;
}

Specifiers ParseSpecifiers(Cursor& cursor, StateSpace space) {
  Specifiers specifiers;
  specifiers.space = space;
  std::uint32_t alignment = 0;
  bool typed = false;
  while (cursor.Peek().kind == Token::Kind::kWord) {
    const Token word = cursor.Take();
    if (word.text == "align") {
      alignment = ParseAlignment(cursor);
    } else if (word.text == "v2" || word.text == "v4" || word.text == "v8") {
      specifiers.vector = static_cast<std::uint32_t>(word.text[1] - '0');
    } else if (word.text == "attribute") {
      specifiers.managed |= SkipAttribute(cursor);
    } else if (word.text == "ptr" && space == StateSpace::kParam) {
      SkipPointee(cursor);
    } else if (word.text == "texref" || word.text == "samplerref" || word.text == "surfref") {
      cursor.Fail(word.location, "texture and surface references are not supported",
                  "use plain memory");
    } else if (const auto type = FindType(word.text); type && !typed) {
      specifiers.type = *type;
      typed = true;
    } else {
      cursor.Fail(word.location, Quote("." + std::string(word.text)) + " in a declaration",
                  "write a type such as .b32, .align or .v2, .v4");
    }
  }
  if (!typed) {
    cursor.FailExpected("the type of a declaration", "write one such as .b32");
  }
  if (specifiers.type == Type::kPred && space != StateSpace::kRegister) {
    cursor.Fail(cursor.Peek().location, "a predicate in memory", "declare it as .reg .pred");
  }
  const std::uint32_t natural = SizeOf(specifiers.type) * specifiers.vector;
  specifiers.alignment = alignment != 0 ? alignment : std::max<std::uint32_t>(natural, 1);
  return specifiers;
}

Declarator ParseDeclarator(Cursor& cursor, const Specifiers& specifiers, bool unnamed) {
  Declarator declarator;
  Variable& variable = declarator.variable;
  variable.space = specifiers.space;
  variable.type = specifiers.type;
  variable.vector = specifiers.vector;
  variable.alignment = specifiers.alignment;
  variable.managed = specifiers.managed;
  variable.location = cursor.Peek().location;
  if (unnamed && cursor.AtName()) {
    variable.name = std::string(cursor.Take().text);
  } else {
    variable.name = std::string(cursor.ExpectName("the name of a variable").text);
  }
  cursor.Charge(1);
  if (cursor.At("[")) {
    if (specifiers.space == StateSpace::kRegister) {
      cursor.FailExpected("a scalar or vector register", "registers have no arrays");
    }
    declarator.dimensions =
        ParseDimensions(cursor, std::uint64_t{SizeOf(variable.type)} * variable.vector);
    for (const std::uint64_t size : declarator.dimensions) {
      variable.elements *= size;
    }
  }
  return declarator;
}

std::vector<Variable> ParseRegisters(Cursor& cursor, const Specifiers& specifiers,
                                     ModuleContext& context) {
  const Location where = cursor.Peek().location;
  const auto charge = [&](std::uint64_t count) {
    if (count > kMaxRegisters - context.registers) {
      cursor.Fail(where,
                  "the module declares more than " + std::to_string(kMaxRegisters) + " registers",
                  "declare only those that are used");
    }
    context.registers += count;
  };
  const Variable first = ParseDeclarator(cursor, specifiers, false).variable;
  if (!cursor.Try("<")) {
    charge(1);
    return {first};
  }
  const std::uint64_t count = cursor.ExpectInteger("the number of registers");
  cursor.Expect(">", "after the number of registers");
  if (first.name.size() > kMaxRangeNameLength) {
    cursor.Fail(where, "the name of a register range is too long",
                "use at most " + std::to_string(kMaxRangeNameLength) + " characters");
  }
  charge(count);
  std::vector<Variable> registers(count, first);
  for (std::uint64_t i = 0; i < count; ++i) {
    registers[i].name += std::to_string(i);
  }
  return registers;
}

std::vector<Variable> ParseParameters(Cursor& cursor, bool unnamed) {
  std::vector<Variable> parameters;
  cursor.Expect("(", "before the parameters");
  while (!cursor.Try(")")) {
    if (!parameters.empty()) {
      cursor.Expect(",", "between parameters");
    }
    const bool is_register = cursor.TryWord("reg");
    if (!is_register && !cursor.TryWord("param")) {
      cursor.FailExpected(".param", "declare each parameter with .param and its type");
    }
    const Specifiers specifiers =
        ParseSpecifiers(cursor, is_register ? StateSpace::kRegister : StateSpace::kParam);
    parameters.push_back(ParseDeclarator(cursor, specifiers, unnamed).variable);
  }
  return parameters;
}

}  // namespace voltcheck::simulator::ptx
