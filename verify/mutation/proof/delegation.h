#ifndef VOLTCHECK_VERIFY_MUTATION_PROOF_DELEGATION_H_
#define VOLTCHECK_VERIFY_MUTATION_PROOF_DELEGATION_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "verify/mutation/proof/formulas.h"

namespace voltcheck::mutation::proof {

/// Work that one thread does for its CTA between barriers, where another could do it as well: a
/// branch that lets thread 0 alone in, into instructions that would be the same for any thread.
///
/// Waiting: the threads that went in do nothing but load until they see what they wait for, and all
/// threads meet at a barrier behind it. It does not matter who waits, as long as somebody does; if
/// several do, what they wait for must stay until all have seen it (a premise, "turn").
///
/// Telling: one thread stores; a barrier lies before it, behind all that the CTA did to memory, and
/// nothing behind it. It does not matter which one stores, as long as it is one.
class Delegation {
 public:
  Delegation(const Flow& flow, const Premises& premises, Formulas& formulas)
      : flow_(flow), premises_(premises), formulas_(formulas) {}

  /// Why it makes no difference whether `branch` is taken when `ours` holds or when `theirs` does;
  /// empty when that was not seen.
  std::string Prove(std::uint32_t branch, const z3::expr& ours, const z3::expr& theirs);

 private:
  // What lies between a branch and where its ways meet.
  struct Region {
    std::set<std::uint32_t> nodes;
    std::uint32_t meet = 0;
    bool behind_taken = false;
    bool stores = false;
    bool turns = true;  // loads nothing but words that wait for whoever reads them
  };
  std::optional<Region> FindRegion(std::uint32_t branch) const;
  bool IsTheSameForAll(Region& region);
  bool BarrierBefore(std::uint32_t branch) const;
  bool NothingBehind(std::uint32_t meet) const;
  bool DependsOnThreadAlone(const std::string& guard, std::uint32_t branch);
  bool SomeEnter(const z3::expr& enters);
  bool OneEnters(const z3::expr& enters);

  const Flow& flow_;
  const Premises& premises_;
  Formulas& formulas_;
};

}  // namespace voltcheck::mutation::proof

#endif  // VOLTCHECK_VERIFY_MUTATION_PROOF_DELEGATION_H_
