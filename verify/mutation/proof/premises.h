#ifndef VOLTCHECK_VERIFY_MUTATION_PROOF_PREMISES_H_
#define VOLTCHECK_VERIFY_MUTATION_PROOF_PREMISES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/plan.h"

namespace voltcheck::mutation::proof {

/// What one value may be: low <= value <= high, a multiple of `step`.
struct Bounds {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t step = 1;
  std::string below;       ///< not empty: no larger than this other value either,
  std::int64_t scale = 0;  ///< or, if not 0: (value - low) * scale is less than it
};

/// What holds in every launch of one kernel that a plan can make: verify/mutation/premises.txt. A
/// proof stands on these and on nothing else.
class Premises {
 public:
  /// Those of the kernel `entry`; none for an entry that the file does not know.
  explicit Premises(const std::string& entry);

  /// Of "param13", "tid.x", "ntid.x", "ctaid.z", "nctaid.x", ..., or "load4+8": the word 8 bytes
  /// behind a multiple of 16 in the buffer that parameter 4 points to ("load4": any word of it).
  std::optional<Bounds> Of(const std::string& what) const;

  /// The first premise on arguments, grid or block that a launch breaks; empty when it keeps all.
  std::string Broken(const kernels::PlanLaunch& launch) const;

 private:
  std::map<std::string, Bounds> bounds_;
};

}  // namespace voltcheck::mutation::proof

#endif  // VOLTCHECK_VERIFY_MUTATION_PROOF_PREMISES_H_
