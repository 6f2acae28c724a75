#ifndef VOLTCHECK_VERIFY_MUTATION_PROOF_FLOW_H_
#define VOLTCHECK_VERIFY_MUTATION_PROOF_FLOW_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/simulator/ptx/module.h"

namespace voltcheck::mutation::proof {

namespace ptx = simulator::ptx;

/// Which instruction follows which, and where registers are set and read, of one PTX function.
/// Nodes are indices into its body; `exit()` is the end.
class Flow {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  /// `function` must outlive this.
  explicit Flow(const ptx::Function& function);

  /// False for what the analyses do not follow: calls and indirect branches.
  bool understood() const { return understood_; }
  std::uint32_t exit() const { return static_cast<std::uint32_t>(function_.body.size()); }
  const ptx::Instruction& at(std::uint32_t node) const { return function_.body[node]; }

  const std::vector<std::uint32_t>& successors(std::uint32_t node) const {
    return successors_[node];
  }
  const std::vector<std::uint32_t>& predecessors(std::uint32_t node) const {
    return predecessors_[node];
  }
  /// The nearest instruction that every way from the entry to `node` goes through; kNone for the
  /// first one and for what no way leads to.
  std::uint32_t dominator(std::uint32_t node) const { return dominators_[node]; }
  /// The nearest one that every way from `node` to the end goes through.
  std::uint32_t post_dominator(std::uint32_t node) const { return post_dominators_[node]; }
  bool Dominates(std::uint32_t above, std::uint32_t below) const;

  /// Whether a way leads from behind `from` to `to` that does not pass `avoiding` between.
  bool Reaches(std::uint32_t from, std::uint32_t to, std::uint32_t avoiding = kNone) const;

  /// Registers that an instruction sets, and reads. One under a guard also reads what it sets.
  std::vector<std::string> Sets(std::uint32_t node) const;
  std::vector<std::string> Reads(std::uint32_t node) const;
  const std::vector<std::uint32_t>& SetsOf(const std::string& name) const;
  const std::vector<std::uint32_t>& ReadsOf(const std::string& name) const;
  bool IsRegister(const std::string& name) const { return types_.contains(name); }
  ptx::Type TypeOf(const std::string& name) const { return types_.at(name); }

 private:
  const ptx::Function& function_;
  bool understood_ = true;
  std::vector<std::vector<std::uint32_t>> successors_, predecessors_;
  std::vector<std::uint32_t> dominators_, post_dominators_, order_;
  std::map<std::string, ptx::Type> types_;
  std::map<std::string, std::vector<std::uint32_t>> sets_, reads_;
};

/// An instruction that has an effect beyond its registers: a store, a barrier, an order.
bool HasEffect(const ptx::Instruction& instruction);
/// One whose result may depend on the registers of other lanes.
bool CrossesLanes(const ptx::Instruction& instruction);
bool IsBranch(const ptx::Instruction& instruction);

}  // namespace voltcheck::mutation::proof

#endif  // VOLTCHECK_VERIFY_MUTATION_PROOF_FLOW_H_
