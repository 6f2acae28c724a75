#include "verify/mutation/proof/flow.h"

#include <algorithm>
#include <functional>

namespace voltcheck::mutation::proof {
namespace {

bool OneOf(std::string_view opcode, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), opcode) != names.end();
}

bool Leaves(const ptx::Instruction& i) { return OneOf(i.opcode, {"ret", "exit", "trap"}); }

void Names(const ptx::Operand& operand, std::vector<std::string>& names) {
  if (operand.kind == ptx::Operand::Kind::kSymbol) {
    names.push_back(operand.name);
  }
  for (const ptx::Operand& element : operand.elements) {
    Names(element, names);
  }
}

// Immediate dominators of all nodes that `root` reaches (Cooper, Harvey and Kennedy, "A simple,
// fast dominance algorithm"), kNone for the root and the rest.
std::vector<std::uint32_t> Dominators(const std::vector<std::vector<std::uint32_t>>& next,
                                      const std::vector<std::vector<std::uint32_t>>& before,
                                      std::uint32_t root) {
  const std::size_t count = next.size();
  std::vector<std::uint32_t> rank(count, Flow::kNone), order;
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}};
  std::vector<bool> seen(count, false);
  seen[root] = true;
  while (!stack.empty()) {
    auto& [node, child] = stack.back();
    if (child < next[node].size()) {
      const std::uint32_t to = next[node][child++];
      if (!seen[to]) {
        seen[to] = true;
        stack.emplace_back(to, 0);
      }
    } else {
      rank[node] = static_cast<std::uint32_t>(order.size());
      order.push_back(node);
      stack.pop_back();
    }
  }
  std::vector<std::uint32_t> dominator(count, Flow::kNone);
  dominator[root] = root;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto node = order.rbegin(); node != order.rend(); ++node) {
      if (*node == root) {
        continue;
      }
      std::uint32_t nearest = Flow::kNone;
      for (std::uint32_t p : before[*node]) {
        if (rank[p] == Flow::kNone || dominator[p] == Flow::kNone) {
          continue;
        }
        if (nearest == Flow::kNone) {
          nearest = p;
          continue;
        }
        while (p != nearest) {
          std::uint32_t& lower = rank[p] < rank[nearest] ? p : nearest;
          lower = dominator[lower];
        }
      }
      changed = changed || dominator[*node] != nearest;
      dominator[*node] = nearest;
    }
  }
  dominator[root] = Flow::kNone;
  return dominator;
}

}  // namespace

bool IsBranch(const ptx::Instruction& i) { return i.opcode == "bra"; }

bool HasEffect(const ptx::Instruction& i) {
  const bool loads_in_order =
      i.opcode == "ld" && std::any_of(i.modifiers.begin(), i.modifiers.end(), [](const auto& m) {
        return m == "acquire" || m == "volatile" || m == "relaxed";
      });
  return loads_in_order || Leaves(i) ||
         OneOf(i.opcode, {"st", "red", "atom", "bar", "barrier", "membar", "fence", "cp", "call",
                          "prefetch", "prefetchu", "discard", "brx", "nanosleep", "activemask"});
}

bool CrossesLanes(const ptx::Instruction& i) {
  return OneOf(i.opcode, {"mma", "wmma", "shfl", "vote", "match", "redux", "activemask"});
}

Flow::Flow(const ptx::Function& function) : function_(function) {
  for (const ptx::Variable& v : function.variables) {
    if (v.space == ptx::StateSpace::kRegister) {
      types_[v.name] = v.type;
    }
  }
  successors_.resize(exit() + 1);
  predecessors_.resize(exit() + 1);
  for (std::uint32_t node = 0; node < exit(); ++node) {
    const ptx::Instruction& i = at(node);
    std::set<std::uint32_t> next;
    if (IsBranch(i)) {
      const auto label = function.labels.find(i.operands.front().name);
      understood_ = understood_ && label != function.labels.end();
      next.insert(label == function.labels.end() ? exit() : label->second);
    } else if (Leaves(i)) {
      next.insert(exit());
    } else if (OneOf(i.opcode, {"call", "brx"})) {
      understood_ = false;
    }
    if (next.empty() || !i.guard.empty()) {
      next.insert(node + 1);
    }
    for (const std::uint32_t to : next) {
      successors_[node].push_back(to);
      predecessors_[to].push_back(node);
    }
    for (const std::string& name : Sets(node)) {
      sets_[name].push_back(node);
    }
    for (const std::string& name : Reads(node)) {
      reads_[name].push_back(node);
    }
  }
  dominators_ = Dominators(successors_, predecessors_, 0);
  post_dominators_ = Dominators(predecessors_, successors_, exit());
}

bool Flow::Dominates(std::uint32_t above, std::uint32_t below) const {
  while (below != above && below != kNone) {
    below = dominators_[below];
  }
  return below == above;
}

bool Flow::Reaches(std::uint32_t from, std::uint32_t to, std::uint32_t avoiding) const {
  std::vector<bool> seen(successors_.size(), false);
  std::vector<std::uint32_t> open{from};
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    for (const std::uint32_t next : successors_[node]) {
      if (next == to) {
        return true;
      }
      if (!seen[next] && next != avoiding) {
        seen[next] = true;
        open.push_back(next);
      }
    }
  }
  return false;
}

std::vector<std::string> Flow::Sets(std::uint32_t node) const {
  const ptx::Instruction& i = at(node);
  std::vector<std::string> names;
  if (!i.operands.empty() && !IsBranch(i) &&
      !OneOf(i.opcode, {"st", "red", "bar", "barrier", "prefetch"})) {
    Names(i.operands.front(), names);
  }
  std::erase_if(names, [&](const std::string& name) { return !IsRegister(name); });
  return names;
}

std::vector<std::string> Flow::Reads(std::uint32_t node) const {
  const ptx::Instruction& i = at(node);
  std::vector<std::string> names;
  if (!i.guard.empty()) {
    names.push_back(i.guard);
    const std::vector<std::string> kept = Sets(node);
    names.insert(names.end(), kept.begin(), kept.end());
  }
  const bool sets_first = !Sets(node).empty();
  for (std::size_t k = sets_first ? 1 : 0; k < i.operands.size(); ++k) {
    Names(i.operands[k], names);
  }
  std::erase_if(names, [&](const std::string& name) { return !IsRegister(name); });
  return names;
}

const std::vector<std::uint32_t>& Flow::SetsOf(const std::string& name) const {
  static const std::vector<std::uint32_t> kNowhere;
  const auto found = sets_.find(name);
  return found == sets_.end() ? kNowhere : found->second;
}

const std::vector<std::uint32_t>& Flow::ReadsOf(const std::string& name) const {
  static const std::vector<std::uint32_t> kNowhere;
  const auto found = reads_.find(name);
  return found == reads_.end() ? kNowhere : found->second;
}

}  // namespace voltcheck::mutation::proof
