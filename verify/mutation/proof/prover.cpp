#include "verify/mutation/proof/prover.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "fixtures/case/error.h"
#include "verify/mutation/proof/delegation.h"
#include "verify/mutation/proof/divergence.h"
#include "verify/mutation/proof/flow.h"
#include "verify/mutation/proof/formulas.h"
#include "verify/mutation/proof/narrow.h"
#include "verify/mutation/proof/premises.h"

namespace voltcheck::mutation::proof {
namespace {

bool Equal(const ptx::Operand& a, const ptx::Operand& b) {
  return a.kind == b.kind && a.name == b.name && a.negated == b.negated && a.offset == b.offset &&
         a.bits == b.bits && a.immediate == b.immediate &&
         std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(),
                    Equal);
}

bool Equal(const ptx::Instruction& a, const ptx::Instruction& b) {
  return a.opcode == b.opcode && a.modifiers == b.modifiers && a.guard == b.guard &&
         a.guard_negated == b.guard_negated &&
         std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end(),
                    [](const auto& x, const auto& y) { return Equal(x, y); });
}

// The one instruction that a mutant changes, and how many stand in its place.
struct Change {
  std::uint32_t node = 0;
  std::size_t instead = 0;
};

std::optional<Change> FindChange(const std::vector<ptx::Instruction>& ours,
                                 const std::vector<ptx::Instruction>& theirs) {
  std::size_t same = 0;
  while (same < ours.size() && same < theirs.size() && Equal(ours[same], theirs[same])) {
    ++same;
  }
  std::size_t end = 0;
  while (end < ours.size() - same && end < theirs.size() - same &&
         Equal(ours[ours.size() - 1 - end], theirs[theirs.size() - 1 - end])) {
    ++end;
  }
  // Nothing is left of ours when a copy of its neighbour was put in; that is no change of one.
  if (ours.size() - same - end != 1) {
    return std::nullopt;
  }
  return Change{static_cast<std::uint32_t>(same), theirs.size() - same - end};
}

bool OnlyAddressDiffers(const ptx::Instruction& a, const ptx::Instruction& b) {
  ptx::Instruction c = b;
  for (std::size_t k = 0; k < std::min(a.operands.size(), b.operands.size()); ++k) {
    if (a.operands[k].kind == ptx::Operand::Kind::kAddress &&
        b.operands[k].kind == ptx::Operand::Kind::kAddress) {
      c.operands[k] = a.operands[k];
    }
  }
  return Equal(a, c);
}

}  // namespace

struct Prover::Kernel {
  explicit Kernel(std::shared_ptr<const KernelText> t)
      : text(std::move(t)),
        flow(text->function()),
        premises(text->entry()),
        invariant(flow.understood() ? Formulas::Invariants(flow, premises) : Invariant()) {}
  std::shared_ptr<const KernelText> text;
  Flow flow;
  Premises premises;
  Invariant invariant;
};

// Made anew for every proof, so that none depends on what was asked before.
struct Prover::Parts {
  explicit Parts(const Kernel& k)
      : kernel(*k.text),
        flow(k.flow),
        premises(k.premises),
        formulas(flow, k.premises, k.invariant) {}

  std::string ProveChange(const Change& change, const KernelText& mutant,
                          const std::string& statement);
  std::string ProveBranch(const Change& change, const ptx::Instruction* theirs);
  std::string ProveGuard(std::uint32_t node, const z3::expr& theirs);
  std::string ProveResult(std::uint32_t node, const ptx::Instruction& theirs);
  std::set<std::string> LeavesOf(const ptx::Instruction& i, std::uint32_t node);
  std::map<std::string, std::uint64_t> SharedBytes() const;

  const KernelText& kernel;
  const Flow& flow;
  const Premises& premises;
  Formulas formulas;
};

std::set<std::string> Prover::Parts::LeavesOf(const ptx::Instruction& i, std::uint32_t node) {
  std::set<std::string> leaves;
  const auto add = [&](const std::string& name) {
    if (flow.IsRegister(name)) {
      leaves.merge(formulas.Leaves(name, node));
    } else if (!name.empty()) {
      leaves.insert(name);
    }
  };
  add(i.guard);
  for (std::size_t k = IsBranch(i) ? i.operands.size() : 1; k < i.operands.size(); ++k) {
    add(i.operands[k].name);
  }
  return leaves;
}

std::map<std::string, std::uint64_t> Prover::Parts::SharedBytes() const {
  std::map<std::string, std::uint64_t> bytes;
  for (const ptx::Variable& v : kernel.function().variables) {
    if (v.space == ptx::StateSpace::kShared) {
      bytes[v.name] = v.bytes();
    }
  }
  return bytes;
}

std::string Prover::Parts::ProveBranch(const Change& change, const ptx::Instruction* theirs) {
  const ptx::Instruction& ours = flow.at(change.node);
  if (theirs != nullptr && (!IsBranch(*theirs) || !Equal(theirs->operands[0], ours.operands[0]))) {
    return {};
  }
  const auto taken = [&](const ptx::Instruction* branch) {
    if (branch == nullptr || branch->guard.empty()) {
      return formulas.context().bool_val(branch != nullptr);
    }
    const z3::expr guard = formulas.Register(branch->guard, change.node);
    return branch->guard_negated ? !guard : guard;
  };
  const z3::expr a = taken(&ours), b = taken(theirs);
  std::vector<z3::expr> differ = formulas.Facts(change.node);
  differ.push_back(a != b);
  if (formulas.ImpossibleByCases(differ)) {
    return "the branch goes the same way in every launch";
  }
  const std::string anyone = Delegation(flow, premises, formulas).Prove(change.node, a, b);
  if (!anyone.empty()) {
    return anyone;
  }
  Divergence divergence(flow, formulas, SharedBytes());
  if (divergence.BranchesHarmlessly(change.node, a, b, LeavesOf(ours, change.node))) {
    return "where the branch goes another way, nothing that it does reaches memory or another lane "
           "that counts";
  }
  return {};
}

// A predicate that nothing but one branch reads.
std::string Prover::Parts::ProveGuard(std::uint32_t node, const z3::expr& theirs) {
  const std::string& name = flow.at(node).operands[0].name;
  const auto& reads = flow.ReadsOf(name);
  if (reads.size() != 1 || flow.SetsOf(name).size() != 1 || !IsBranch(flow.at(reads[0])) ||
      flow.at(reads[0]).guard != name) {
    return {};
  }
  const bool negated = flow.at(reads[0]).guard_negated;
  const z3::expr a = formulas.Register(name, reads[0]);
  const z3::expr b = formulas.Register(name, reads[0], {{name, theirs}});
  return Delegation(flow, premises, formulas).Prove(reads[0], negated ? !a : a, negated ? !b : b);
}

std::string Prover::Parts::ProveResult(std::uint32_t node, const ptx::Instruction& theirs) {
  const ptx::Instruction& ours = flow.at(node);
  const auto a = formulas.Result(ours, node), b = formulas.Result(theirs, node);
  if (!a || !b || flow.Sets(node).size() != 1 || !Equal(ours.operands[0], theirs.operands[0]) ||
      a->is_bool() != b->is_bool()) {
    return {};
  }
  std::vector<z3::expr> differ = formulas.Facts(node);
  differ.push_back(*a != *b);
  if (formulas.ImpossibleByCases(differ)) {
    return "sets " + ours.operands[0].name + " to the same value in every launch";
  }
  const std::string anyone = ProveGuard(node, *b);
  if (!anyone.empty()) {
    return anyone;
  }
  std::set<std::string> leaves = LeavesOf(ours, node);
  leaves.merge(LeavesOf(theirs, node));
  Divergence divergence(flow, formulas, SharedBytes());
  if (divergence.SetsHarmlessly(node, ours.operands[0].name, *a, *b, leaves)) {
    return "where " + ours.operands[0].name +
           " differs, nothing that depends on it reaches memory "
           "or another lane that counts";
  }
  return {};
}

std::string Prover::Parts::ProveChange(const Change& change, const KernelText& mutant,
                                       const std::string& statement) {
  const std::uint32_t node = change.node;
  const ptx::Instruction& ours = flow.at(node);
  if (formulas.Impossible(formulas.Facts(node))) {
    return "no launch gets there";
  }
  const ptx::Instruction* theirs = change.instead == 1 ? &mutant.body()[node] : nullptr;
  if (IsBranch(ours) && change.instead <= 1) {
    return ProveBranch(change, theirs);
  }
  if (theirs != nullptr && OnlyAddressDiffers(ours, *theirs)) {
    const auto a = formulas.Address(ours, node), b = formulas.Address(*theirs, node);
    std::vector<z3::expr> differ = formulas.Facts(node);
    if (a && b && a->get_sort().bv_size() == b->get_sort().bv_size()) {
      differ.push_back(*a != *b);
      return formulas.Impossible(differ) ? "the address is the same in every launch" : "";
    }
    return {};
  }
  std::string proof = theirs != nullptr ? ProveResult(node, *theirs) : std::string();
  if (proof.empty() && !statement.empty()) {
    proof = EqualOnAllInputs(kernel, flow, formulas, node, statement);
  }
  return proof;
}

Prover::Prover(std::shared_ptr<const KernelText> kernel)
    : kernel_(std::make_unique<Kernel>(std::move(kernel))) {}
Prover::~Prover() = default;

std::string Prover::Prove(const std::vector<Edit>& edits) {
  if (!kernel_->flow.understood()) {
    return {};
  }
  const KernelText& kernel = *kernel_->text;
  const std::string text = Apply(kernel.text(), edits);
  std::optional<KernelText> mutant;
  try {
    mutant.emplace(kernels::ModuleImage{kernel.file(), text, {}}, kernel.entry());
  } catch (const Error&) {
    return {};
  }
  const auto change = FindChange(kernel.body(), mutant->body());
  if (!change) {
    return {};
  }
  // The text that stands in the statement's place, if nothing outside it has changed.
  const Edit statement = kernel.Statement(change->node);
  const bool inside = std::all_of(edits.begin(), edits.end(), [&](const Edit& edit) {
    return edit.begin >= statement.begin && edit.end <= statement.end;
  });
  const std::size_t length = text.size() + (statement.end - statement.begin) - kernel.text().size();
  Parts parts(*kernel_);
  return parts.ProveChange(*change, *mutant, inside ? text.substr(statement.begin, length) : "");
}

}  // namespace voltcheck::mutation::proof
