#include "verify/expected.h"

#include <cmath>
#include <string>

#include "fixtures/case/error.h"
#include "reference/logits.h"
#include "verify/record.h"
#include "verify/stopwatch.h"

namespace voltcheck::verify {
namespace {

using reference::Matrix;

void CheckIds(const Problem& problem) {
  if (problem.c.routing.kind == RoutingKind::kInvalid) {
    return;
  }
  for (std::size_t i = 0; i < problem.topk_ids.size(); ++i) {
    const std::int32_t id = problem.topk_ids[i];
    if (id < 0 || id >= problem.c.shape.experts) {
      throw BadInput("topk_ids[" + std::to_string(i) + "]",
                     "expert id " + std::to_string(id) + " is outside [0, " +
                         std::to_string(problem.c.shape.experts) + ")",
                     "correct the ids, or declare them with routing=invalid:ID");
    }
  }
}

void CheckFinite(const Matrix<float>& values, Stage stage) {
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values.data()[i])) {
      throw BadInput("the FP32 reference",
                     std::string(ToString(stage)) + " is not finite at (" +
                         std::to_string(i / values.cols()) + ", " +
                         std::to_string(i % values.cols()) + ")",
                     "correct the tensors, or declare the overflow with data=extreme");
    }
  }
}

}  // namespace

bool MayOverflow(const Case& c) { return c.data == Data::kExtreme; }

Expected Expect(const Problem& problem, Numerics numerics, reference::AccumulationOrder order) {
  CheckIds(problem);
  Expected expected;
  const Stopwatch watch;
  expected.permutation = reference::Permute(problem);
  expected.fp32 = reference::RunStage<float>(problem, expected.permutation, {});
  expected.fp32_seconds = watch.Seconds();
  const bool has_head = problem.head != nullptr;
  if (has_head) {
    expected.fp32_logits = reference::Logits<float>(problem, expected.fp32.output);
  }
  if (!MayOverflow(problem.c)) {
    CheckFinite(expected.fp32.w13, Stage::kW13);
    CheckFinite(expected.fp32.silu, Stage::kSilu);
    CheckFinite(expected.fp32.w2, Stage::kW2);
    CheckFinite(expected.fp32.output, Stage::kOutput);
    CheckFinite(expected.fp32_logits, Stage::kLogits);
  }
  if (numerics == problem.c.numerics) {
    expected.bounds = reference::BoundStage(problem, expected.permutation, order);
  } else {
    Problem on_device = problem;
    on_device.c.numerics = numerics;
    expected.bounds = reference::BoundStage(on_device, expected.permutation, order);
  }
  if (has_head) {
    expected.logits = reference::BoundLogits(problem, expected.bounds.output);
  }
  return expected;
}

}  // namespace voltcheck::verify
