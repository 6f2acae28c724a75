#ifndef VOLTCHECK_VERIFY_MUTATION_PLAN_EDITS_H_
#define VOLTCHECK_VERIFY_MUTATION_PLAN_EDITS_H_

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "verify/mutation/plan_operators.h"

/// What the operators on plans share.
namespace voltcheck::mutation {

using kernels::BufferArgument;
using kernels::BufferSpec;
using kernels::Plan;
using kernels::PlanArgument;
using kernels::PlanLaunch;
using kernels::PlanStage;

/// Places of arguments in the launches of a plan, docs/kernels.md.
namespace gemm {
inline constexpr std::size_t kOut = 0, kInput = 2, kOffsets = 4, kExperts = 5, kPartials = 8,
                             kN = 13, kSplits = 14;
}  // namespace gemm

/// Calls `change` on each launch of the stage; true when one of the calls gave true.
template <typename Change>
bool ForLaunches(Plan& plan, PlanStage stage, Change change) {
  bool any = false;
  for (PlanLaunch& launch : plan.launches) {
    any = (launch.stage == stage && change(launch)) || any;
  }
  return any;
}

inline BufferSpec* Find(Plan& plan, std::string_view name) {
  for (BufferSpec& buffer : plan.buffers) {
    if (buffer.name == name) {
      return &buffer;
    }
  }
  return nullptr;
}

/// Moves a buffer argument; false when the launch has none there (a null pointer).
inline bool Shift(PlanLaunch& launch, std::size_t argument, std::int64_t bytes) {
  auto* buffer = std::get_if<BufferArgument>(&launch.arguments[argument]);
  if (buffer == nullptr) {
    return false;
  }
  buffer->offset += static_cast<std::uint64_t>(bytes);
  return true;
}

/// A buffer's contents as numbers, and back.
template <typename T>
std::vector<T> Numbers(const BufferSpec& buffer) {
  std::vector<T> values(buffer.contents.size() / sizeof(T));
  std::memcpy(values.data(), buffer.contents.data(), values.size() * sizeof(T));
  return values;
}
template <typename T>
void SetNumbers(BufferSpec& buffer, const std::vector<T>& values) {
  std::memcpy(buffer.contents.data(), values.data(), values.size() * sizeof(T));
}

/// The int32 argument of the first launch of `stage` whose kernel begins with `kernel`; 0: none.
inline std::int32_t Argument(const Plan& plan, std::string_view buffer, std::size_t place) {
  for (const PlanLaunch& launch : plan.launches) {
    const auto* out = std::get_if<BufferArgument>(&launch.arguments.front());
    if (launch.stage == PlanStage::kRepack && out != nullptr && out->buffer == buffer) {
      return std::get<std::int32_t>(launch.arguments[place]);
    }
  }
  return 0;
}

}  // namespace voltcheck::mutation

#endif  // VOLTCHECK_VERIFY_MUTATION_PLAN_EDITS_H_
