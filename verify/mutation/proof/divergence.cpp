#include "verify/mutation/proof/divergence.h"

#include <algorithm>

#include "verify/mutation/ptx_edits.h"

namespace voltcheck::mutation::proof {
namespace {

bool IsThreadNumber(const std::string& name) {
  return name.starts_with("%tid") || name == "%laneid" || name.starts_with("%lanemask");
}

}  // namespace

void Divergence::Begin(std::uint32_t node, const z3::expr& condition,
                       const std::set<std::string>& leaves) {
  origin_ = node;
  condition_.clear();
  difference_ = condition;
  leaves_ = leaves;
  uniform_.reset();
  known_.clear();
  states_.clear();
  waiting_.clear();
  branch_.reset();
  ways_.clear();
  settled_ = std::all_of(leaves.begin(), leaves.end(), [&](const std::string& leaf) {
    const auto& sets = flow_.SetsOf(leaf);
    return std::none_of(sets.begin(), sets.end(),
                        [&](std::uint32_t set) { return flow_.Reaches(node, set); });
  });
}

// Whether the condition that held when they came to differ holds still: nothing that it speaks of
// has been set anew, and they have not come there again, where it need not have held.
bool Divergence::StillHolds(std::uint32_t node, const State& state) {
  return settled_ ||
         (state.first && std::none_of(leaves_.begin(), leaves_.end(), [&](const std::string& leaf) {
            const auto& sets = flow_.SetsOf(leaf);
            return std::any_of(sets.begin(), sets.end(), [&](std::uint32_t set) {
              return set != origin_ && flow_.Reaches(origin_, set) &&
                     (set == node || flow_.Reaches(set, node, origin_));
            });
          }));
}

bool Divergence::SetsHarmlessly(std::uint32_t node, const std::string& reg, const z3::expr& ours,
                                const z3::expr& theirs, const std::set<std::string>& leaves) {
  Begin(node, ours != theirs, leaves);
  State state;
  state.differs.insert(reg);
  if (flow_.SetsOf(reg).size() != 1) {
    state.open.insert(reg);
  } else {
    known_.emplace(reg, theirs);
  }
  return Follow(node + 1, state);
}

bool Divergence::BranchesHarmlessly(std::uint32_t node, const z3::expr& ours,
                                    const z3::expr& theirs, const std::set<std::string>& leaves) {
  Begin(node, ours != theirs, leaves);
  branch_ = std::pair(ours, theirs);
  return Follow(node, {});
}

bool Divergence::Follow(std::uint32_t node, const State& state) {
  Push(node, state);
  while (!waiting_.empty()) {
    const auto next = waiting_.back();
    waiting_.pop_back();
    if (next.first != flow_.exit() && !Step(next.first, states_[next])) {
      return false;
    }
  }
  return true;
}

bool Divergence::Push(std::uint32_t node, const State& state) {
  const std::pair key(node, state.first);
  const auto [known, added] = states_.emplace(key, state);
  const State before = known->second;
  known->second.differs.insert(state.differs.begin(), state.differs.end());
  known->second.open.insert(state.open.begin(), state.open.end());
  if (added || !(known->second == before)) {
    waiting_.push_back(key);
  }
  return true;
}

Instead Divergence::Theirs(const State& state, std::uint32_t point) {
  Instead instead;
  std::set<std::string> unknown = state.open;
  for (const auto& [reg, theirs] : known_) {
    if (condition_.empty()) {
      unknown.insert(reg);
    } else {
      instead.emplace(reg, theirs);
    }
  }
  if (branch_) {
    instead.emplace(TakenAt(origin_), branch_->second);
  }
  for (const std::string& reg : unknown) {
    const std::string name = reg + "'" + std::to_string(point);
    const bool truth = flow_.TypeOf(reg) == ptx::Type::kPred;
    instead.insert_or_assign(
        reg, truth ? formulas_.context().bool_const(name.c_str())
                   : formulas_.context().bv_const(name.c_str(), BitsOf(flow_.TypeOf(reg))));
  }
  return instead;
}

bool Divergence::Possible(std::uint32_t node, const Instead& instead, std::vector<z3::expr> more) {
  more.insert(more.end(), condition_.begin(), condition_.end());
  const std::vector<z3::expr> facts = formulas_.Facts(node, instead);
  more.insert(more.end(), facts.begin(), facts.end());
  return !formulas_.Impossible(more);
}

bool Divergence::Same(const std::string& reg, std::uint32_t node, const Instead& instead) {
  const z3::expr ours = formulas_.Register(reg, node);
  const z3::expr theirs = formulas_.Register(reg, node, instead);
  return !Possible(node, {}, {ours != theirs});
}

// Whether an instruction makes the same of operands that differ: what differs is masked out.
bool Divergence::GivesTheSame(std::uint32_t node, const Instead& instead) {
  const ptx::Instruction& i = flow_.at(node);
  if (node == origin_ || flow_.Sets(node).size() != 1 || CrossesLanes(i)) {
    return false;
  }
  const auto ours = formulas_.Result(i, node), theirs = formulas_.Result(i, node, instead);
  return ours && theirs && !Possible(node, {}, {*ours != *theirs});
}

// One instruction that both execute.
bool Divergence::Step(std::uint32_t node, State state) {
  const ptx::Instruction& i = flow_.at(node);
  if (node == origin_ && !settled_ && (!branch_ || !state.differs.empty())) {
    state.first = false;
  }
  condition_.clear();
  if (StillHolds(node, state)) {
    condition_.push_back(*difference_);
  }
  if (branch_ && node == origin_) {
    return Part(node, branch_->first, branch_->second, state);
  }
  const Instead theirs = Theirs(state, node);
  std::vector<std::string> differing;
  for (const std::string& reg : flow_.Reads(node)) {
    if (state.differs.contains(reg)) {
      differing.push_back(reg);
    }
  }
  if (IsBranch(i)) {
    if (i.guard.empty()) {
      return Push(flow_.successors(node).front(), state);
    }
    z3::expr ours = formulas_.Register(i.guard, node);
    z3::expr other = differing.empty() ? ours : formulas_.Register(i.guard, node, theirs);
    if (i.guard_negated) {
      ours = !ours;
      other = !other;
    }
    return Part(node, ours, other, state);
  }
  if (differing.empty()) {
    if (i.guard.empty() && node != origin_) {
      for (const std::string& reg : flow_.Sets(node)) {
        state.differs.erase(reg);
        state.open.erase(reg);
      }
    }
    return Push(node + 1, state);
  }
  const bool same = std::all_of(differing.begin(), differing.end(),
                                [&](const std::string& reg) { return Same(reg, node, theirs); });
  if (same) {
    return Push(node + 1, state);
  }
  if (GivesTheSame(node, theirs)) {
    for (const std::string& reg : flow_.Sets(node)) {
      state.differs.erase(reg);
      state.open.erase(reg);
    }
    return Push(node + 1, state);
  }
  if (HasEffect(i) || i.opcode == "ld") {
    // Whoever differs does not get here.
    return !Possible(node, {}) && !Possible(node, theirs);
  }
  if (CrossesLanes(i) && !IsUniform()) {
    return false;
  }
  const std::vector<std::string> sets = flow_.Sets(node);
  const bool followed = sets.size() == 1 && flow_.SetsOf(sets.front()).size() == 1 &&
                        !CrossesLanes(i) && formulas_.Result(i, node).has_value() &&
                        std::all_of(differing.begin(), differing.end(), [&](const auto& reg) {
                          // What is set at several places may have changed when this is asked for.
                          return flow_.SetsOf(reg).size() == 1;
                        });
  for (const std::string& reg : sets) {
    state.differs.insert(reg);
    if (!followed) {
      state.open.insert(reg);
    }
  }
  return Push(node + 1, state);
}

// A branch, taken when `ours` holds in the original and `theirs` in the mutant.
bool Divergence::Part(std::uint32_t branch, const z3::expr& ours, const z3::expr& theirs,
                      State state) {
  const auto target = [&](bool taken) {
    const std::vector<std::uint32_t>& next = flow_.successors(branch);
    return !taken                                          ? branch + 1
           : next.front() == branch + 1 && next.size() > 1 ? next[1]
                                                           : next.front();
  };
  const bool alike = z3::eq(ours, theirs);
  for (const bool taken : {false, true}) {
    const z3::expr both =
        alike ? (taken ? ours : !ours) : (taken ? ours && theirs : !ours && !theirs);
    const std::tuple key(branch, taken, condition_.empty());
    const auto known = alike ? ways_.find(key) : ways_.end();
    const bool possible = known != ways_.end() ? known->second : Possible(branch, {}, {both});
    if (alike) {
      ways_[key] = possible;
    }
    if (possible) {
      Push(target(taken), state);
    }
  }
  if (alike) {
    return true;
  }
  const std::uint32_t meet = flow_.post_dominator(branch);
  if (meet == Flow::kNone) {
    return false;
  }
  for (const bool taken : {false, true}) {
    const z3::expr apart = taken ? ours && !theirs : !ours && theirs;
    if (!Possible(branch, {}, {apart})) {
      continue;
    }
    std::vector<z3::expr> when = condition_;
    if (!condition_.empty()) {
      when.push_back(apart);
    }
    std::set<std::string> sets;
    if (!Side(target(taken), meet, false, {}, when, sets) ||
        !Side(target(!taken), meet, true, Theirs(state, branch), when, sets)) {
      return false;
    }
    State after = state;
    after.differs.insert(sets.begin(), sets.end());
    after.open.insert(sets.begin(), sets.end());
    Push(meet, after);
  }
  return true;
}

// What one of the two executes alone, from `from` to where they meet.
bool Divergence::Side(std::uint32_t from, std::uint32_t meet, bool theirs, const Instead& instead,
                      const std::vector<z3::expr>& when, std::set<std::string>& sets) {
  std::vector<std::uint32_t> open{from};
  std::set<std::uint32_t> seen;
  const auto possible = [&](std::uint32_t node, std::vector<z3::expr> more) {
    more.insert(more.end(), when.begin(), when.end());
    return Possible(node, instead, std::move(more));
  };
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (node == meet || node == flow_.exit() || !seen.insert(node).second) {
      continue;
    }
    const ptx::Instruction& i = flow_.at(node);
    if (IsBranch(i)) {
      const std::vector<std::uint32_t>& next = flow_.successors(node);
      for (const std::uint32_t to : next) {
        if (i.guard.empty()) {
          open.push_back(to);
          continue;
        }
        const z3::expr guard = formulas_.Register(i.guard, node, instead);
        const bool falls = to == node + 1;
        if (next.size() == 1 || possible(node, {falls == i.guard_negated ? guard : !guard})) {
          open.push_back(to);
        }
      }
      continue;
    }
    if (HasEffect(i)) {
      if (possible(node, {})) {
        return false;
      }
      continue;  // no way leads on from here
    }
    if (theirs && i.opcode == "ld" && !Has(i, "param") && !StaysInside(node, instead, when)) {
      return false;
    }
    if (CrossesLanes(i) && !IsUniform()) {
      return false;
    }
    for (const std::string& reg : flow_.Sets(node)) {
      sets.insert(reg);
    }
    open.push_back(node + 1);
  }
  return true;
}

bool Divergence::StaysInside(std::uint32_t load, const Instead& instead,
                             std::vector<z3::expr> when) {
  const ptx::Instruction& i = flow_.at(load);
  // The first word of a buffer is there in every launch.
  if (Has(i, "global") && i.operands.size() == 2 &&
      i.operands[1].kind == ptx::Operand::Kind::kAddress && i.operands[1].offset == 0 &&
      flow_.Sets(load).size() == 1 && BitsOf(flow_.TypeOf(flow_.Sets(load).front())) <= 32) {
    return !formulas_.WhereFrom(i.operands[1].elements.front().name, true).empty();
  }
  const auto address = formulas_.Address(i, load, instead);
  if (!Has(i, "shared") || !address) {
    return false;
  }
  const ptx::Operand& base = i.operands[1].elements.front();
  const std::set<std::string> leaves = flow_.IsRegister(base.name)
                                           ? formulas_.Leaves(base.name, load)
                                           : std::set<std::string>{base.name};
  const auto variable = std::find_if(leaves.begin(), leaves.end(), [&](const std::string& leaf) {
    return shared_.contains(leaf);
  });
  if (variable == leaves.end()) {
    return false;
  }
  std::uint64_t bytes = 0;
  for (const std::string& reg : flow_.Sets(load)) {
    bytes += BitsOf(flow_.TypeOf(reg)) / 8;
  }
  z3::context& context = formulas_.context();
  const unsigned bits = address->get_sort().bv_size();
  const z3::expr begin = context.bv_const(("&" + *variable).c_str(), bits);
  const z3::expr last =
      context.bv_val(static_cast<std::uint64_t>(shared_.at(*variable) - bytes), bits);
  when.push_back(z3::ugt(*address - begin, last));
  return !Possible(load, instead, when);
}

// Whether all lanes of a warp are on the same side of the condition.
bool Divergence::IsUniform() {
  if (uniform_) {
    return *uniform_;
  }
  uniform_ = false;
  bool by_thread = false;
  std::set<std::string> assumed;
  for (const std::string& leaf : leaves_) {
    if (IsThreadNumber(leaf)) {
      by_thread = true;
      if (leaf != "%tid.x") {
        return false;
      }
    } else if (flow_.IsRegister(leaf) && !IsUniform(leaf, assumed)) {
      return false;
    }
  }
  if (by_thread) {
    z3::context& context = formulas_.context();
    const z3::expr mine = context.bv_const("%tid.x", 32);
    const z3::expr other = context.bv_const("%tid.x of another lane", 32);
    z3::expr_vector from(context), to(context);
    from.push_back(mine);
    to.push_back(other);
    z3::expr here = *difference_;
    const z3::expr there = z3::expr(here).substitute(from, to);
    if (!formulas_.Impossible({z3::lshr(mine, 5) == z3::lshr(other, 5), here != there})) {
      return false;
    }
  }
  uniform_ = true;
  return true;
}

bool Divergence::IsUniform(const std::string& reg, std::set<std::string>& assumed) {
  if (!assumed.insert(reg).second) {
    return true;
  }
  const auto& sets = flow_.SetsOf(reg);
  for (const std::uint32_t set : sets) {
    const ptx::Instruction& i = flow_.at(set);
    if (CrossesLanes(i) || i.opcode == "atom") {
      return false;
    }
    for (const ptx::Operand& operand : i.operands) {
      if (operand.kind == ptx::Operand::Kind::kSymbol && IsThreadNumber(operand.name)) {
        return false;
      }
    }
    for (const std::string& read : flow_.Reads(set)) {
      if (!IsUniform(read, assumed)) {
        return false;
      }
    }
  }
  // Which of several places has set it is decided by the branches before.
  for (std::uint32_t node = 0; sets.size() > 1 && node < flow_.exit(); ++node) {
    const ptx::Instruction& i = flow_.at(node);
    const bool decides = IsBranch(i) && !i.guard.empty() &&
                         std::any_of(sets.begin(), sets.end(),
                                     [&](std::uint32_t s) { return flow_.Reaches(node, s); });
    if (decides && !IsUniform(i.guard, assumed)) {
      return false;
    }
  }
  return true;
}

}  // namespace voltcheck::mutation::proof
