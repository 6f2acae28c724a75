#ifndef VOLTCHECK_VERIFY_MUTATION_PROOF_DIVERGENCE_H_
#define VOLTCHECK_VERIFY_MUTATION_PROOF_DIVERGENCE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "verify/mutation/proof/formulas.h"

namespace voltcheck::mutation::proof {

/// Whether a kernel and a mutant of it that differ at one instruction may come to differ in
/// anything that counts: memory, barriers, what other lanes see, where they read.
///
/// Both are followed side by side from that instruction on, under the condition that makes them
/// differ. What an instruction computes from differing registers differs too; a branch that goes
/// another way is followed on both sides to where they meet, and what is set there differs from
/// then on. Ways that the condition excludes are left out: the sums of rows that a warp does not
/// have may be anything, because no such warp gets to storing them.
class Divergence {
 public:
  /// `shared`: bytes of each shared variable, so that a load that the original does not have can be
  /// seen to stay inside.
  Divergence(const Flow& flow, Formulas& formulas, std::map<std::string, std::uint64_t> shared)
      : flow_(flow), formulas_(formulas), shared_(std::move(shared)) {}

  /// The instruction `node` sets `reg` to `theirs` instead of `ours`. True: nothing comes of it.
  bool SetsHarmlessly(std::uint32_t node, const std::string& reg, const z3::expr& ours,
                      const z3::expr& theirs, const std::set<std::string>& leaves);
  /// The branch `node` is taken when `theirs` holds instead of `ours`.
  bool BranchesHarmlessly(std::uint32_t node, const z3::expr& ours, const z3::expr& theirs,
                          const std::set<std::string>& leaves);

 private:
  struct State {
    std::set<std::string> differs;  // registers that may hold something else
    std::set<std::string> open;     // those of which nothing is known
    bool first = true;  // control has not come back to where they differ since they differ
    bool operator==(const State&) const = default;
  };

  void Begin(std::uint32_t node, const z3::expr& condition, const std::set<std::string>& leaves);
  bool Follow(std::uint32_t node, const State& state);
  bool Step(std::uint32_t node, State state);
  bool StillHolds(std::uint32_t node, const State& state);
  bool Part(std::uint32_t branch, const z3::expr& ours, const z3::expr& theirs, State state);
  bool Side(std::uint32_t from, std::uint32_t meet, bool theirs, const Instead& instead,
            const std::vector<z3::expr>& when, std::set<std::string>& sets);
  bool StaysInside(std::uint32_t load, const Instead& instead, std::vector<z3::expr> when);
  bool Push(std::uint32_t node, const State& state);
  Instead Theirs(const State& state, std::uint32_t point);
  bool Possible(std::uint32_t node, const Instead& instead, std::vector<z3::expr> more = {});
  bool Same(const std::string& reg, std::uint32_t node, const Instead& instead);
  bool GivesTheSame(std::uint32_t node, const Instead& instead);
  bool IsUniform();
  bool IsUniform(const std::string& reg, std::set<std::string>& assumed);

  const Flow& flow_;
  Formulas& formulas_;
  std::map<std::string, std::uint64_t> shared_;

  std::uint32_t origin_ = 0;
  std::vector<z3::expr> condition_;  // what is known at the step under way
  bool settled_ = false;             // the condition holds for good
  std::optional<z3::expr> difference_;
  std::set<std::string> leaves_;
  std::optional<bool> uniform_;
  std::map<std::string, z3::expr> known_;  // what the mutant holds in a register instead
  std::map<std::pair<std::uint32_t, bool>, State> states_;  // by State::first
  std::vector<std::pair<std::uint32_t, bool>> waiting_;
  std::map<std::tuple<std::uint32_t, bool, bool>, bool> ways_;  // of a branch that both take alike
  std::optional<std::pair<z3::expr, z3::expr>> branch_;         // ours and theirs, at origin_
};

}  // namespace voltcheck::mutation::proof

#endif  // VOLTCHECK_VERIFY_MUTATION_PROOF_DIVERGENCE_H_
