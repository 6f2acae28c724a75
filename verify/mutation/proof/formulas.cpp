#include "verify/mutation/proof/formulas.h"

#include <algorithm>

#include "verify/mutation/ptx_edits.h"

namespace voltcheck::mutation::proof {
namespace {

// Steps of the solver after which a question stays open: a count, so that no clock decides.
constexpr unsigned kSolverSteps = 1'000'000;

// Questions after which a proof is given up.
constexpr std::uint64_t kMostQuestions = 2000;

// A question that stays open is asked again for each value of such small numbers.
constexpr std::int64_t kMostCases = 16;

}  // namespace

std::string TakenAt(std::uint32_t branch) { return "taken at " + std::to_string(branch); }

unsigned BitsOf(ptx::Type type) { return type == ptx::Type::kPred ? 1 : 8 * ptx::SizeOf(type); }

Formulas::Formulas(const Flow& flow, const Premises& premises, Invariant invariant)
    : flow_(flow), premises_(premises), invariant_(std::move(invariant)) {}

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
  std::vector<Values> cases{{}};
  for (const std::string& name : NumbersIn(all)) {
    const auto bounds = premises_.Of(NameOfPremise(name));
    if (!bounds || bounds->high - bounds->low >= kMostCases) {
      continue;
    }
    std::vector<Values> finer;
    for (const Values& one : cases) {
      for (std::int64_t n = bounds->low; n <= bounds->high; n += bounds->step) {
        finer.push_back(one);
        finer.back().emplace_back(unknown_.at(name), context_.bv_val(n, 32));
      }
    }
    cases = std::move(finer);
    if (static_cast<std::int64_t>(cases.size()) > kMostCases * kMostCases) {
      return false;
    }
  }
  return cases.size() > 1 && std::all_of(cases.begin(), cases.end(),
                                         [&](const Values& one) { return Impossible(all, one); });
}

// The same with numbers in the place of some values, most of which contradict an assumption.
bool Formulas::Impossible(const std::vector<z3::expr>& all, const Values& values) {
  z3::expr_vector from(context_), to(context_);
  for (const auto& [value, number] : values) {
    from.push_back(value);
    to.push_back(number);
  }
  std::vector<z3::expr> facts = assumed_;
  facts.insert(facts.end(), all.begin(), all.end());
  for (z3::expr& fact : facts) {
    fact = fact.substitute(from, to).simplify();
    if (fact.is_false()) {
      return true;
    }
  }
  return Solve(facts) == z3::unsat;
}

// The words of 32 bits that formulas speak of, and those that quotients in them were made of.
std::set<std::string> Formulas::NumbersIn(const std::vector<z3::expr>& all) const {
  std::set<std::string> numbers;
  std::set<unsigned> seen;
  std::vector<z3::expr> open = all;
  while (!open.empty()) {
    const z3::expr e = open.back();
    open.pop_back();
    if (!e.is_app() || !seen.insert(e.id()).second) {
      continue;
    }
    for (unsigned k = 0; k < e.num_args(); ++k) {
      open.push_back(e.arg(k));
    }
    if (!e.is_const() || e.is_numeral()) {
      continue;
    }
    const std::string name = e.decl().name().str();
    const auto quotient = quotients_.find(name);
    if (quotient != quotients_.end()) {
      open.push_back(quotient->second.first);
      open.push_back(quotient->second.second);
    } else if (unknown_.contains(name) && !e.is_bool() && e.get_sort().bv_size() == 32) {
      numbers.insert(name);
    }
  }
  return numbers;
}

z3::check_result Formulas::Ask(const std::vector<z3::expr>& all) {
  std::vector<z3::expr> facts = assumed_;
  facts.insert(facts.end(), all.begin(), all.end());
  return Solve(facts);
}

z3::check_result Formulas::Solve(const std::vector<z3::expr>& facts) {
  if (questions_ == kMostQuestions) {
    return z3::unknown;
  }
  ++questions_;
  z3::solver solver(context_);
  z3::params params(context_);
  params.set("rlimit", kSolverSteps);
  solver.set(params);
  for (const z3::expr& fact : facts) {
    solver.add(fact);
  }
  return solver.check();
}

std::set<std::string> Formulas::Leaves(const std::string& name, std::uint32_t point) {
  std::set<std::string> leaves;
  for (const auto& [leaf, use] : LeafUses(name, point)) {
    leaves.insert(leaf);
  }
  return leaves;
}

std::set<std::pair<std::string, std::uint32_t>> Formulas::LeafUses(const std::string& name,
                                                                   std::uint32_t point) {
  std::set<std::pair<std::string, std::uint32_t>> leaves;
  std::set<std::pair<std::string, std::uint32_t>> seen;
  std::vector<std::pair<std::string, std::uint32_t>> open{{name, point}};
  while (!open.empty()) {
    const auto [reg, use] = open.back();
    open.pop_back();
    const std::uint32_t set = SetBefore(reg, use);
    if (!seen.emplace(reg, set == Flow::kNone ? use : set).second) {
      continue;
    }
    const bool made = set != Flow::kNone && flow_.Sets(set).size() == 1 &&
                      !CrossesLanes(flow_.at(set)) &&
                      (!Is(flow_.at(set), {"ld", "atom"}) || Has(flow_.at(set), "param"));
    if (!made) {
      leaves.emplace(reg, use);
      continue;
    }
    for (const ptx::Operand& operand : flow_.at(set).operands) {
      if (operand.kind == ptx::Operand::Kind::kSymbol && !flow_.IsRegister(operand.name)) {
        leaves.emplace(operand.name, set);
      }
    }
    for (const std::string& read : flow_.Reads(set)) {
      open.emplace_back(read, set);
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

// The one place whose value `use` reads of a register; kNone when there may be more.
std::uint32_t Formulas::SetBefore(const std::string& name, std::uint32_t use) const {
  const auto& sets = flow_.SetsOf(name);
  if (sets.size() == 1) {
    return IsOneValue(name, use) ? sets[0] : Flow::kNone;
  }
  const auto key = std::pair(name, use);
  const auto known = set_before_.find(key);
  if (known != set_before_.end()) {
    return known->second;
  }
  std::uint32_t& only = set_before_[key] = Flow::kNone;
  for (const std::uint32_t set : sets) {
    const bool alone = set != use && flow_.at(set).guard.empty() && flow_.Dominates(set, use) &&
                       std::none_of(sets.begin(), sets.end(), [&](std::uint32_t other) {
                         return other != set && flow_.Reaches(other, use, set);
                       });
    if (alone) {
      only = set;
      break;
    }
  }
  return only;
}

z3::expr Formulas::Read(const std::string& name, std::uint32_t use, View& view) {
  const auto instead = view.instead.find(name);
  if (instead != view.instead.end()) {
    return instead->second;
  }
  const std::uint32_t set = SetBefore(name, use);
  const bool once = flow_.SetsOf(name).size() == 1;
  if (set != Flow::kNone) {
    const std::pair key(name, set);
    const auto known = view.made.find(key);
    if (known != view.made.end()) {
      return known->second;
    }
    std::optional<z3::expr> value = Made(flow_.at(set), set, view);
    if (!value && once) {
      value = Unknown(name, flow_.TypeOf(name));
      BoundLoad(*value, name, flow_.at(set));
    }
    if (value) {
      view.made.emplace(key, *value);
      return *value;
    }
  }
  const std::string then = SetAnew(name, use, view.point) ? name + "#" + std::to_string(use) : name;
  const z3::expr value = Unknown(then, flow_.TypeOf(name));
  if (invariant_.contains(name)) {
    used_.insert(name);
  }
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

}  // namespace voltcheck::mutation::proof
