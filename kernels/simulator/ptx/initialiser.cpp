#include <bit>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kernels/simulator/ptx/declaration.h"
#include "kernels/simulator/ptx/expression.h"
#include "kernels/simulator/ptx/limits.h"

namespace voltcheck::simulator::ptx {
namespace {

/// Walks the braces of one initialiser. As in ptxas, every dimension has braces of its own, a
/// vector's components being the innermost one; values that are left out are zero.
class InitialiserParser {
 public:
  InitialiserParser(Cursor& cursor, Declarator& declarator, ModuleContext& context)
      : cursor_(cursor),
        variable_(declarator.variable),
        context_(context),
        scalar_bytes_(SizeOf(variable_.type)) {
    std::vector<std::uint64_t> shape = declarator.dimensions;
    if (variable_.vector > 1) {
      shape.push_back(variable_.vector);
    }
    spans_.assign(shape.size(), 0);
    std::uint64_t span = 1;
    for (std::size_t level = shape.size(); level-- > 0;) {
      span = shape[level] == 0 ? kOpen : span * shape[level];
      spans_[level] = span;
    }
  }

  void Parse() {
    const Location where = cursor_.Peek().location;
    if (variable_.type == Type::kF16 || variable_.type == Type::kF16x2 ||
        variable_.type == Type::kBf16 || variable_.type == Type::kBf16x2) {
      cursor_.Fail(where, "an initial value for a half-precision type",
                   "declare it as .b16 or .b32");
    }
    if (spans_.empty()) {
      limit_ = 1;
      Scalar();
    } else {
      Braces(0);
    }
    if (variable_.elements == 0) {
      variable_.elements = (position_ + variable_.vector - 1) / variable_.vector;
      if (variable_.elements == 0) {
        cursor_.Fail(where, "an empty initialiser for an array without a size", "write its size");
      }
    }
    Reserve(variable_.bytes(), where);
    variable_.initial.resize(variable_.bytes());
  }

 private:
  static constexpr std::uint64_t kOpen = std::numeric_limits<std::uint64_t>::max();

  void Braces(std::size_t level) {
    const Location where = cursor_.Peek().location;
    cursor_.Expect("{", "before the initial values of an array or vector");
    cursor_.Charge(1);
    const std::uint64_t start = position_;
    const std::uint64_t end = spans_[level] == kOpen ? kOpen : start + spans_[level];
    const bool innermost = level + 1 == spans_.size();
    while (!cursor_.Try("}")) {
      limit_ = end;
      CheckRoom(cursor_.Peek().location);
      if (innermost) {
        Scalar();
      } else {
        Braces(level + 1);
      }
      if (!cursor_.Try(",") && !cursor_.At("}")) {
        cursor_.FailExpected("',' or '}' in an initialiser", "separate the values");
      }
    }
    if (end != kOpen) {
      position_ = end;
      Reserve(position_ * scalar_bytes_, where);
    }
  }

  void CheckRoom(Location where) const {
    if (position_ >= limit_) {
      cursor_.Fail(where, "more initial values than " + Quote(variable_.name) + " has room for",
                   "remove the excess");
    }
  }

  void Reserve(std::uint64_t bytes, Location where) {
    if (bytes > charged_) {
      context_.initial_bytes += bytes - charged_;
      charged_ = bytes;
    }
    if (bytes > kMaxInitialBytes || context_.initial_bytes > kMaxInitialBytes) {
      cursor_.Fail(
          where, "the module initialises more than " + std::to_string(kMaxInitialBytes) + " bytes",
          "fill large arrays at run time");
    }
  }

  void Store(std::uint64_t bits, Location where) {
    CheckRoom(where);
    const std::uint64_t offset = position_ * scalar_bytes_;
    ++position_;
    Reserve(offset + scalar_bytes_, where);
    if (variable_.initial.size() < offset + scalar_bytes_) {
      variable_.initial.resize(offset + scalar_bytes_);
    }
    for (std::uint32_t i = 0; i < scalar_bytes_; ++i) {
      variable_.initial[offset + i] = static_cast<std::byte>(bits >> (8 * i));
    }
  }

  void Scalar() {
    const Token token = cursor_.Peek();
    cursor_.Charge(1);
    if (token.kind == Token::Kind::kName && token.text != "WARP_SZ") {
      Symbol(0, token.location);
      return;
    }
    if (token.kind == Token::Kind::kInteger && cursor_.PeekSecond().text == "(" &&
        cursor_.PeekSecond().kind == Token::Kind::kPunctuation) {
      Mask();
      return;
    }
    Store(Bits(ParseConstant(cursor_), token.location), token.location);
  }

  std::uint64_t Bits(const Constant& value, Location where) const {
    const bool floating = variable_.type == Type::kF32 || variable_.type == Type::kF64;
    if (floating != value.is_float()) {
      cursor_.Fail(where,
                   floating ? "an integer for a floating-point variable"
                            : "a floating-point value for an integer variable",
                   floating ? "write 1.0 or 0f..." : "write an integer");
    }
    if (!floating || value.kind == (variable_.type == Type::kF32 ? Constant::Kind::kF32
                                                                 : Constant::Kind::kF64)) {
      return value.bits;
    }
    if (variable_.type == Type::kF64) {
      return std::bit_cast<std::uint64_t>(value.AsDouble());
    }
    return std::bit_cast<std::uint32_t>(static_cast<float>(value.AsDouble()));
  }

  /// `0xFF00(symbol+4)`: the bytes of an address that the mask selects, moved down.
  void Mask() {
    const Token token = cursor_.Take();
    std::uint64_t mask = IntegerValue(cursor_, token);
    std::uint32_t shift = 0;
    while (mask > 0xFF && (mask & 0xFF) == 0) {
      mask >>= 8;
      shift += 8;
    }
    if (mask != 0xFF || scalar_bytes_ != 1) {
      cursor_.Fail(token.location, "the mask " + Quote(token.text) + " of an address",
                   "select one byte, for a one-byte variable");
    }
    cursor_.Expect("(", "after the mask");
    Symbol(shift, token.location);
    cursor_.Expect(")", "after the masked symbol");
  }

  /// `symbol`, `symbol+4`, `generic(symbol)+4`.
  void Symbol(std::uint32_t shift, Location where) {
    Relocation relocation;
    relocation.offset = position_ * scalar_bytes_;
    relocation.bytes = scalar_bytes_;
    relocation.shift = shift;
    Token name = cursor_.ExpectName("a symbol");
    if (name.text == "generic" && cursor_.Try("(")) {
      relocation.generic = true;
      name = cursor_.ExpectName("a symbol");
      cursor_.Expect(")", "after the symbol");
    }
    relocation.symbol = std::string(name.text);
    while (cursor_.At("+") || cursor_.At("-")) {
      const bool minus = cursor_.Take().text == "-";
      const Location at = cursor_.Peek().location;
      const Constant value = ParseConstantUnary(cursor_);
      if (value.is_float()) {
        cursor_.Fail(at, "a floating-point offset", "write an integer");
      }
      const auto sum = static_cast<std::uint64_t>(relocation.addend);
      relocation.addend = static_cast<std::int64_t>(minus ? sum - value.bits : sum + value.bits);
    }
    Store(0, where);
    context_.initialiser_symbols.push_back({relocation.symbol, name.location});
    variable_.relocations.push_back(std::move(relocation));
  }

  Cursor& cursor_;
  Variable& variable_;
  ModuleContext& context_;
  std::uint32_t scalar_bytes_;
  std::vector<std::uint64_t> spans_;  ///< scalars under the braces of each level
  std::uint64_t position_ = 0;        ///< where the next scalar goes
  std::uint64_t limit_ = 0;           ///< end of the innermost open braces
  std::uint64_t charged_ = 0;         ///< bytes charged to the module so far
};

}  // namespace

void ParseInitialiser(Cursor& cursor, Declarator& declarator, ModuleContext& context) {
  InitialiserParser(cursor, declarator, context).Parse();
}

}  // namespace voltcheck::simulator::ptx
