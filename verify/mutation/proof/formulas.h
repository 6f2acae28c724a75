#ifndef VOLTCHECK_VERIFY_MUTATION_PROOF_FORMULAS_H_
#define VOLTCHECK_VERIFY_MUTATION_PROOF_FORMULAS_H_

#include <z3++.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "verify/mutation/proof/flow.h"
#include "verify/mutation/proof/premises.h"

namespace voltcheck::mutation::proof {

/// Says of one register what it holds instead of what its instruction gives, and of a branch
/// (TakenAt) when it is taken instead of when its guard says.
using Instead = std::map<std::string, z3::expr>;
std::string TakenAt(std::uint32_t branch);

/// Registers that are set at several places, each of which leaves them within 0 and this number.
using Invariant = std::map<std::string, int>;

/// The integer and predicate registers of one kernel as formulas over its parameters, special
/// registers and loads: bit vectors, predicates as truth values. Whatever is not integer arithmetic
/// is a value that may be anything.
///
/// A formula is about the moment when control stands before one instruction, the *point*. A
/// register of which a use can read what one place set, and no other, is what that instruction made
/// of its operands; any other is a value of its own. If such a register may have been set anew
/// between its use and the point, its value then and its value now are two values.
class Formulas {
 public:
  /// Flow and premises must outlive this. `invariant`: from Invariants() of before, for the same
  /// kernel.
  Formulas(const Flow& flow, const Premises& premises, Invariant invariant);

  static Invariant Invariants(const Flow& flow, const Premises& premises);

  /// What `name` holds at `point`.
  z3::expr Register(const std::string& name, std::uint32_t point, const Instead& instead = {});
  /// What `instruction` would set, standing at `point` in place of what is there; nothing for one
  /// that is not integer arithmetic.
  std::optional<z3::expr> Result(const ptx::Instruction& instruction, std::uint32_t point,
                                 const Instead& instead = {});
  /// Base and offset of an address operand.
  std::optional<z3::expr> Address(const ptx::Instruction& instruction, std::uint32_t point,
                                  const Instead& instead = {});
  /// Which way the branches went that lead to `point`, whatever else happened.
  std::vector<z3::expr> Facts(std::uint32_t point, const Instead& instead = {});

  /// Whether no launch within the premises makes all of these true. False when the solver gives up.
  bool Impossible(const std::vector<z3::expr>& all);
  /// The same, asked again for each value of numbers that are at most 16 when the solver gives up.
  bool ImpossibleByCases(const std::vector<z3::expr>& all);

  /// Leaves under a formula of `name` at `point`: registers and special registers.
  std::set<std::string> Leaves(const std::string& name, std::uint32_t point);

  /// The number of the parameter that an address begins at: "4"; empty when it is not seen, and for
  /// `whole` when anything was added to it.
  std::string WhereFrom(const std::string& address_register, bool whole = false) const;

  z3::context& context() { return context_; }

 private:
  // One point, what stands instead, and what was made of registers so far.
  struct View {
    std::uint32_t point;
    const Instead& instead;
    std::map<std::pair<std::string, std::uint32_t>, z3::expr> made;  // by where they are set
  };
  /// The same, each with where it is read.
  std::set<std::pair<std::string, std::uint32_t>> LeafUses(const std::string& name,
                                                           std::uint32_t point);
  using Values = std::vector<std::pair<z3::expr, z3::expr>>;
  z3::check_result Ask(const std::vector<z3::expr>& all);
  z3::check_result Solve(const std::vector<z3::expr>& facts);
  bool Impossible(const std::vector<z3::expr>& all, const Values& values);
  std::set<std::string> NumbersIn(const std::vector<z3::expr>& all) const;
  z3::expr Read(const std::string& name, std::uint32_t use, View& view);
  std::optional<z3::expr> Made(const ptx::Instruction& i, std::uint32_t at, View& view);
  std::optional<z3::expr> Parameter(const ptx::Instruction& load, unsigned out);
  /// `a`: the first operand; `operand` gives the others by number and width.
  std::optional<z3::expr> MadeOfWords(
      const ptx::Instruction& i, const z3::expr& a, unsigned width, bool is_signed,
      const std::function<std::optional<z3::expr>(std::size_t, unsigned)>& operand);
  std::optional<z3::expr> Operand(const ptx::Operand& operand, std::uint32_t at, unsigned bits,
                                  View& view);
  z3::expr Unknown(const std::string& name, ptx::Type type);
  z3::expr Special(const std::string& name);
  bool BoundLoad(const z3::expr& value, const std::string& symbol, const ptx::Instruction& i);
  bool IsOneValue(const std::string& name, std::uint32_t use) const;
  void Bound(const z3::expr& value, const std::string& what);
  std::uint32_t SetBefore(const std::string& name, std::uint32_t use) const;
  bool SetAnew(const std::string& name, std::uint32_t use, std::uint32_t point);
  z3::expr Divided(const z3::expr& a, const z3::expr& b, bool is_signed, bool remainder);
  void FindInvariants();
  bool Keeps(const std::string& name, std::uint32_t set);
  bool KeepsFromBelow(const std::string& name, std::uint32_t set, const z3::expr& outside);
  bool ArrivesBelow(const std::string& name, std::uint32_t set, std::uint32_t use);
  void Forget();

  const Flow& flow_;
  const Premises& premises_;
  z3::context context_;
  std::map<std::string, z3::expr> unknown_;
  std::vector<z3::expr> assumed_;
  std::map<std::string, std::pair<z3::expr, z3::expr>> quotients_;  // dividend and divisor
  std::set<std::string> bounded_;  // what of `unknown_` has its bounds in `assumed_`
  Invariant invariant_;
  std::set<std::string> used_;  // what of it was asked for
  std::uint64_t questions_ = 0;
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t>, bool> set_anew_;
  mutable std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> set_before_;
};

unsigned BitsOf(ptx::Type type);
/// What premises call a register or special register: "tid.x" for "%tid.x".
std::string NameOfPremise(const std::string& name);

}  // namespace voltcheck::mutation::proof

#endif  // VOLTCHECK_VERIFY_MUTATION_PROOF_FORMULAS_H_
