#ifndef VOLTCHECK_VERIFY_MUTATION_TRIAL_H_
#define VOLTCHECK_VERIFY_MUTATION_TRIAL_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "verify/device_options.h"
#include "verify/judge_options.h"
#include "verify/mutation/killers.h"
#include "verify/mutation/mutants.h"
#include "verify/mutation/policies.h"
#include "verify/record.h"

namespace voltcheck::mutation {

/// What one case said about one set of kernels.
struct Trial {
  bool applicable = true;  ///< false: the plan has no place for the fault
  verify::CaseRecord record;
  bool has_output = false;  ///< false after a crash, and for a case that ends before the output
  PolicyFlags accepted{};   ///< by the tolerance policies; none of them accepts a missing output
  bool passed() const { return record.verdict == verify::Verdict::kPassed; }
};

/// How a trial is judged. The default is the gate's; anything else shows what a weaker gate misses.
struct Judging {
  verify::Policy policy = verify::Policy::kAll;
  bool all_checks = true;  ///< every checker of the simulator runs
};

/// Honest cases and those that each policy rejects.
struct HonestFigures {
  std::uint64_t cases = 0;
  std::uint64_t alarms = 0;  ///< of Voltcheck
  std::array<std::uint64_t, kPolicies> policy_alarms{};
  std::vector<std::string> examples;  ///< reproduction lines of Voltcheck's alarms, at most ten
  void Add(const Trial& trial);
  void Add(const HonestFigures& more);
};

/// Runs cases on kernels with and without a fault, through the same function as every other
/// command. Thread-safe; nothing depends on the order of calls.
class Bench {
 public:
  /// `overrides`: kernels of the user's own, which stand for the built-in ones.
  explicit Bench(std::vector<kernels::ModuleImage> overrides, const Judging& judging = {})
      : overrides_(std::move(overrides)), judging_(judging) {}

  /// The kernels as they are; remembered. A case that does not pass here says nothing about a
  /// fault.
  const Trial& Honest(const Killer& killer);
  /// The kernels as they are, whatever comes out; not remembered.
  Trial RunHonest(const Killer& killer) const;
  /// With the fault. A launch that takes 2^26 lane instructions is stopped.
  Trial Run(const Mutant& mutant, const kernels::ModuleImage& image, const Killer& killer);
  /// Of what Honest() has run. Not while it runs.
  HonestFigures Figures() const;

 private:
  Trial RunWith(const Killer& killer, verify::DeviceOptions options) const;

  std::vector<kernels::ModuleImage> overrides_;
  Judging judging_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::uint64_t>, std::unique_ptr<const Trial>> honest_;
};

}  // namespace voltcheck::mutation

#endif  // VOLTCHECK_VERIFY_MUTATION_TRIAL_H_
