#include "kernels/simulator/program/control_flow.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace voltcheck::simulator {
namespace {

bool IsGuarded(const Instr& instr) { return instr.guard != kTrue; }

/// Whether a row is the same constant in every lane: `value`.
bool IsConstant(const Program& program, Ref ref, std::uint32_t value) {
  if (BaseOf(ref) != RowBase::kConstant) {
    return false;
  }
  std::uint32_t cells[kWarpSize];
  std::memcpy(cells, reinterpret_cast<const std::byte*>(program.constants.data()) + (ref & ~3u),
              sizeof(cells));
  return std::all_of(std::begin(cells), std::end(cells),
                     [&](std::uint32_t cell) { return cell == value; });
}

/// A .sync instruction for which a group of all 32 lanes need not wait.
bool IsForWholeWarp(const Program& program, const Instr& instr) {
  const Control& control = program.control[instr.control()];
  return control.kind == ControlKind::kSync &&
         (control.aligned || IsConstant(program, instr.op[control.mask_operand], kFullMask));
}

/// Whether code[begin, end] touches no memory and meets no other lane.
bool OnlyComputes(const Program& program, std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t pc = begin; pc <= end; ++pc) {
    const Instr& instr = program.code[pc];
    if (program.visible[pc] != 0 ||
        (instr.is_control() && program.control[instr.control()].kind != ControlKind::kBranch)) {
      return false;
    }
  }
  return true;
}

/// Where control goes from `pc`, as pcs; `ends_block` says whether a block must end after it.
std::vector<std::uint32_t> Successors(const Program& program, std::uint32_t pc, bool& ends_block) {
  const Instr& instr = program.code[pc];
  ends_block = false;
  if (!instr.is_control()) {
    return {pc + 1};
  }
  const Control& control = program.control[instr.control()];
  std::vector<std::uint32_t> next;
  switch (control.kind) {
    case ControlKind::kBranch:
      next.push_back(control.target);
      break;
    case ControlKind::kBranchTable:
      next = control.table;
      break;
    case ControlKind::kReturn:
    case ControlKind::kExit:
    case ControlKind::kTrap:
      break;
    default:
      return {pc + 1};
  }
  ends_block = true;
  if (IsGuarded(instr)) {
    next.push_back(pc + 1);
  }
  return next;
}

/// Reverse post-order of the reversed graph, from the exit: every block before those it leads to.
struct ReverseOrder {
  std::vector<std::uint32_t> number;  ///< by block; the exit has the highest number
  std::vector<std::uint32_t> blocks;  ///< ascending number
};

/// `predecessors_of_exit` are the blocks that leave; `predecessors[b]` those that go to b.
ReverseOrder Order(std::size_t count, const std::vector<std::vector<std::uint32_t>>& predecessors,
                   const std::vector<std::uint32_t>& predecessors_of_exit) {
  ReverseOrder order;
  order.number.assign(count, kNone);
  std::vector<std::uint8_t> seen(count, 0);
  struct Step {
    std::uint32_t block;
    std::size_t next;
  };
  std::vector<Step> stack;
  for (const std::uint32_t root : predecessors_of_exit) {
    if (seen[root] != 0) {
      continue;
    }
    seen[root] = 1;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      Step& top = stack.back();
      if (top.next < predecessors[top.block].size()) {
        const std::uint32_t child = predecessors[top.block][top.next++];
        if (seen[child] == 0) {
          seen[child] = 1;
          stack.push_back({child, 0});
        }
        continue;
      }
      order.number[top.block] = static_cast<std::uint32_t>(order.blocks.size());
      order.blocks.push_back(top.block);
      stack.pop_back();
    }
  }
  return order;
}

}  // namespace

FlowGraph BuildFlowGraph(const Program& program, std::uint32_t begin, std::uint32_t end) {
  FlowGraph graph;
  graph.first_pc = begin;
  std::vector<std::uint8_t> leader(end - begin, 0);
  leader[0] = 1;
  for (std::uint32_t pc = begin; pc < end; ++pc) {
    bool ends_block = false;
    const std::vector<std::uint32_t> next = Successors(program, pc, ends_block);
    if (ends_block) {
      for (const std::uint32_t target : next) {
        leader[target - begin] = 1;
      }
      if (pc + 1 < end) {
        leader[pc + 1 - begin] = 1;
      }
    }
  }
  graph.block_of.resize(end - begin);
  for (std::uint32_t pc = begin; pc < end; ++pc) {
    if (leader[pc - begin] != 0) {
      graph.blocks.push_back({pc, pc, {}});
    }
    graph.block_of[pc - begin] = static_cast<std::uint32_t>(graph.blocks.size() - 1);
    graph.blocks.back().end = pc + 1;
  }
  for (FlowBlock& block : graph.blocks) {
    bool ends_block = false;
    for (const std::uint32_t target : Successors(program, block.end - 1, ends_block)) {
      const std::uint32_t successor = graph.block_of[target - begin];
      if (std::find(block.successors.begin(), block.successors.end(), successor) ==
          block.successors.end()) {
        block.successors.push_back(successor);
      }
    }
  }
  return graph;
}

// Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.
std::vector<std::uint32_t> ImmediatePostDominators(const FlowGraph& graph) {
  const std::size_t count = graph.blocks.size();
  std::vector<std::vector<std::uint32_t>> predecessors(count);
  std::vector<std::uint32_t> leaving;
  for (std::uint32_t b = 0; b < count; ++b) {
    if (graph.blocks[b].successors.empty()) {
      leaving.push_back(b);
    }
    for (const std::uint32_t s : graph.blocks[b].successors) {
      predecessors[s].push_back(b);
    }
  }
  ReverseOrder order = Order(count, predecessors, leaving);
  std::vector<std::uint8_t> leaves(count, 0);
  for (const std::uint32_t b : leaving) {
    leaves[b] = 1;
  }
  // Endless loops: let their last block leave, until every block reaches the exit.
  for (std::uint32_t b = static_cast<std::uint32_t>(count); b-- > 0;) {
    if (order.number[b] == kNone) {
      leaving.push_back(b);
      leaves[b] = 1;
      order = Order(count, predecessors, leaving);
    }
  }
  const auto exit = static_cast<std::uint32_t>(count);
  order.number.push_back(exit);
  std::vector<std::uint32_t> dominator(count + 1, kNone);
  dominator[exit] = exit;
  const auto meet = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (order.number[a] < order.number[b]) {
        a = dominator[a];
      }
      while (order.number[b] < order.number[a]) {
        b = dominator[b];
      }
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = count; i-- > 0;) {
      const std::uint32_t b = order.blocks[i];
      std::uint32_t best = leaves[b] != 0 ? exit : kNone;
      for (const std::uint32_t s : graph.blocks[b].successors) {
        if (dominator[s] != kNone) {
          best = best == kNone ? s : meet(best, s);
        }
      }
      if (dominator[b] != best) {
        dominator[b] = best;
        changed = true;
      }
    }
  }
  dominator.pop_back();
  for (std::uint32_t& d : dominator) {
    if (d == exit) {
      d = kNone;
    }
  }
  return dominator;
}

void FinishControlFlow(Program& program, const FlowGraph& graph) {
  const std::vector<std::uint32_t> dominator = ImmediatePostDominators(graph);
  for (std::uint32_t b = 0; b < graph.blocks.size(); ++b) {
    const FlowBlock& block = graph.blocks[b];
    std::int32_t run = 0;
    for (std::uint32_t pc = block.end; pc-- > block.begin;) {
      Instr& instr = program.code[pc];
      if (!instr.is_control()) {
        instr.run = ++run;
        continue;
      }
      Control& control = program.control[instr.control()];
      control.whole_warp = IsForWholeWarp(program, instr);
      run = control.whole_warp ? run + 1 : 0;
    }
    const std::uint32_t last = block.end - 1;
    if (!program.code[last].is_control()) {
      continue;
    }
    Control& control = program.control[program.code[last].control()];
    if (dominator[b] != kNone) {
      control.reconvergence = graph.blocks[dominator[b]].begin;
    }
    control.backward = control.kind == ControlKind::kBranch && control.target <= last;
    control.idle = control.backward && OnlyComputes(program, control.target, last);
  }
}

}  // namespace voltcheck::simulator
