// Registers of loops and of joining branches, and what they stay within.
#include <algorithm>
#include <array>

#include "verify/mutation/proof/formulas.h"

namespace voltcheck::mutation::proof {
namespace {

// What registers are tried to stay within, from 0 on: the number of one of two buffers, and numbers
// of which two add up without overflow.
constexpr std::array<int, 2> kRanges{1, (1 << 29) - 1};

// From what a loop counts on when it has gone round: a step more stays within the larger range.
constexpr int kBelow = 1 << 28;

}  // namespace

Invariant Formulas::Invariants(const Flow& flow, const Premises& premises) {
  Formulas formulas(flow, premises, {});
  formulas.FindInvariants();
  return formulas.invariant_;
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
  const z3::expr outside = *value < 0 || *value > context_.bv_val(invariant_.at(name), 32);
  if (ImpossibleByCases({outside}) || KeepsFromBelow(name, set, outside)) {
    return true;
  }
  std::vector<z3::expr> broken = Facts(set);
  broken.push_back(outside);
  return ImpossibleByCases(broken);
}

// Whether `set` keeps a register that counts on from itself, and that comes here from below: a loop
// goes round only while the counter is less than something.
bool Formulas::KeepsFromBelow(const std::string& name, std::uint32_t set, const z3::expr& outside) {
  if (invariant_.at(name) <= kBelow) {
    return false;
  }
  View view{set, {}, {}};
  std::vector<z3::expr> broken{outside};
  bool counts = false;
  for (const std::string& read : flow_.Reads(set)) {
    for (const auto& [leaf, use] : LeafUses(read, set)) {
      if (leaf != name) {
        continue;
      }
      counts = true;
      const z3::expr before = Read(name, use, view);
      broken.push_back(before >= 0 && before <= context_.bv_val(kBelow, 32));
      for (const std::uint32_t other : flow_.SetsOf(name)) {
        if (!ArrivesBelow(name, other, use)) {
          return false;
        }
      }
    }
  }
  return counts && ImpossibleByCases(broken);
}

// Whether what `set` leaves in a register is at most kBelow whenever it is read by `use`.
bool Formulas::ArrivesBelow(const std::string& name, std::uint32_t set, std::uint32_t use) {
  const auto outside = [&](const z3::expr& value) {
    return value < 0 || value > context_.bv_val(kBelow, 32);
  };
  const auto value = Result(flow_.at(set), set);
  if (!value) {
    return false;
  }
  if (ImpossibleByCases({outside(*value)})) {
    return true;
  }
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> open{set + 1};
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (node == use) {
      return false;
    }
    if (node == flow_.exit() || !seen.insert(node).second) {
      continue;
    }
    const std::vector<std::string> sets = flow_.Sets(node);
    if (std::find(sets.begin(), sets.end(), name) != sets.end() && flow_.at(node).guard.empty()) {
      continue;
    }
    const ptx::Instruction& i = flow_.at(node);
    const bool decides = IsBranch(i) && !i.guard.empty() && flow_.successors(node).size() == 2 &&
                         SetBefore(name, node) == set;
    for (const std::uint32_t next : flow_.successors(node)) {
      if (decides) {
        const z3::expr guard = Register(i.guard, node);
        // Facts would be true, too, but every word more is bits to the solver.
        if (ImpossibleByCases({(next == node + 1) == i.guard_negated ? guard : !guard,
                               outside(Register(name, node))})) {
          continue;
        }
      }
      open.push_back(next);
    }
  }
  return true;
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
  // What each was last found to rest on; asked again when some of that has changed.
  std::map<std::string, std::set<std::string>> rests_on;
  std::set<std::string> open;
  for (const auto& [name, sets] : candidates) {
    open.insert(name);
  }
  while (!open.empty()) {
    const std::string name = *open.begin();
    open.erase(open.begin());
    questions_ = 0;
    used_.clear();
    const auto& sets = candidates.at(name);
    const bool kept =
        std::all_of(sets.begin(), sets.end(), [&](std::uint32_t set) { return Keeps(name, set); });
    rests_on[name] = used_;
    if (kept) {
      continue;
    }
    Forget();
    if (invariant_.at(name) == kRanges.front()) {
      invariant_[name] = kRanges.back();
      open.insert(name);
    } else {
      invariant_.erase(name);
    }
    for (const auto& [other, on] : rests_on) {
      if (on.contains(name) && invariant_.contains(other)) {
        open.insert(other);
      }
    }
  }
  Forget();
  questions_ = 0;
}

void Formulas::Forget() {
  assumed_.clear();
  unknown_.clear();
  bounded_.clear();
  quotients_.clear();
}

}  // namespace voltcheck::mutation::proof
