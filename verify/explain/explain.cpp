#include "verify/explain/explain.h"

#include <algorithm>
#include <memory>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "kernels/kernel_set.h"
#include "kernels/plan.h"
#include "verify/explain/parts.h"
#include "verify/observed_halves.h"

namespace voltcheck::explain {

using reference::HalfMatrix;
using verify::Stage;

void Ran::CheckElement(int row, int col, int rows, int cols) {
  if (row < 0 || col < 0 || row >= rows || col >= cols) {
    throw BadInput(
        "--at " + std::to_string(row) + "," + std::to_string(col),
        "lies outside the stage's " + std::to_string(rows) + " x " + std::to_string(cols) +
            " outputs",
        "rows of w13, silu and w2 are slots that are computed, of output and logits tokens");
  }
}

RowRoute RouteOfRow(const Ran& ran, int row) {
  const reference::Permutation& p = ran.permutation;
  const int top_k = ran.problem.c.shape.top_k;
  RowRoute r;
  r.row = row;
  r.slot = p.source[static_cast<std::size_t>(row)];
  r.token = r.slot / top_k;
  r.route = r.slot % top_k;
  r.expert = p.expert[static_cast<std::size_t>(row)];
  r.router_weight = ran.problem.topk_weights[static_cast<std::size_t>(r.slot)];
  for (int s = 0; s < p.active; ++s) {
    const int begin = p.offsets[static_cast<std::size_t>(s)];
    const int end = p.offsets[static_cast<std::size_t>(s) + 1];
    if (row >= begin && row < end) {
      r.segment = s;
      r.segment_begin = begin;
      r.segment_end = end;
    }
  }
  return r;
}

Explanation Explain(const Problem& problem, Stage stage, int row, int col,
                    const ExplainOptions& options) {
  const Case& c = problem.c;
  const std::unique_ptr<kernels::Device> device = verify::MakeDeviceFor(options.device, c);
  kernels::KernelSet set(*device, options.device.modules());
  Ran ran{problem,
          options,
          kernels::RunPlan(*device, set, options.device.MakePlan(problem), c.shape, {}),
          reference::Permute(problem),
          ParseNumerics(device->Describe().numerics),
          {},
          {},
          {},
          {}};
  if (ran.observed.crashed) {
    throw BadInput(ToDescriptor(c), "crashes on the device, so it has no outputs to explain",
                   "'voltcheck replay --case' says where it does");
  }
  const int rows = ran.permutation.rows;
  const int slots = c.shape.slots();
  const auto take = [&](const std::vector<std::uint16_t>& bits, int all, int cols, int computed) {
    return bits.empty() ? HalfMatrix{} : verify::ObservedMatrix(bits, all, cols, computed);
  };
  ran.w13 = take(ran.observed.w13, slots, c.w13_n(), rows);
  if (ran.w13.rows > 0 && c.columns == Columns::kInterleaved) {
    verify::Deinterleave(ran.w13);
  }
  ran.silu = take(ran.observed.silu, slots, c.shape.intermediate, rows);
  ran.w2 = take(ran.observed.w2, slots, c.w2_n(), rows);
  ran.output = take(ran.observed.output, c.shape.tokens, c.shape.hidden, c.shape.tokens);

  Explanation e;
  e.stage = stage;
  e.row = row;
  e.col = col;
  e.descriptor = ToDescriptor(c);
  if (options.device.implementation != nullptr) {
    e.notes.push_back(options.device.implementation->name() +
                      "; the model sums as the contract declares");
  }
  if (!ran.observed.findings.empty()) {
    e.notes.push_back("a checker found " + ran.observed.findings.front().checker + ": " +
                      ran.observed.findings.front().message);
  }
  switch (stage) {
    case Stage::kW13:
      ExplainGemm(ran, reference::Gemm::kW13, e);
      break;
    case Stage::kSilu:
      ExplainSilu(ran, e);
      break;
    case Stage::kW2:
      ExplainGemm(ran, reference::Gemm::kW2, e);
      break;
    case Stage::kOutput:
      ExplainOutput(ran, e);
      break;
    case Stage::kLogits:
      ExplainLogit(ran, e);
      break;
  }
  return e;
}

std::pair<int, int> WorstElement(const verify::StageRecord& record) {
  if (record.bits_differing > 0 && record.first_difference.row >= 0) {
    return {record.first_difference.row, record.first_difference.col};
  }
  const verify::Extremum& worst =
      record.own.max_use.row >= 0 ? record.own.max_use : record.own.max_abs;
  return {std::max(worst.row, 0), std::max(worst.col, 0)};
}

}  // namespace voltcheck::explain
