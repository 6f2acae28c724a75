#include "verify/mutation/proof/formulas.h"

#include <algorithm>
#include <array>

#include "verify/mutation/ptx_edits.h"

namespace voltcheck::mutation::proof {
namespace {

// Steps of the solver after which a question stays open: a count, so that no clock decides.
constexpr unsigned kSolverSteps = 1'000'000;

// A question that stays open is asked again for each value of such small numbers.
constexpr std::int64_t kMostCases = 16;

// What registers are tried to stay within, from 0 on: the number of one of two buffers, and numbers
// of which two add up without overflow.
constexpr std::array<int, 2> kRanges{1, (1 << 29) - 1};

std::string Plain(const std::string& name) {
  return name.empty() || name.front() != '%' ? name : name.substr(1);
}

bool IsSigned(std::string_view type) { return type.starts_with("s"); }

}  // namespace

std::string TakenAt(std::uint32_t branch) { return "taken at " + std::to_string(branch); }

unsigned BitsOf(ptx::Type type) { return type == ptx::Type::kPred ? 1 : 8 * ptx::SizeOf(type); }

struct Formulas::View {
  std::uint32_t point;
  const Instead& instead;
  std::map<std::string, z3::expr> made;
};

Formulas::Formulas(const Flow& flow, const Premises& premises, Invariant invariant)
    : flow_(flow), premises_(premises), invariant_(std::move(invariant)) {}

Invariant Formulas::Invariants(const Flow& flow, const Premises& premises) {
  Formulas formulas(flow, premises, {});
  formulas.FindInvariants();
  return formulas.invariant_;
}

z3::expr Formulas::Register(const std::string& name, std::uint32_t point, const Instead& instead) {
  View view{point, instead, {}};
  return Read(name, point, view);
}

std::optional<z3::expr> Formulas::Result(const ptx::Instruction& instruction, std::uint32_t point,
                                         const Instead& instead) {
  View view{point, instead, {}};
  return Made(instruction, point, view);
}

std::optional<z3::expr> Formulas::Address(const ptx::Instruction& instruction, std::uint32_t point,
                                          const Instead& instead) {
  View view{point, instead, {}};
  for (const ptx::Operand& operand : instruction.operands) {
    if (operand.kind == ptx::Operand::Kind::kAddress && operand.elements.size() == 1) {
      const ptx::Operand& base = operand.elements.front();
      const bool wide = flow_.IsRegister(base.name) && BitsOf(flow_.TypeOf(base.name)) == 64;
      const auto value = Operand(base, point, wide ? 64 : 32, view);
      if (value) {
        return *value + context_.bv_val(static_cast<std::int64_t>(operand.offset), wide ? 64 : 32);
      }
    }
  }
  return std::nullopt;
}

std::vector<z3::expr> Formulas::Facts(std::uint32_t point, const Instead& instead) {
  View view{point, instead, {}};
  std::vector<z3::expr> facts;
  for (std::uint32_t node = point; flow_.dominator(node) != Flow::kNone;
       node = flow_.dominator(node)) {
    const std::uint32_t above = flow_.dominator(node);
    const std::vector<std::uint32_t>& before = flow_.predecessors(node);
    if (above == flow_.exit() || before.size() != 1 || before.front() != above) {
      continue;
    }
    const ptx::Instruction& branch = flow_.at(above);
    if (!IsBranch(branch) || branch.guard.empty() || flow_.successors(above).size() != 2) {
      continue;
    }
    const bool fell_through = node == above + 1;
    const auto other = instead.find(TakenAt(above));
    if (other != instead.end()) {
      facts.push_back(fell_through ? !other->second : other->second);
      continue;
    }
    const z3::expr guard = Read(branch.guard, above, view);
    facts.push_back(fell_through == branch.guard_negated ? guard : !guard);
  }
  return facts;
}

bool Formulas::Impossible(const std::vector<z3::expr>& all) { return Ask(all) == z3::unsat; }

bool Formulas::ImpossibleByCases(const std::vector<z3::expr>& all) {
  const z3::check_result whole = Ask(all);
  if (whole != z3::unknown) {
    return whole == z3::unsat;
  }
  std::vector<std::vector<z3::expr>> cases{all};
  for (const auto& [name, value] : unknown_) {
    const auto bounds = premises_.Of(Plain(name));
    if (!bounds || value.is_bool() || bounds->high - bounds->low >= kMostCases ||
        value.get_sort().bv_size() != 32) {
      continue;
    }
    std::vector<std::vector<z3::expr>> finer;
    for (const std::vector<z3::expr>& one : cases) {
      for (std::int64_t n = bounds->low; n <= bounds->high; n += bounds->step) {
        finer.push_back(one);
        finer.back().push_back(value == context_.bv_val(n, 32));
      }
    }
    cases = std::move(finer);
    if (static_cast<std::int64_t>(cases.size()) > kMostCases * kMostCases) {
      return false;
    }
  }
  return std::all_of(cases.begin(), cases.end(), [&](const auto& one) { return Impossible(one); });
}

z3::check_result Formulas::Ask(const std::vector<z3::expr>& all) {
  z3::solver solver(context_);
  z3::params params(context_);
  params.set("rlimit", kSolverSteps);
  solver.set(params);
  for (const z3::expr& fact : assumed_) {
    solver.add(fact);
  }
  for (const z3::expr& fact : all) {
    solver.add(fact);
  }
  return solver.check();
}

std::set<std::string> Formulas::Leaves(const std::string& name, std::uint32_t point) {
  std::set<std::string> leaves, seen;
  std::vector<std::pair<std::string, std::uint32_t>> open{{name, point}};
  while (!open.empty()) {
    const auto [reg, use] = open.back();
    open.pop_back();
    if (!seen.insert(reg).second) {
      continue;
    }
    const auto& sets = flow_.SetsOf(reg);
    const bool single = IsOneValue(reg, use) && flow_.Sets(sets[0]).size() == 1 &&
                        !CrossesLanes(flow_.at(sets[0])) &&
                        (!Is(flow_.at(sets[0]), {"ld", "atom"}) || Has(flow_.at(sets[0]), "param"));
    if (!single) {
      leaves.insert(reg);
      continue;
    }
    for (const ptx::Operand& operand : flow_.at(sets[0]).operands) {
      if (operand.kind == ptx::Operand::Kind::kSymbol && !flow_.IsRegister(operand.name)) {
        leaves.insert(operand.name);
      }
    }
    for (const std::string& read : flow_.Reads(sets[0])) {
      open.emplace_back(read, sets[0]);
    }
  }
  return leaves;
}

bool Formulas::SetAnew(const std::string& name, std::uint32_t use, std::uint32_t point) {
  if (use == point) {
    return false;
  }
  const auto key = std::make_tuple(name, use, point);
  const auto known = set_anew_.find(key);
  if (known != set_anew_.end()) {
    return known->second;
  }
  const auto& sets = flow_.SetsOf(name);
  const bool anew = std::any_of(sets.begin(), sets.end(), [&](std::uint32_t set) {
    const bool after = set == use || flow_.Reaches(use, set);
    return after && (set == point || flow_.Reaches(set, point, use));
  });
  return set_anew_[key] = anew;
}

bool Formulas::IsOneValue(const std::string& name, std::uint32_t use) const {
  const auto& sets = flow_.SetsOf(name);
  if (sets.size() != 1 || !flow_.at(sets[0]).guard.empty() || sets[0] == use ||
      !flow_.Dominates(sets[0], use)) {
    return false;
  }
  const std::vector<std::string> reads = flow_.Reads(sets[0]);
  return std::find(reads.begin(), reads.end(), name) == reads.end();
}

// The one place whose value `use` reads of a register that is set at several; kNone when there may
// be more.
std::uint32_t Formulas::OnlySetBefore(const std::string& name, std::uint32_t use) const {
  const auto& sets = flow_.SetsOf(name);
  for (const std::uint32_t set : sets) {
    const std::vector<std::string> reads = flow_.Reads(set);
    const bool alone = set != use && flow_.at(set).guard.empty() && flow_.Dominates(set, use) &&
                       std::find(reads.begin(), reads.end(), name) == reads.end() &&
                       std::none_of(sets.begin(), sets.end(), [&](std::uint32_t other) {
                         return other != set && flow_.Reaches(other, use, set);
                       });
    if (alone) {
      return set;
    }
  }
  return Flow::kNone;
}

z3::expr Formulas::Read(const std::string& name, std::uint32_t use, View& view) {
  const auto instead = view.instead.find(name);
  if (instead != view.instead.end()) {
    return instead->second;
  }
  if (IsOneValue(name, use)) {
    const auto known = view.made.find(name);
    if (known != view.made.end()) {
      return known->second;
    }
    const std::uint32_t set = flow_.SetsOf(name).front();
    std::optional<z3::expr> value = Made(flow_.at(set), set, view);
    if (!value) {
      value = Unknown(name, flow_.TypeOf(name));
      BoundLoad(*value, name, flow_.at(set));
    }
    view.made.emplace(name, *value);
    return *value;
  }
  const std::string then = SetAnew(name, use, view.point) ? name + "#" + std::to_string(use) : name;
  const z3::expr value = Unknown(then, flow_.TypeOf(name));
  if (invariant_.contains(name) && bounded_.insert(then).second) {
    assumed_.push_back(value >= 0 && value <= context_.bv_val(invariant_.at(name), 32));
  }
  return value;
}

z3::expr Formulas::Unknown(const std::string& name, ptx::Type type) {
  const auto known = unknown_.find(name);
  if (known != unknown_.end()) {
    return known->second;
  }
  const z3::expr value = type == ptx::Type::kPred ? context_.bool_const(name.c_str())
                                                  : context_.bv_const(name.c_str(), BitsOf(type));
  unknown_.emplace(name, value);
  return value;
}

void Formulas::Bound(const z3::expr& value, const std::string& what) {
  const auto bounds = premises_.Of(what);
  if (!bounds || value.is_bool()) {
    return;
  }
  const unsigned bits = value.get_sort().bv_size();
  const auto number = [&](std::int64_t n) { return context_.bv_val(n, bits); };
  assumed_.push_back(value >= number(bounds->low) && value <= number(bounds->high));
  if (bounds->step > 1) {
    assumed_.push_back(z3::urem(value, number(bounds->step)) == number(0));
  }
  if (!bounds->below.empty()) {
    const z3::expr most = Unknown(bounds->below, ptx::Type::kB32);
    if (bounded_.insert(bounds->below).second) {
      Bound(most, bounds->below);
    }
    if (bounds->scale == 0) {
      assumed_.push_back(value <= most);
    } else {
      assumed_.push_back((value - number(bounds->low)) * number(bounds->scale) < most);
    }
  }
}

// %tid.x and the like, whose bounds are premises.
z3::expr Formulas::Special(const std::string& name) {
  const z3::expr value = Unknown(name, ptx::Type::kB32);
  if (bounded_.insert(name).second) {
    Bound(value, Plain(name));
  }
  return value;
}

std::string Formulas::WhereFrom(const std::string& address_register, bool whole) const {
  std::string name = address_register;
  for (int steps = 0; steps < 64; ++steps) {
    const auto& sets = flow_.SetsOf(name);
    if (sets.size() != 1) {
      return {};
    }
    const ptx::Instruction& i = flow_.at(sets.front());
    if (i.opcode == "ld" && Has(i, "param")) {
      const std::string& parameter = i.operands[1].elements.front().name;
      const std::size_t at = parameter.rfind("_param_");
      return at == std::string::npos ? std::string() : parameter.substr(at + 7);
    }
    if (Is(i, {"cvta", "mov"})) {
      name = i.operands[1].name;
    } else if (Is(i, {"add"}) && !whole) {
      // A base and an index: the base is what leads to a parameter.
      const std::string first =
          flow_.IsRegister(i.operands[1].name) ? WhereFrom(i.operands[1].name) : std::string();
      if (!first.empty() || i.operands[2].kind != ptx::Operand::Kind::kSymbol) {
        return first;
      }
      name = i.operands[2].name;
    } else {
      return {};
    }
  }
  return {};
}

// Bounds what a load gives, which is called `symbol`, if a premise speaks of its buffer. Says
// whether one did.
bool Formulas::BoundLoad(const z3::expr& value, const std::string& symbol,
                         const ptx::Instruction& i) {
  if (!Is(i, {"ld"}) || !Has(i, "global") || i.operands.size() != 2 ||
      i.operands[0].kind != ptx::Operand::Kind::kSymbol ||
      i.operands[1].kind != ptx::Operand::Kind::kAddress || value.is_bool() ||
      value.get_sort().bv_size() != 32) {
    return false;
  }
  const std::string parameter = WhereFrom(i.operands[1].elements.front().name);
  if (parameter.empty()) {
    return false;
  }
  std::string what = "load" + parameter;
  if (!premises_.Of(what)) {
    what += "+" + std::to_string(i.operands[1].offset);
  }
  if (!premises_.Of(what)) {
    return false;
  }
  if (bounded_.insert(symbol).second) {
    Bound(value, what);
  }
  return true;
}

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
    const z3::expr rest = a - quotient * b;
    const z3::expr sane = a >= zero && b > zero;
    assumed_.push_back(z3::implies(
        sane, quotient >= zero && quotient <= a && quotient * b <= a && rest >= zero && rest < b));
    assumed_.push_back(z3::implies(sane && a >= b, quotient > zero));
    assumed_.push_back(z3::implies(sane && a < b, quotient == zero));
  }
  return remainder ? a - quotient * b : quotient;
}

std::optional<z3::expr> Formulas::Made(const ptx::Instruction& i, std::uint32_t at, View& view) {
  if (i.operands.size() < 2 || !i.guard.empty() ||
      i.operands[0].kind != ptx::Operand::Kind::kSymbol || !flow_.IsRegister(i.operands[0].name)) {
    return std::nullopt;
  }
  const std::string_view type = mutation::TypeOf(i);
  const unsigned out = BitsOf(flow_.TypeOf(i.operands[0].name));
  if (i.opcode == "ld") {
    if (!Has(i, "param") || i.operands[1].kind != ptx::Operand::Kind::kAddress) {
      return std::nullopt;
    }
    const std::string& parameter = i.operands[1].elements.front().name;
    const std::size_t n = parameter.rfind("_param_");
    if (n == std::string::npos || i.operands[1].offset != 0) {
      return std::nullopt;
    }
    const std::string what = "param" + parameter.substr(n + 7);
    const z3::expr value = Unknown(what, out == 64 ? ptx::Type::kB64 : ptx::Type::kB32);
    if (bounded_.insert(what).second) {
      Bound(value, what);
    }
    return value.get_sort().bv_size() == out ? std::optional(value) : std::nullopt;
  }
  const bool integer =
      type.starts_with("s") || type.starts_with("u") || type.starts_with("b") || type == "pred";
  if (!integer) {
    return std::nullopt;
  }
  const bool is_signed = IsSigned(type);
  const unsigned bits =
      type == "pred" ? 1 : static_cast<unsigned>(std::stoul(std::string(type.substr(1))));
  const auto operand = [&](std::size_t k, unsigned width) {
    return k < i.operands.size() ? Operand(i.operands[k], at, width, view) : std::nullopt;
  };
  const auto cast = [&](const z3::expr& value, unsigned from, unsigned to, bool sign) {
    if (value.get_sort().bv_size() > from) {
      const z3::expr low = value.extract(from - 1, 0);
      return to <= from ? low.extract(to - 1, 0)
             : sign     ? z3::sext(low, to - from)
                        : z3::zext(low, to - from);
    }
    return to < from    ? value.extract(to - 1, 0)
           : to == from ? value
           : sign       ? z3::sext(value, to - from)
                        : z3::zext(value, to - from);
  };
  if (Is(i, {"setp"})) {
    const auto a = operand(1, bits), b = operand(2, bits);
    if (!a || !b || i.operands.size() != 3 || i.modifiers.size() != 2 || a->is_bool() ||
        b->is_bool() || a->get_sort().bv_size() != bits || b->get_sort().bv_size() != bits) {
      return std::nullopt;
    }
    const std::string& how = i.modifiers.front();
    if (how == "eq") return *a == *b;
    if (how == "ne") return *a != *b;
    if (how == "lt" || how == "lo") return is_signed ? *a < *b : z3::ult(*a, *b);
    if (how == "le" || how == "ls") return is_signed ? *a <= *b : z3::ule(*a, *b);
    if (how == "gt" || how == "hi") return is_signed ? *a > *b : z3::ugt(*a, *b);
    if (how == "ge" || how == "hs") return is_signed ? *a >= *b : z3::uge(*a, *b);
    return std::nullopt;
  }
  if (Is(i, {"cvt"})) {
    const std::string& to = i.modifiers.front();
    const auto a = operand(1, bits);
    if (i.modifiers.size() != 2 || (to[0] != 's' && to[0] != 'u') || !a || a->is_bool()) {
      return std::nullopt;
    }
    const auto width = static_cast<unsigned>(std::stoul(to.substr(1)));
    return cast(cast(*a, bits, width, is_signed), width, out, to[0] == 's');
  }
  if (Is(i, {"cvta"})) {
    return operand(1, bits);
  }
  const unsigned width = Has(i, "wide") ? bits : out;
  const auto a = operand(1, width);
  if (!a) {
    return std::nullopt;
  }
  if (Is(i, {"mov"})) {
    return a->is_bool() || a->get_sort().bv_size() == out ? a : std::nullopt;
  }
  if (Is(i, {"not"})) {
    return a->is_bool() ? !*a : ~*a;
  }
  if (!a->is_bool() && a->get_sort().bv_size() != (Has(i, "wide") ? bits : out)) {
    return std::nullopt;
  }
  if (Is(i, {"abs"})) return z3::ite(*a < 0, -*a, *a);
  if (Is(i, {"neg"})) return -*a;
  const bool shifts = Is(i, {"shl", "shr"});
  const auto b = operand(2, shifts ? 32 : width);
  if (!b) {
    return std::nullopt;
  }
  if (a->is_bool()) {
    if (!b->is_bool()) return std::nullopt;
    if (Is(i, {"and"})) return *a && *b;
    if (Is(i, {"or"})) return *a || *b;
    if (Is(i, {"xor"})) return *a != *b;
    return std::nullopt;
  }
  if (shifts) {
    const z3::expr amount = cast(*b, 32, 64, false);
    const z3::expr wide = cast(*a, out, 64, is_signed);
    if (Is(i, {"shl"})) return z3::shl(wide, amount).extract(out - 1, 0);
    const z3::expr right = is_signed ? z3::ashr(wide, amount) : z3::lshr(wide, amount);
    return right.extract(out - 1, 0);
  }
  if (b->is_bool() || b->get_sort().bv_size() != a->get_sort().bv_size()) {
    return std::nullopt;
  }
  if (Is(i, {"add"}) && !Has(i, "cc")) return *a + *b;
  if (Is(i, {"sub"}) && !Has(i, "cc")) return *a - *b;
  if (Is(i, {"and"})) return *a & *b;
  if (Is(i, {"or"})) return *a | *b;
  if (Is(i, {"xor"})) return *a ^ *b;
  if (Is(i, {"min"})) return z3::ite(is_signed ? *a < *b : z3::ult(*a, *b), *a, *b);
  if (Is(i, {"max"})) return z3::ite(is_signed ? *a < *b : z3::ult(*a, *b), *b, *a);
  if (Is(i, {"div", "rem"})) {
    return Divided(*a, *b, is_signed, Is(i, {"rem"}));
  }
  if (Is(i, {"mul", "mad"})) {
    std::optional<z3::expr> product;
    if (Has(i, "wide")) {
      product = cast(*a, bits, 2 * bits, is_signed) * cast(*b, bits, 2 * bits, is_signed);
    } else if (Has(i, "lo")) {
      product = *a * *b;
    }
    if (!product || Is(i, {"mul"})) return product;
    const auto c = operand(3, out);
    return c && c->get_sort().bv_size() == out ? std::optional(*product + *c) : std::nullopt;
  }
  const auto c = operand(3, width);
  if (!c) {
    return std::nullopt;
  }
  if (Is(i, {"selp"})) {
    const auto chosen = operand(3, 1);
    return chosen && chosen->is_bool() ? std::optional(z3::ite(*chosen, *a, *b)) : std::nullopt;
  }
  const bool constant = i.operands.back().kind == ptx::Operand::Kind::kImmediate;
  if (Is(i, {"lop3"}) && constant && i.operands.size() == 5 && out == 32) {
    z3::expr value = context_.bv_val(0, 32);
    for (unsigned minterm = 0; minterm < 8; ++minterm) {
      if ((i.operands[4].bits >> minterm) & 1U) {
        value = value | (((minterm & 4U) ? *a : ~*a) & ((minterm & 2U) ? *b : ~*b) &
                         ((minterm & 1U) ? *c : ~*c));
      }
    }
    return value;
  }
  // bfi d, a, b, position, length: the low bits of a into b.
  if (Is(i, {"bfi"}) && i.operands.size() == 5 && constant &&
      i.operands[3].kind == ptx::Operand::Kind::kImmediate && i.operands[3].bits < 32) {
    const auto position = static_cast<unsigned>(i.operands[3].bits & 0xffU);
    const auto length = static_cast<unsigned>(i.operands[4].bits & 0xffU);
    const std::uint64_t ones = length >= 32 ? 0xffffffffU : (std::uint64_t{1} << length) - 1;
    const auto mask = static_cast<std::uint32_t>(ones << position);
    const z3::expr m = context_.bv_val(mask, 32);
    return (z3::shl(*a, context_.bv_val(position, 32)) & m) | (*b & ~m);
  }
  if (Is(i, {"prmt"}) && constant && i.operands.size() == 4 && i.modifiers.size() == 1) {
    const z3::expr bytes = z3::concat(*b, *a);
    std::optional<z3::expr> value;
    for (unsigned k = 0; k < 4; ++k) {
      const auto selector = static_cast<unsigned>(i.operands[3].bits >> (4 * k)) & 0xfU;
      if (selector >= 8) return std::nullopt;
      const z3::expr byte = bytes.extract(8 * selector + 7, 8 * selector);
      value = value ? z3::concat(byte, *value) : byte;
    }
    return value;
  }
  return std::nullopt;
}

// Whether the instruction `set` leaves `name` within its range.
bool Formulas::Keeps(const std::string& name, std::uint32_t set) {
  std::optional<z3::expr> value = Result(flow_.at(set), set);
  const std::string loaded = name + "@" + std::to_string(set);
  if (const z3::expr load = Unknown(loaded, flow_.TypeOf(name));
      !value && BoundLoad(load, loaded, flow_.at(set))) {
    value = load;
  }
  if (!value || value->is_bool()) {
    return false;
  }
  std::vector<z3::expr> broken = Facts(set);
  broken.push_back(*value < 0 || *value > context_.bv_val(invariant_.at(name), 32));
  return Impossible(broken);
}

// Registers that are set at several places, each of which keeps them within 0 .. 2^29 if all of
// them were there before: found by taking out what is not kept, until all is.
void Formulas::FindInvariants() {
  std::map<std::string, std::vector<std::uint32_t>> candidates;
  for (std::uint32_t node = 0; node < flow_.exit(); ++node) {
    for (const std::string& name : flow_.Sets(node)) {
      if (flow_.SetsOf(name).size() > 1 && BitsOf(flow_.TypeOf(name)) == 32 &&
          flow_.TypeOf(name) != ptx::Type::kF32) {
        candidates[name] = flow_.SetsOf(name);
      }
    }
  }
  for (const auto& [name, sets] : candidates) {
    invariant_[name] = kRanges.front();
  }
  for (bool changed = true; changed;) {
    changed = false;
    Forget();
    for (const auto& [name, sets] : candidates) {
      const bool kept = !invariant_.contains(name) ||
                        std::all_of(sets.begin(), sets.end(),
                                    [&, n = name](std::uint32_t set) { return Keeps(n, set); });
      if (kept) {
        continue;
      }
      changed = true;
      if (invariant_[name] == kRanges.front()) {
        invariant_[name] = kRanges.back();
      } else {
        invariant_.erase(name);
      }
    }
  }
  Forget();
}

void Formulas::Forget() {
  assumed_.clear();
  unknown_.clear();
  bounded_.clear();
}

}  // namespace voltcheck::mutation::proof
