// A GEMM has no absolute magnitude in it: activations times 2^j give outputs times 2^j, bit for
// bit, as long as nothing is subnormal and nothing overflows. (A V100 k-step aligns its terms to
// the largest exponent among them; all exponents move by j. Weights may be subnormal: their clamped
// exponents stay.)
#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <variant>

#include "kernels/plan_parts.h"
#include "reference/arith/half.h"
#include "verify/properties/breach.h"
#include "verify/properties/checks.h"
#include "verify/properties/edits.h"
#include "verify/properties/sameness.h"

namespace voltcheck::properties {
namespace {

constexpr double kSmallestNormal = 0x1p-14;
constexpr double kLargest = 65504;

bool IsNormal(double x) { return std::fabs(x) >= kSmallestNormal && std::fabs(x) <= kLargest; }

/// Replaces by zero what would be subnormal or infinite before or after the scaling.
std::vector<std::uint16_t> Scalable(std::vector<std::uint16_t> bits, double factor) {
  for (std::uint16_t& b : bits) {
    const double x = arith::HalfToFloat(b);
    b = IsNormal(x) && IsNormal(x * factor) ? b : std::uint16_t{0};
  }
  return bits;
}

std::vector<std::uint16_t> Scaled(std::vector<std::uint16_t> bits, double factor) {
  for (std::uint16_t& b : bits) {
    b = arith::DoubleToHalf(arith::HalfToFloat(b) * factor);
  }
  return bits;
}

/// Compares one GEMM's outputs; gives the number of elements that were comparable.
std::uint64_t ExpectScaled(const char* tensor, const StageRun& base, const StageRun& scaled,
                           double factor, const std::string& why) {
  const bool is_w13 = std::string_view(tensor) == "w13";
  const std::vector<std::uint16_t> from = is_w13 ? W13InCheckpointOrder(base) : base.out.w2;
  const std::vector<std::uint16_t> to = is_w13 ? W13InCheckpointOrder(scaled) : scaled.out.w2;
  const auto cols = static_cast<std::size_t>(is_w13 ? base.c.w13_n() : base.c.w2_n());
  std::uint64_t compared = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double x = arith::HalfToFloat(from[i]);
    const double y = arith::HalfToFloat(to[i]);
    const std::uint16_t want = arith::DoubleToHalf(x * factor);
    const bool comparable = IsNormal(x) && IsNormal(x * factor);
    // What rounds to a subnormal or to zero on one side says how large the other side can be.
    const bool vanished =
        std::fabs(x) < kSmallestNormal && std::fabs(y) > 2 * kSmallestNormal * std::fmax(factor, 1);
    if ((comparable && to[i] != want) || vanished) {
      const std::size_t row = i / cols;
      throw ElementBreach(tensor, base.out.source[row], static_cast<int>(i % cols), to[i], want,
                          why);
    }
    compared += comparable ? 1 : 0;
  }
  return compared;
}

StageRun RunW13(const Problem& problem, std::vector<std::uint16_t> hidden, Bench& bench) {
  Problem w13 = problem;
  w13.c.stage = StageSelection::kW13;
  w13.hidden = std::move(hidden);
  return bench.Run(w13);
}

bool HasStage(const kernels::Plan& plan, kernels::PlanStage stage) {
  return std::any_of(plan.launches.begin(), plan.launches.end(),
                     [&](const kernels::PlanLaunch& launch) { return launch.stage == stage; });
}

/// A step of somebody else's is handed every buffer, whether it needs it or not: what is taken out
/// of the plan is null from then on, as a tensor is that nobody writes.
void RemoveBuffer(std::string_view name, kernels::Plan& plan) {
  std::erase_if(plan.buffers, [&](const kernels::BufferSpec& b) { return b.name == name; });
  for (kernels::PlanLaunch& launch : plan.launches) {
    for (kernels::PlanArgument& argument : launch.arguments) {
      const auto* pointer = std::get_if<kernels::BufferArgument>(&argument);
      if (pointer != nullptr && pointer->buffer == name) {
        argument = kernels::kNull;
      } else if (auto* all = std::get_if<kernels::StructArgument>(&argument)) {
        std::erase_if(all->pointers, [&](const auto& one) { return one.target.buffer == name; });
      }
    }
  }
}

/// W2 alone, on this input.
StageRun RunW2(const Problem& problem, const std::vector<std::uint16_t>& silu, Bench& bench) {
  Problem w2 = problem;
  w2.c.stage = StageSelection::kW2;
  kernels::Plan plan = bench.MakePlan(w2);
  if (plan.FindBuffer("silu") == nullptr || plan.FindBuffer("w2") == nullptr) {
    throw NothingToCompare{"the kernels keep the input of W2 to themselves"};
  }
  if (bench.implementation() != nullptr && !HasStage(plan, kernels::PlanStage::kSilu)) {
    throw NothingToCompare{"SiLU and W2 are one step of the kernels"};
  }
  RemoveStage(plan, kernels::PlanStage::kW13);
  RemoveStage(plan, kernels::PlanStage::kSilu);
  RemoveBuffer("w13", plan);
  SetContents(plan, "silu", kernels::ContentsOf(silu), kernels::BufferSpec::Role::kInput);
  return bench.Run(plan, w2.c);
}

}  // namespace

void ActivationScaling(const Problem& problem, Bench& bench) {
  const StageRun whole = bench.Run(problem);
  std::uint64_t compared = 0;
  for (const int exponent : {3, -2}) {
    const double factor = std::ldexp(1.0, exponent);
    const std::string why =
        "the value for the original activations times 2^" + std::to_string(exponent);
    if (problem.c.path != Path::kM1) {  // there SiLU follows inside the launch
      const std::vector<std::uint16_t> hidden = Scalable(problem.hidden, factor);
      compared += ExpectScaled("w13", RunW13(problem, hidden, bench),
                               RunW13(problem, Scaled(hidden, factor), bench), factor, why);
    }
    const std::vector<std::uint16_t> silu = Scalable(whole.out.silu, factor);
    compared += ExpectScaled("w2", RunW2(problem, silu, bench),
                             RunW2(problem, Scaled(silu, factor), bench), factor, why);
  }
  if (compared == 0) {
    throw NothingToCompare{"no output is a normal number before and after the scaling"};
  }
}

}  // namespace voltcheck::properties
