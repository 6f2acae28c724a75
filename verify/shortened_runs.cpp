#include "verify/shortened_runs.h"

#include <memory>
#include <span>
#include <vector>

#include "kernels/kernel_set.h"
#include "kernels/plan.h"
#include "verify/observed_halves.h"

namespace voltcheck::verify {
namespace {

using kernels::ObservedStage;
using reference::Gemm;
using reference::HalfMatrix;

void Shorten(std::vector<std::uint16_t>& bits, int cols, int kept) {
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (static_cast<int>(i % static_cast<std::size_t>(cols)) >= kept) {
      bits[i] = 0;
    }
  }
}

}  // namespace

HalfMatrix ShortenedRuns::Run(Gemm gemm, int kept) const {
  const Case& c = problem_.c;
  const bool is_w13 = gemm == Gemm::kW13;
  const kernels::Plan plan = is_w13 ? W13Plan(kept) : W2Plan(kept);
  const std::unique_ptr<kernels::Device> device = MakeDeviceFor(options_, c);
  kernels::KernelSet set(*device, options_.overrides);
  const ObservedStage out = kernels::RunPlan(*device, set, plan, c.shape, {});
  const std::vector<std::uint16_t>& bits = is_w13 ? out.w13 : out.w2;
  if (out.crashed || bits.empty()) {
    return {};
  }
  HalfMatrix m =
      ObservedMatrix(bits, c.shape.slots(), is_w13 ? c.w13_n() : c.w2_n(), c.shape.slots());
  if (is_w13 && c.columns == Columns::kInterleaved) {
    Deinterleave(m);
  }
  return m;
}

kernels::Plan ShortenedRuns::W13Plan(int kept) const {
  Problem shortened = problem_;
  Shorten(shortened.hidden, problem_.c.shape.hidden, kept);
  shortened.c.stage = StageSelection::kW13;
  return kernels::MakePlan(shortened);
}

// W2 alone: what W13 and SiLU would make is uploaded in their stead.
kernels::Plan ShortenedRuns::W2Plan(int kept) const {
  Problem w2 = problem_;
  w2.c.stage = StageSelection::kW2;
  kernels::Plan plan = kernels::MakePlan(w2);
  std::erase_if(plan.launches, [](const kernels::PlanLaunch& launch) {
    return launch.stage == kernels::PlanStage::kW13 || launch.stage == kernels::PlanStage::kSilu;
  });
  std::erase_if(plan.buffers, [](const kernels::BufferSpec& b) { return b.name == "w13"; });
  std::vector<std::uint16_t> silu = observed_.silu;
  Shorten(silu, problem_.c.shape.intermediate, kept);
  for (kernels::BufferSpec& buffer : plan.buffers) {
    if (buffer.name == "silu") {
      const auto bytes = std::as_bytes(std::span(silu));
      buffer.role = kernels::BufferSpec::Role::kInput;
      buffer.contents.assign(bytes.begin(), bytes.end());
    }
  }
  return plan;
}

}  // namespace voltcheck::verify
