// The result of one instruction as a formula.
#include "verify/mutation/proof/formulas.h"
#include "verify/mutation/proof/words.h"
#include "verify/mutation/ptx_edits.h"

namespace voltcheck::mutation::proof {
namespace {

using Word = std::optional<z3::expr>;

bool HasBits(const z3::expr& value, unsigned bits) {
  return !value.is_bool() && value.get_sort().bv_size() == bits;
}

}  // namespace

std::optional<z3::expr> Formulas::Operand(const ptx::Operand& operand, std::uint32_t at,
                                          unsigned bits, View& view) {
  if (operand.kind == ptx::Operand::Kind::kImmediate) {
    if (operand.immediate != ptx::Operand::Immediate::kInteger) {
      return std::nullopt;
    }
    return bits == 1 ? context_.bool_val(operand.bits != 0)
                     : context_.bv_val(static_cast<std::uint64_t>(operand.bits), bits);
  }
  if (operand.kind != ptx::Operand::Kind::kSymbol || operand.offset != 0) {
    return std::nullopt;
  }
  if (flow_.IsRegister(operand.name)) {
    const z3::expr value = Read(operand.name, at, view);
    if (value.is_bool()) {
      return operand.negated ? !value : value;
    }
    return value;
  }
  if (operand.name.starts_with("%tid.") || operand.name.starts_with("%ntid.") ||
      operand.name.starts_with("%ctaid.") || operand.name.starts_with("%nctaid.")) {
    return Special(operand.name);
  }
  if (operand.name.starts_with("%")) {
    return std::nullopt;
  }
  // The address of a variable.
  return Unknown("&" + operand.name, bits == 64 ? ptx::Type::kB64 : ptx::Type::kB32);
}

// Quotient or remainder. By a constant the solver knows it; by anything else it is a value of which
// we say what it has to be when neither is negative, because dividing bit by bit is beyond it.
z3::expr Formulas::Divided(const z3::expr& a, const z3::expr& b, bool is_signed, bool remainder) {
  if (b.simplify().is_numeral()) {
    return remainder   ? (is_signed ? z3::srem(a, b) : z3::urem(a, b))
           : is_signed ? a / b
                       : z3::udiv(a, b);
  }
  const unsigned bits = a.get_sort().bv_size();
  const std::string key =
      std::string(is_signed ? "s" : "u") + "(" + a.to_string() + ")/(" + b.to_string() + ")";
  const z3::expr quotient = context_.bv_const(key.c_str(), bits);
  const z3::expr zero = context_.bv_val(0, bits);
  if (bounded_.insert(key).second) {
    quotients_.emplace(key, std::pair(a, b));
    const z3::expr rest = a - quotient * b;
    const z3::expr sane = a >= zero && b > zero;
    assumed_.push_back(z3::implies(
        sane, quotient >= zero && quotient <= a && quotient * b <= a && rest >= zero && rest < b));
    assumed_.push_back(z3::implies(sane && a >= b, quotient > zero));
    assumed_.push_back(z3::implies(sane && a < b, quotient == zero));
  }
  return remainder ? a - quotient * b : quotient;
}

std::optional<z3::expr> Formulas::Parameter(const ptx::Instruction& load, unsigned out) {
  if (!Has(load, "param") || load.operands[1].kind != ptx::Operand::Kind::kAddress) {
    return std::nullopt;
  }
  const std::string& parameter = load.operands[1].elements.front().name;
  const std::size_t n = parameter.rfind("_param_");
  if (n == std::string::npos || load.operands[1].offset != 0) {
    return std::nullopt;
  }
  const std::string what = "param" + parameter.substr(n + 7);
  const z3::expr value = Unknown(what, out == 64 ? ptx::Type::kB64 : ptx::Type::kB32);
  if (bounded_.insert(what).second) {
    Bound(value, what);
  }
  return HasBits(value, out) ? std::optional(value) : std::nullopt;
}

std::optional<z3::expr> Formulas::Made(const ptx::Instruction& i, std::uint32_t at, View& view) {
  if (i.operands.size() < 2 || !i.guard.empty() ||
      i.operands[0].kind != ptx::Operand::Kind::kSymbol || !flow_.IsRegister(i.operands[0].name)) {
    return std::nullopt;
  }
  const std::string_view type = mutation::TypeOf(i);
  const unsigned out = BitsOf(flow_.TypeOf(i.operands[0].name));
  if (i.opcode == "ld") {
    return Parameter(i, out);
  }
  const bool integer =
      type.starts_with("s") || type.starts_with("u") || type.starts_with("b") || type == "pred";
  if (!integer || Has(i, "sat") || Has(i, "cc")) {
    return std::nullopt;
  }
  const bool is_signed = type.starts_with("s");
  const unsigned bits =
      type == "pred" ? 1 : static_cast<unsigned>(std::stoul(std::string(type.substr(1))));
  const auto operand = [&](std::size_t k, unsigned width) {
    return k < i.operands.size() ? Operand(i.operands[k], at, width, view) : Word();
  };
  if (Is(i, {"setp"})) {
    const Word a = operand(1, bits), b = operand(2, bits);
    const bool plain = i.operands.size() == 3 && i.modifiers.size() == 2;
    return a && b && plain && HasBits(*a, bits) && HasBits(*b, bits)
               ? Compared(i.modifiers.front(), is_signed, *a, *b)
               : std::nullopt;
  }
  if (Is(i, {"cvt"})) {
    const std::string& to = i.modifiers.front();
    const Word a = operand(1, bits);
    if (i.modifiers.size() != 2 || (to[0] != 's' && to[0] != 'u') || !a || a->is_bool()) {
      return std::nullopt;
    }
    const auto width = static_cast<unsigned>(std::stoul(to.substr(1)));
    return Resized(Resized(*a, bits, width, is_signed), width, out, to[0] == 's');
  }
  if (Is(i, {"cvta"})) {
    return operand(1, bits);
  }
  const unsigned width = Has(i, "wide") ? bits : out;
  const Word a = operand(1, width);
  if (!a) {
    return std::nullopt;
  }
  if (Is(i, {"mov"})) {
    return a->is_bool() || HasBits(*a, out) ? a : std::nullopt;
  }
  if (Is(i, {"not"})) {
    return a->is_bool() ? !*a : ~*a;
  }
  if (a->is_bool()) {
    const Word b = operand(2, width);
    return b && b->is_bool() ? CombinedTruths(i.opcode, *a, *b) : std::nullopt;
  }
  return HasBits(*a, width) ? MadeOfWords(i, *a, width, is_signed, operand) : std::nullopt;
}

std::optional<z3::expr> Formulas::MadeOfWords(
    const ptx::Instruction& i, const z3::expr& a, unsigned width, bool is_signed,
    const std::function<Word(std::size_t, unsigned)>& operand) {
  if (Is(i, {"abs"})) {
    return z3::ite(a < 0, -a, a);
  }
  if (Is(i, {"neg"})) {
    return -a;
  }
  const bool shifts = Is(i, {"shl", "shr"});
  const Word b = operand(2, shifts ? 32 : width);
  if (!b) {
    return std::nullopt;
  }
  if (shifts) {
    return Shifted(Is(i, {"shl"}), is_signed, a, *b);
  }
  if (!HasBits(*b, width)) {
    return std::nullopt;
  }
  if (Is(i, {"div", "rem"})) {
    return Divided(a, *b, is_signed, Is(i, {"rem"}));
  }
  if (Is(i, {"mul", "mad"})) {
    const unsigned out = Has(i, "wide") ? 2 * width : width;
    if (!Has(i, "wide") && !Has(i, "lo")) {
      return std::nullopt;
    }
    const z3::expr product = Resized(a, width, out, is_signed) * Resized(*b, width, out, is_signed);
    if (Is(i, {"mul"})) {
      return product;
    }
    const Word c = operand(3, out);
    return c && HasBits(*c, out) ? Word(product + *c) : std::nullopt;
  }
  if (const Word both = Combined(i.opcode, is_signed, a, *b)) {
    return both;
  }
  if (Is(i, {"selp"})) {
    const Word chosen = operand(3, 1);
    return chosen && chosen->is_bool() ? Word(z3::ite(*chosen, a, *b)) : std::nullopt;
  }
  if (width != 32) {
    return std::nullopt;
  }
  // A table, a place or a selector, which may stand in a register.
  const auto number = [&](std::size_t k) -> std::optional<std::uint64_t> {
    const Word word = operand(k, 32);
    const Word known = word && HasBits(*word, 32) ? Word(word->simplify()) : Word();
    return known && known->is_numeral() ? std::optional(known->get_numeral_uint64()) : std::nullopt;
  };
  const auto last = number(i.operands.size() - 1);
  if (!last) {
    return std::nullopt;
  }
  if (Is(i, {"lop3"}) && i.operands.size() == 5) {
    const Word c = operand(3, width);
    return c && HasBits(*c, width) ? Word(Looked(*last, a, *b, *c)) : std::nullopt;
  }
  if (Is(i, {"bfi"}) && i.operands.size() == 5) {
    const auto position = number(3);
    return position && *position < 32 ? Word(Inserted(a, *b, static_cast<unsigned>(*position),
                                                      static_cast<unsigned>(*last & 0xffU)))
                                      : std::nullopt;
  }
  if (Is(i, {"prmt"}) && i.operands.size() == 4 && i.modifiers.size() == 1) {
    return Permuted(a, *b, *last);
  }
  return std::nullopt;
}

}  // namespace voltcheck::mutation::proof
