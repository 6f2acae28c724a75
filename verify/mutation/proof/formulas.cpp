#include "verify/mutation/proof/formulas.h"

#include <algorithm>

#include "verify/mutation/ptx_edits.h"

namespace voltcheck::mutation::proof {
namespace {

// Steps of the solver after which a question stays open: a count, so that no clock decides.
constexpr unsigned kSolverSteps = 1'000'000;

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
  std::vector<std::vector<z3::expr>> cases{all};
  for (const auto& [name, value] : unknown_) {
    const auto bounds = premises_.Of(NameOfPremise(name));
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

}  // namespace voltcheck::mutation::proof
