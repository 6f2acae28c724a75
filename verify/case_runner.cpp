#include "verify/case_runner.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "kernels/kernel_set.h"
#include "kernels/plan.h"
#include "kernels/stage_runner.h"
#include "reference/budget.h"
#include "reference/order_model.h"
#include "reference/routing.h"
#include "reference/stage.h"
#include "verify/exactness.h"
#include "verify/observed_halves.h"
#include "verify/promises.h"
#include "verify/stage_judge.h"

namespace voltcheck::verify {
namespace {

using kernels::ObservedStage;
using reference::Bounded;
using reference::Gemm;
using reference::HalfMatrix;
using reference::Matrix;
using reference::Permutation;

class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Values of these kinds may leave the fp16 range on purpose.
bool MayOverflow(const Case& c) { return c.data == Data::kExtreme; }

// These kinds are made so that each sum of W13 is exact; its outputs then have one right value
// each.
bool PromisesExactW13(const Case& c) { return c.data == Data::kInteger || c.data == Data::kOneHot; }

bool OrderModelCovers(Numerics numerics) { return numerics != Numerics::kSm90; }

// The reference side of a case, everything that does not need the device.
struct Expected {
  Permutation permutation;
  reference::StageOutputs<float> fp32;
  reference::BoundedStage bounds;
};

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

Expected Expect(const Problem& problem) {
  CheckIds(problem);
  Expected expected;
  expected.permutation = reference::Permute(problem);
  expected.fp32 = reference::RunStage<float>(problem, expected.permutation, {});
  if (!MayOverflow(problem.c)) {
    CheckFinite(expected.fp32.w13, Stage::kW13);
    CheckFinite(expected.fp32.silu, Stage::kSilu);
    CheckFinite(expected.fp32.w2, Stage::kW2);
    CheckFinite(expected.fp32.output, Stage::kOutput);
  }
  expected.bounds = reference::BoundStage(problem, expected.permutation);
  return expected;
}

// Judges the stages of one case in order, each on what the device itself handed to it.
class Judge {
 public:
  Judge(const Problem& problem, const Expected& expected, const ObservedStage& observed,
        Numerics numerics, bool silu_is_modelled, CaseRecord& record)
      : problem_(problem),
        expected_(expected),
        observed_(observed),
        numerics_(numerics),
        silu_is_modelled_(silu_is_modelled),
        record_(record) {}

  void All() {
    const Case& c = problem_.c;
    const int slots = c.shape.slots();
    const int rows = expected_.permutation.rows;
    const HalfMatrix input = PermutedBits(problem_, expected_.permutation);
    std::optional<HalfMatrix> w13;
    std::optional<HalfMatrix> silu;
    std::optional<HalfMatrix> w2;
    if (!observed_.w13.empty()) {
      w13 = ObservedMatrix(observed_.w13, slots, c.w13_n(), rows);
      if (c.columns == Columns::kInterleaved) {
        Deinterleave(*w13);
      }
      JudgeGemm(Stage::kW13, Gemm::kW13, c.w13, input, *w13);
    }
    if (!observed_.silu.empty()) {
      silu = ObservedMatrix(observed_.silu, slots, c.shape.intermediate, rows);
      if (w13) {
        JudgeSilu(*w13, *silu);
      } else {
        JudgeFusedSilu(input, *silu);
      }
    }
    if (!observed_.w2.empty()) {
      w2 = ObservedMatrix(observed_.w2, slots, c.w2_n(), rows);
      if (silu) {
        JudgeGemm(Stage::kW2, Gemm::kW2, c.w2, *silu, *w2);
      }
    }
    if (!observed_.output.empty() && w2) {
      JudgeReduce(*w2,
                  ObservedMatrix(observed_.output, c.shape.tokens, c.shape.hidden, c.shape.tokens));
    }
  }

 private:
  void JudgeGemm(Stage stage, Gemm gemm, const Tactic& tactic, const HalfMatrix& input,
                 const HalfMatrix& got) {
    const Bounded own = reference::BoundGemm(problem_, expected_.permutation, gemm, Doubles(input),
                                             nullptr, tactic, numerics_);
    const std::vector<std::uint8_t> exact =
        ExactOutputs(problem_, expected_.permutation, gemm, input);
    StageEvidence evidence = Evidence(stage, expected_.permutation.rows, got, own);
    HalfMatrix model;
    if (OrderModelCovers(numerics_)) {
      model =
          reference::PredictGemm(problem_, expected_.permutation, gemm, input, tactic, numerics_);
      evidence.model = &model;
    }
    evidence.exact = exact;
    evidence.must_be_exact = stage == Stage::kW13 && PromisesExactW13(problem_.c);
    Record(evidence);
  }

  void JudgeSilu(const HalfMatrix& w13, const HalfMatrix& got) {
    const Bounded own = reference::BoundSilu(Doubles(w13), nullptr);
    const HalfMatrix model = reference::PredictSilu(w13);
    StageEvidence evidence = Evidence(Stage::kSilu, expected_.permutation.rows, got, own);
    evidence.model = &model;
    evidence.model_decides = silu_is_modelled_;
    Record(evidence);
  }

  // SiLU fused into W13's epilogue: what it took in was never stored, so W13's budget goes into its
  // own.
  void JudgeFusedSilu(const HalfMatrix& input, const HalfMatrix& got) {
    const Bounded w13 = reference::BoundGemm(problem_, expected_.permutation, Gemm::kW13,
                                             Doubles(input), nullptr, problem_.c.w13, numerics_);
    const Bounded own = reference::BoundSilu(w13.value, &w13.budget);
    Record(Evidence(Stage::kSilu, expected_.permutation.rows, got, own));
  }

  void JudgeReduce(const HalfMatrix& w2, const HalfMatrix& got) {
    const Bounded own =
        reference::BoundReduce(problem_, expected_.permutation, Doubles(w2), nullptr);
    const HalfMatrix model = reference::PredictReduce(problem_, expected_.permutation, w2);
    StageEvidence evidence = Evidence(Stage::kOutput, problem_.c.shape.tokens, got, own);
    evidence.model = &model;
    Record(evidence);
  }

  StageEvidence Evidence(Stage stage, int rows, const HalfMatrix& got, const Bounded& own) const {
    StageEvidence evidence;
    evidence.stage = stage;
    evidence.rows = rows;
    evidence.cols = got.cols;
    evidence.got = {got.bits.data(),
                    static_cast<std::size_t>(rows) * static_cast<std::size_t>(got.cols)};
    evidence.own = &own;
    evidence.may_overflow = MayOverflow(problem_.c);
    const reference::BoundedStage& bounds = expected_.bounds;
    const reference::StageOutputs<float>& fp32 = expected_.fp32;
    switch (stage) {
      case Stage::kW13:
        evidence.end_to_end = &bounds.w13;
        evidence.fp32 = &fp32.w13;
        break;
      case Stage::kSilu:
        evidence.end_to_end = &bounds.silu;
        evidence.fp32 = &fp32.silu;
        break;
      case Stage::kW2:
        evidence.end_to_end = &bounds.w2;
        evidence.fp32 = &fp32.w2;
        break;
      case Stage::kOutput:
        evidence.end_to_end = &bounds.output;
        evidence.fp32 = &fp32.output;
        break;
    }
    return evidence;
  }

  void Record(const StageEvidence& evidence) {
    record_.stages[static_cast<std::size_t>(evidence.stage)] =
        JudgeStage(evidence, &record_.failures);
  }

  const Problem& problem_;
  const Expected& expected_;
  const ObservedStage& observed_;
  Numerics numerics_;
  bool silu_is_modelled_;
  CaseRecord& record_;
};

std::string FindingReason(const kernels::Finding& finding) {
  std::string reason = finding.checker + ": " + finding.message;
  if (!finding.kernel.empty()) {
    reason += " (" + finding.kernel;
    reason += finding.source.empty() ? " " + finding.file + ":" + std::to_string(finding.line)
                                     : " " + finding.source;
    reason += ")";
  }
  return reason;
}

// The case's verdict is its gravest one. A crash or a checker's finding comes before wrong values,
// because it names the cause of which wrong values are the symptom.
void Conclude(const ObservedStage& observed, const std::vector<kernels::Finding>& promises,
              CaseRecord& record) {
  const auto conclude = [&record](Verdict verdict, const std::string& reason) {
    record.verdict = verdict;
    record.reason = reason;
  };
  if (observed.crashed) {
    return conclude(Verdict::kCrashed, observed.findings.empty()
                                           ? "the device faulted"
                                           : FindingReason(observed.findings.front()));
  }
  if (!observed.findings.empty()) {
    return conclude(Verdict::kChecker, FindingReason(observed.findings.front()));
  }
  if (!promises.empty()) {
    return conclude(PromiseVerdict(promises), promises.front().message);
  }
  bool any = false;
  for (const Verdict grave : {Verdict::kFailed, Verdict::kMistrusted}) {
    for (const StageRecord& stage : record.stages) {
      any = any || stage.present;
      if (stage.verdict == grave) {
        return conclude(grave, stage.reason);
      }
    }
  }
  if (!any) {
    return conclude(Verdict::kUntested, "no stage ran");
  }
  conclude(Verdict::kPassed, "");
}

}  // namespace

std::string ReproductionLine(const std::string& descriptor, const DeviceOptions& options) {
  std::string line = "voltcheck replay --case '" + descriptor + "' --device " + options.kind;
  if (options.kind == "simulator") {
    line += " --schedule " + std::to_string(options.schedule);
  }
  return line;
}

CaseRecord RunCase(const Problem& problem, const DeviceOptions& options) {
  CaseRecord record;
  record.c = problem.c;
  record.descriptor = ToDescriptor(problem.c);
  record.reproduction = ReproductionLine(record.descriptor, options);

  const Stopwatch reference_watch;
  const Expected expected = Expect(problem);
  record.active_experts = static_cast<int>(problem.experts.size());
  record.reference_seconds = reference_watch.Seconds();

  const std::unique_ptr<kernels::Device> device = MakeDevice(options, problem.c.numerics);
  record.device = device->Describe();
  const Stopwatch device_watch;
  kernels::KernelSet set(*device, options.overrides);
  const kernels::Plan plan = kernels::MakePlan(problem);
  const ObservedStage observed = kernels::RunPlan(*device, set, plan, problem.c.shape, {});
  record.device_seconds = device_watch.Seconds();
  record.counters = observed.counters;
  record.findings = observed.findings;
  const std::vector<kernels::Finding> promises =
      CheckPromises(problem, expected.permutation, observed);
  record.findings.insert(record.findings.end(), promises.begin(), promises.end());

  // A GPU has the arithmetic it has, whatever the case asks for.
  const Numerics numerics = ParseNumerics(record.device.numerics);
  // On a real SM70 the exp table is unknown, so where the documented bound leaves two halves open,
  // both are right.
  const bool silu_is_modelled = record.device.kind == "simulator" || numerics != Numerics::kV100;
  Judge(problem, expected, observed, numerics, silu_is_modelled, record).All();
  Conclude(observed, promises, record);
  return record;
}

}  // namespace voltcheck::verify
