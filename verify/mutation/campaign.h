#ifndef VOLTCHECK_VERIFY_MUTATION_CAMPAIGN_H_
#define VOLTCHECK_VERIFY_MUTATION_CAMPAIGN_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "verify/mutation/mutants.h"
#include "verify/mutation/policies.h"
#include "verify/mutation/trial.h"
#include "verify/record.h"

namespace voltcheck::mutation {

enum class Fate {
  kDiscarded,   ///< the assembler or the simulator does not take it: no mutant
  kEquivalent,  ///< the same machine code, or a proof in equivalent.txt that no case refuted
  kCaught,      ///< some case did not pass
  kSurvived,    ///< all passed, the second, larger set too
};
std::string_view ToString(Fate fate);

/// What became of one mutant.
struct MutantResult {
  Mutant mutant;
  Fate fate = Fate::kSurvived;
  std::string reason;       ///< why discarded, equivalent or caught; one line
  std::uint64_t cases = 0;  ///< run until it was caught, or all
  bool deep = false;        ///< the second set was needed
  /// The case that caught it; its verdict is kUntested when none did.
  verify::CaseRecord killer;
  std::uint64_t schedule = 0;
  /// Policies that reject an output of it in a case whose honest output they accept.
  PolicyFlags rejected{};
  double seconds = 0;  ///< until it was caught, without the assembler; reported, never recorded
};

struct CampaignOptions {
  MutantSelection selection;
  std::uint64_t sample = 0;  ///< this many mutants, discarded ones not counted; 0: all
  /// At most so many cases of the first set, and ten times as many of the second; 0: all.
  std::uint64_t budget_cases = 0;
  Judging judging;
  std::uint64_t seed = 0;
  int jobs = 0;  ///< mutants at a time; 0: all cores. Never changes a result.
  /// From FindAssembler. Empty: none is asked, so nothing is known to be the same machine code, and
  /// nothing refused.
  std::string ptxas;
  /// Whether a mutant is done with when it is caught, without asking what the policies say of it in
  /// further cases, and a proof counts after the first set of cases.
  bool kill_only = false;
  /// Results of before, by id; a mutant whose change is the same is not run again but for the case
  /// that caught it, which makes its record.
  std::map<std::string, MutantResult> known;
  std::function<bool()> stop;
  std::function<void(const MutantResult&)> progress;  ///< called one at a time, in any order
};

struct Campaign {
  std::vector<MutantResult> results;  ///< in the order of the sample
  HonestFigures honest;               ///< the cases that caught mutants, on the unchanged kernels
  bool complete = true;               ///< false after `stop`
  std::uint64_t Count(Fate fate) const;
  std::uint64_t mutants() const { return results.size() - Count(Fate::kDiscarded); }
  /// Caught share of those that are not equivalent; 1 when there are none.
  double CaughtShare() const;
  /// Median time to a kill, in seconds.
  double MedianKill() const;
};

/// The share that a campaign must reach.
inline constexpr double kCaughtTarget = 0.99;

Campaign RunCampaign(const CampaignOptions& options);

/// Cases that are judged together, and stand in one line of a journal.
inline constexpr std::uint64_t kHonestBlock = 250;

struct HonestOptions {
  std::vector<kernels::ModuleImage> overrides;
  Judging judging;
  std::uint64_t count = 0;
  std::uint64_t seed = 0;
  int jobs = 0;
  std::function<bool()> stop;
  /// Blocks of before, by their first case.
  std::map<std::uint64_t, HonestFigures> known;
  /// Called after every new block.
  std::function<void(std::uint64_t first, const HonestFigures&)> progress;
};

/// Runs the first `count` honest cases; Voltcheck must pass them all. Fewer after `stop`.
HonestFigures RunHonestCases(const HonestOptions& options);

}  // namespace voltcheck::mutation

#endif  // VOLTCHECK_VERIFY_MUTATION_CAMPAIGN_H_
