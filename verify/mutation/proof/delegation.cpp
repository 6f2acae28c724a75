#include "verify/mutation/proof/delegation.h"

#include <algorithm>
#include <vector>

#include "verify/mutation/ptx_edits.h"

namespace voltcheck::mutation::proof {
namespace {

// Threads that are tried as the one that goes in.
constexpr int kTried = 4;

bool IsBarrier(const ptx::Instruction& i) { return Is(i, {"bar", "barrier"}) && i.guard.empty(); }

bool TouchesMemory(const ptx::Instruction& i) {
  return (i.opcode == "ld" && !Has(i, "param")) || (HasEffect(i) && !Is(i, {"ret", "exit"}));
}

bool IsSameForAllThreads(const std::string& leaf) {
  return leaf.starts_with("%ctaid.") || leaf.starts_with("%nctaid.") ||
         leaf.starts_with("%ntid.") || !leaf.starts_with("%");
}

z3::expr Of(const z3::expr& formula, const z3::expr& thread, const z3::expr& other) {
  z3::expr_vector from(thread.ctx()), to(thread.ctx());
  from.push_back(thread);
  to.push_back(other);
  return z3::expr(formula).substitute(from, to);
}

}  // namespace

std::optional<Delegation::Region> Delegation::FindRegion(std::uint32_t branch) const {
  const std::vector<std::uint32_t>& next = flow_.successors(branch);
  Region region;
  region.meet = flow_.post_dominator(branch);
  if (next.size() != 2 || region.meet == Flow::kNone || region.meet == flow_.exit()) {
    return std::nullopt;
  }
  const auto inside =
      std::find_if(next.begin(), next.end(), [&](std::uint32_t to) { return to != region.meet; });
  if (inside == next.end() || std::find(next.begin(), next.end(), region.meet) == next.end()) {
    return std::nullopt;
  }
  region.behind_taken = *inside != branch + 1;
  std::vector<std::uint32_t> open{*inside};
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (node == branch || node == flow_.exit()) {
      return std::nullopt;
    }
    if (node != region.meet && region.nodes.insert(node).second) {
      const auto& onward = flow_.successors(node);
      open.insert(open.end(), onward.begin(), onward.end());
    }
  }
  // No other way in.
  for (const std::uint32_t node : region.nodes) {
    for (const std::uint32_t before : flow_.predecessors(node)) {
      if (before != branch && !region.nodes.contains(before)) {
        return std::nullopt;
      }
    }
  }
  return region;
}

// Whether the region would do the same for any thread, and leaves nothing behind in a register.
bool Delegation::IsTheSameForAll(Region& region) {
  for (const std::uint32_t node : region.nodes) {
    const ptx::Instruction& i = flow_.at(node);
    const bool allowed = Is(i, {"st"}) || i.opcode == "ld" || !HasEffect(i);
    if (!allowed || CrossesLanes(i)) {
      return false;
    }
    region.stores = region.stores || Is(i, {"st"});
    if (i.opcode == "ld" && !Has(i, "param")) {
      const std::string from = i.operands[1].kind == ptx::Operand::Kind::kAddress
                                   ? formulas_.WhereFrom(i.operands[1].elements.front().name)
                                   : std::string();
      region.turns = region.turns && !from.empty() && premises_.Of("turn" + from).has_value();
    }
    for (const std::string& reg : flow_.Sets(node)) {
      const auto& reads = flow_.ReadsOf(reg);
      if (std::any_of(reads.begin(), reads.end(),
                      [&](std::uint32_t read) { return !region.nodes.contains(read); })) {
        return false;
      }
    }
    for (const std::string& reg : flow_.Reads(node)) {
      const auto& sets = flow_.SetsOf(reg);
      const auto is_inside = [&](std::uint32_t set) { return region.nodes.contains(set); };
      if (std::all_of(sets.begin(), sets.end(), is_inside)) {
        continue;
      }
      const std::set<std::string> leaves = formulas_.Leaves(reg, node);
      if (!std::all_of(leaves.begin(), leaves.end(), IsSameForAllThreads)) {
        return false;
      }
    }
    for (const ptx::Operand& operand : i.operands) {
      if (operand.kind == ptx::Operand::Kind::kSymbol && !flow_.IsRegister(operand.name) &&
          !IsSameForAllThreads(operand.name)) {
        return false;
      }
    }
  }
  return true;
}

// Whether every way to the branch passes a barrier, and touches no memory behind it.
bool Delegation::BarrierBefore(std::uint32_t branch) const {
  std::vector<std::uint32_t> open = flow_.predecessors(branch);
  std::set<std::uint32_t> seen;
  bool passed = !open.empty();
  while (!open.empty() && passed) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (IsBarrier(flow_.at(node)) || !seen.insert(node).second) {
      continue;
    }
    const auto& before = flow_.predecessors(node);
    passed = !TouchesMemory(flow_.at(node)) && !before.empty();
    open.insert(open.end(), before.begin(), before.end());
  }
  return passed;
}

// Whether no way from `meet` on touches memory or meets another thread.
bool Delegation::NothingBehind(std::uint32_t meet) const {
  std::vector<std::uint32_t> open{meet};
  std::set<std::uint32_t> seen;
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (node == flow_.exit() || !seen.insert(node).second) {
      continue;
    }
    if (TouchesMemory(flow_.at(node)) || CrossesLanes(flow_.at(node))) {
      return false;
    }
    const auto& onward = flow_.successors(node);
    open.insert(open.end(), onward.begin(), onward.end());
  }
  return true;
}

bool Delegation::DependsOnThreadAlone(const std::string& guard, std::uint32_t branch) {
  const std::set<std::string> leaves = formulas_.Leaves(guard, branch);
  return std::all_of(leaves.begin(), leaves.end(), [](const std::string& leaf) {
    return leaf == "%tid.x" || IsSameForAllThreads(leaf);
  });
}

bool Delegation::SomeEnter(const z3::expr& enters) {
  const auto threads = premises_.Of("ntid.x");
  z3::context& context = formulas_.context();
  const z3::expr thread = context.bv_const("%tid.x", 32);
  for (int n = 0; n < kTried && threads && n < threads->low; ++n) {
    if (formulas_.Impossible({!Of(enters, thread, context.bv_val(n, 32))})) {
      return true;
    }
  }
  return false;
}

bool Delegation::OneEnters(const z3::expr& enters) {
  z3::context& context = formulas_.context();
  const z3::expr thread = context.bv_const("%tid.x", 32);
  const z3::expr other = context.bv_const("%tid.x of another thread", 32);
  return SomeEnter(enters) &&
         formulas_.Impossible({enters, Of(enters, thread, other), thread != other});
}

std::string Delegation::Prove(std::uint32_t branch, const z3::expr& ours, const z3::expr& theirs) {
  const std::string& guard = flow_.at(branch).guard;
  std::optional<Region> region = FindRegion(branch);
  const bool flat = premises_.Of("ntid.y") && premises_.Of("ntid.y")->high == 1 &&
                    premises_.Of("ntid.z") && premises_.Of("ntid.z")->high == 1;
  if (!region || guard.empty() || !flat || !DependsOnThreadAlone(guard, branch) ||
      !IsTheSameForAll(*region)) {
    return {};
  }
  const z3::expr we = region->behind_taken ? ours : !ours;
  const z3::expr they = region->behind_taken ? theirs : !theirs;
  if (!region->stores) {
    const bool enough =
        region->turns ? SomeEnter(we) && SomeEnter(they) : OneEnters(we) && OneEnters(they);
    return IsBarrier(flow_.at(region->meet)) && enough
               ? "it does not matter which threads wait: all meet at a barrier behind it"
               : "";
  }
  return BarrierBefore(branch) && NothingBehind(region->meet) && OneEnters(we) && OneEnters(they)
             ? "it does not matter which thread stores for all, between a barrier and the end"
             : "";
}

}  // namespace voltcheck::mutation::proof
