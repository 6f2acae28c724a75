#ifndef VOLTCHECK_VERIFY_MUTATION_POLICIES_H_
#define VOLTCHECK_VERIFY_MUTATION_POLICIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace voltcheck::mutation {

/// A rule by which users usually accept a kernel: it looks at the final output alone. `got` is fp16
/// bits, `want` the FP32 reference. A value that is not a number fails every rule; equal infinities
/// pass those that compare element by element, as in NumPy.
struct TolerancePolicy {
  std::string_view name;  ///< "atol=2e-2"
  std::string_view rule;  ///< in words
  bool (*accepts)(std::span<const std::uint16_t> got, std::span<const float> want);
};

inline constexpr std::size_t kPolicies = 6;
const std::array<TolerancePolicy, kPolicies>& TolerancePolicies();

/// One flag a policy.
using PolicyFlags = std::array<bool, kPolicies>;

}  // namespace voltcheck::mutation

#endif  // VOLTCHECK_VERIFY_MUTATION_POLICIES_H_
