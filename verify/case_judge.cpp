#include "verify/case_judge.h"

#include <cstdio>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "reference/budget.h"
#include "reference/declared_order.h"
#include "reference/logits.h"
#include "reference/order_model.h"
#include "reference/rounding.h"
#include "verify/exactness.h"
#include "verify/observed_halves.h"
#include "verify/stage_judge.h"
#include "verify/stopwatch.h"

namespace voltcheck::verify {
namespace {

using kernels::ObservedStage;
using reference::AccumulationOrder;
using reference::Bounded;
using reference::Gemm;
using reference::HalfMatrix;
using reference::Matrix;

// These kinds are made so that each sum of W13 is exact; its outputs then have one right value
// each.

std::string DepartureText(const Departure& d) {
  if (d.k < 0) {
    return "";
  }
  char text[160];
  std::snprintf(text, sizeof(text),
                "; leaves the model in split %d at k = %d..%d: got %.8g, model %.8g", d.split, d.k,
                d.k + 3, d.got, d.want);
  return text;
}

constexpr int kWideStep = 16;  ///< of wmma

class Judge {
 public:
  Judge(const Problem& problem, const Expected& expected, const ObservedStage& observed,
        const DeviceUnderTest& device, const JudgeOptions& options, CaseRecord& record)
      : problem_(problem),
        expected_(expected),
        observed_(observed),
        device_(device),
        options_(options),
        record_(record) {
    const reference::Permutation& p = expected.permutation;
    for (int r = 0; r < p.rows; ++r) {
      const auto row = static_cast<std::size_t>(r);
      row_token_.push_back(p.source[row] / problem.c.shape.top_k);
      row_expert_.push_back(p.expert[row]);
    }
    idle_tokens_.assign(static_cast<std::size_t>(problem.c.shape.tokens), 1);
    for (const int token : row_token_) {
      idle_tokens_[static_cast<std::size_t>(token)] = 0;
    }
  }

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
    const std::optional<HalfMatrix> unseen_w13 =
        w13 ? std::nullopt : Unseen(Stage::kW13, [&] { return Predict(Gemm::kW13, input); });
    if (!observed_.silu.empty()) {
      silu = ObservedMatrix(observed_.silu, slots, c.shape.intermediate, rows);
      if (w13) {
        JudgeSilu(*w13, *silu);
      } else if (c.path == Path::kM1 && OrderIsDeclared() && !PartAt(Stage::kSilu).foreign) {
        JudgeFusedSilu(input, *silu);
      } else if (unseen_w13 && PredictsBits(Stage::kSilu)) {
        const HalfMatrix model = reference::PredictSilu(*unseen_w13);
        const auto open = OpenSilu(*unseen_w13, *silu, reference::SiluDivision::kIeee);
        JudgeFromInputs(Stage::kSilu, *silu, &model, open);
      } else {  // not handed over
        JudgeFromInputs(Stage::kSilu, *silu);
      }
    }
    const HalfMatrix* known_w13 = w13 ? &*w13 : unseen_w13 ? &*unseen_w13 : nullptr;
    // Behind an exp that is not known bits are not, either.
    const std::optional<HalfMatrix> unseen_silu =
        silu || known_w13 == nullptr || !device_.knows_exp
            ? std::nullopt
            : Unseen(Stage::kSilu, [&] { return reference::PredictSilu(*known_w13); });
    if (!observed_.w2.empty()) {
      w2 = ObservedMatrix(observed_.w2, slots, c.w2_n(), rows);
      if (silu) {
        JudgeGemm(Stage::kW2, Gemm::kW2, c.w2, *silu, *w2);
      } else if (unseen_silu && PredictsBits(Stage::kW2)) {
        const HalfMatrix model = Predict(Gemm::kW2, *unseen_silu);
        JudgeFromInputs(Stage::kW2, *w2, &model);
      } else {
        JudgeFromInputs(Stage::kW2, *w2);
      }
    }
    const HalfMatrix* known_silu = silu ? &*silu : unseen_silu ? &*unseen_silu : nullptr;
    const std::optional<HalfMatrix> unseen_w2 =
        w2 || known_silu == nullptr
            ? std::nullopt
            : Unseen(Stage::kW2, [&] { return Predict(Gemm::kW2, *known_silu); });
    if (!observed_.output.empty()) {
      const HalfMatrix output =
          ObservedMatrix(observed_.output, c.shape.tokens, c.shape.hidden, c.shape.tokens);
      if (w2) {
        JudgeReduce(*w2, output);
      } else if (unseen_w2 && PredictsBits(Stage::kOutput)) {
        const HalfMatrix model =
            reference::PredictReduce(problem_, expected_.permutation, *unseen_w2);
        JudgeFromInputs(Stage::kOutput, output, &model);
      } else {
        JudgeFromInputs(Stage::kOutput, output);
      }
      if (problem_.head != nullptr) {
        JudgeLogits(output);
      }
    }
  }

 private:
  bool OrderIsDeclared() const { return options_.order == AccumulationOrder::kDeclared; }
  const DeviceUnderTest::Part& PartAt(Stage stage) const {
    return device_.parts[static_cast<std::size_t>(stage)];
  }
  /// Whether a model says which bits are right. wmma, which takes 16 k at once, adds as m8n8k4 does
  /// up to SM75 alone.
  bool PredictsBits(Stage stage) const {
    const DeviceUnderTest::Part& part = PartAt(stage);
    if (!OrderIsDeclared() || !part.foreign) {
      return OrderIsDeclared();
    }
    const bool is_gemm = stage == Stage::kW13 || stage == Stage::kW2;
    const bool is_wide =
        is_gemm && part.order.kind == DeclaredOrder::Kind::kMma && part.order.width >= kWideStep;
    return part.order.kind != DeclaredOrder::Kind::kUndeclared &&
           device_.numerics != Numerics::kSm90 &&
           (!is_wide || device_.numerics == Numerics::kV100 || device_.numerics == Numerics::kSm75);
  }

  /// A GEMM of somebody else's, in the order that is declared for it.
  HalfMatrix Predict(Gemm gemm, const HalfMatrix& input) {
    const Stopwatch watch;
    const Stage stage = gemm == Gemm::kW13 ? Stage::kW13 : Stage::kW2;
    HalfMatrix model = reference::PredictGemm(problem_, expected_.permutation, gemm, input,
                                              PartAt(stage).order, device_.numerics);
    record_.seconds.model += watch.Seconds();
    return model;
  }
  /// What a part inside somebody else's step gave, which nobody stored, where its bits follow from
  /// what is declared.
  std::optional<HalfMatrix> Unseen(Stage stage, const std::function<HalfMatrix()>& predict) const {
    return PartAt(stage).foreign && PredictsBits(stage) ? std::optional(predict()) : std::nullopt;
  }

  void JudgeGemm(Stage stage, Gemm gemm, const Tactic& tactic, const HalfMatrix& input,
                 const HalfMatrix& got) {
    const reference::Permutation& permutation = expected_.permutation;
    // W13's own input is the case's, so its end-to-end bound is its own as well.
    Bounded w2_own;
    if (stage != Stage::kW13) {
      w2_own = reference::BoundGemm(
          problem_, permutation, gemm, Doubles(input), nullptr, tactic, device_.numerics,
          PartAt(stage).foreign ? AccumulationOrder::kUndeclared : options_.order);
    }
    const Bounded& own = stage == Stage::kW13 ? expected_.bounds.w13 : w2_own;
    const std::vector<std::uint8_t> exact = ExactOutputs(problem_, permutation, gemm, input);
    StageEvidence evidence = Evidence(stage, permutation.rows, got, own);
    HalfMatrix model;
    Bounded posterior;
    if (PredictsBits(stage) && PartAt(stage).foreign) {
      model = Predict(gemm, input);
      evidence.model = &model;
    } else if (PredictsBits(stage)) {
      const Stopwatch watch;
      model = reference::PredictGemm(problem_, permutation, gemm, input, tactic, device_.numerics);
      record_.seconds.model += watch.Seconds();
      posterior = reference::BoundGemmPosterior(problem_, permutation, gemm, input, tactic,
                                                device_.numerics);
      evidence.model = &model;
      evidence.posterior = &posterior;
    }
    evidence.exact = exact;
    evidence.must_be_exact = stage == Stage::kW13 && HasExactW13(problem_.c.data);
    Record(evidence);
    StageRecord& record = record_.stages[static_cast<std::size_t>(stage)];
    if (record.bits_differing > 0 && options_.locate && device_.run_gemm) {
      const Extremum& first = record.first_difference;
      record.departure = FindDeparture(problem_, permutation, gemm, input, tactic, device_.numerics,
                                       first.row, first.col, device_.run_gemm);
      record.reason += DepartureText(record.departure);
    }
  }

  void JudgeSilu(const HalfMatrix& w13, const HalfMatrix& got) {
    const Bounded own = reference::BoundSilu(Doubles(w13), nullptr);
    HalfMatrix model;
    StageEvidence evidence = Evidence(Stage::kSilu, expected_.permutation.rows, got, own);
    // The read-back of W2 hands it one channel in each row.
    evidence.sparse_by_design =
        problem_.c.data == Data::kOneHot && problem_.c.stage == StageSelection::kW2;
    if (PredictsBits(Stage::kSilu)) {
      const Stopwatch watch;
      model = reference::PredictSilu(w13);
      record_.seconds.model += watch.Seconds();
      evidence.model = &model;
    }
    if (!device_.knows_exp) {
      evidence.leaves_open = OpenSilu(w13, got, reference::SiluDivision::kIeee);
    }
    Record(evidence);
  }

  // Which outputs the documented bounds of expf and division leave open. The arguments must stay.
  static std::function<bool(std::size_t)> OpenSilu(const HalfMatrix& w13, const HalfMatrix& got,
                                                   reference::SiluDivision division) {
    return [&w13, &got, division](std::size_t i) {
      const auto width = static_cast<std::size_t>(got.cols);
      const auto row = w13.row(static_cast<int>(i / width));
      return reference::SiluAllows(row[i % width], row[width + i % width], got.bits[i], division);
    };
  }

  // SiLU fused into W13's epilogue: what it took in was never stored, so W13's budget goes into its
  // own, and its bits follow from the model's W13.
  void JudgeFusedSilu(const HalfMatrix& input, const HalfMatrix& got) {
    StageEvidence evidence =
        Evidence(Stage::kSilu, expected_.permutation.rows, got, expected_.bounds.silu);
    const Stopwatch watch;
    const HalfMatrix w13 = reference::PredictGemm(problem_, expected_.permutation, Gemm::kW13,
                                                  input, problem_.c.w13, device_.numerics);
    const HalfMatrix model = reference::PredictFusedSilu(w13);
    record_.seconds.model += watch.Seconds();
    evidence.model = &model;
    if (!device_.knows_exp) {
      evidence.leaves_open = OpenSilu(w13, got, reference::SiluDivision::kApproximate);
    }
    Record(evidence);
  }

  // A stage whose own input nobody has: what the case's inputs allow can be said of it, and its
  // bits where they follow from declared orders. `open`: outputs that an unknown exp leaves open.
  void JudgeFromInputs(Stage stage, const HalfMatrix& got, const HalfMatrix* model = nullptr,
                       const std::function<bool(std::size_t)>& open = nullptr) {
    const reference::BoundedStage& bounds = expected_.bounds;
    const Bounded& bound = stage == Stage::kSilu ? bounds.silu
                           : stage == Stage::kW2 ? bounds.w2
                                                 : bounds.output;
    const int rows = stage == Stage::kOutput ? problem_.c.shape.tokens : expected_.permutation.rows;
    StageEvidence evidence = Evidence(stage, rows, got, bound);
    evidence.model = model;
    if (!device_.knows_exp) {
      evidence.leaves_open = open;
    }
    Record(evidence);
  }

  void JudgeReduce(const HalfMatrix& w2, const HalfMatrix& got) {
    const Bounded own =
        reference::BoundReduce(problem_, expected_.permutation, Doubles(w2), nullptr);
    HalfMatrix model;
    StageEvidence evidence = Evidence(Stage::kOutput, problem_.c.shape.tokens, got, own);
    if (PredictsBits(Stage::kOutput)) {
      const Stopwatch watch;
      model = reference::PredictReduce(problem_, expected_.permutation, w2);
      record_.seconds.model += watch.Seconds();
      evidence.model = &model;
    }
    Record(evidence);
  }

  // The head runs on the host, in fp32, on what the device gave; its figures in fp64 on request.
  void JudgeLogits(const HalfMatrix& output) {
    const Matrix<double> exact = Doubles(output);
    const Bounded own =
        reference::BoundLogits(problem_, {exact, Matrix<double>::Zero(exact.rows(), exact.cols())});
    const Matrix<float> got =
        reference::Logits<float>(problem_, reference::FromHalfMatrix<float>(output));
    StageEvidence evidence;
    evidence.stage = Stage::kLogits;
    evidence.rows = static_cast<int>(got.rows());
    evidence.cols = static_cast<int>(got.cols());
    evidence.got_logits = {got.data(), static_cast<std::size_t>(got.size())};
    evidence.own = &own;
    evidence.end_to_end = &expected_.logits;
    evidence.fp32 = &expected_.fp32_logits;
    evidence.may_overflow = MayOverflow(problem_.c);
    Record(evidence);
    const Matrix<float>& base = expected_.fp32_logits;
    record_.logits =
        options_.head_fp64
            ? Figures(reference::Logits<double>(problem_, expected_.fp32.output.cast<double>()),
                      reference::Logits<double>(problem_, exact))
            : Figures(base, got);
  }

  template <typename Scalar>
  static LogitFigures Figures(const Matrix<Scalar>& base, const Matrix<Scalar>& other) {
    LogitTotals totals;
    const auto width = static_cast<std::size_t>(base.cols());
    for (Eigen::Index t = 0; t < base.rows(); ++t) {
      totals.Add(CompareLogitRow(std::span<const Scalar>(base.row(t).data(), width),
                                 std::span<const Scalar>(other.row(t).data(), width)));
    }
    return totals.Finish();
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
    evidence.nothing_to_compute = expected_.permutation.rows == 0;
    if (stage != Stage::kOutput) {
      evidence.row_token = row_token_;
      evidence.row_expert = row_expert_;
    } else {
      evidence.idle_rows = idle_tokens_;
    }
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
      case Stage::kLogits:
        break;  // made by JudgeLogits: no halves
    }
    return evidence;
  }

  void Record(const StageEvidence& evidence) {
    record_.stages[static_cast<std::size_t>(evidence.stage)] =
        JudgeStage(evidence, &record_.failures, options_);
  }

  const Problem& problem_;
  const Expected& expected_;
  const ObservedStage& observed_;
  const DeviceUnderTest& device_;
  const JudgeOptions& options_;
  CaseRecord& record_;
  std::vector<int> row_token_;
  std::vector<int> row_expert_;
  std::vector<std::uint8_t> idle_tokens_;  ///< [T]: 1 where no route is computed
};

}  // namespace

void JudgeCase(const Problem& problem, const Expected& expected, const ObservedStage& observed,
               const DeviceUnderTest& device, const JudgeOptions& options, CaseRecord& record) {
  Judge(problem, expected, observed, device, options, record).All();
}

void ConcludeFromStages(CaseRecord& record) {
  bool any = false;
  for (const Verdict grave : {Verdict::kFailed, Verdict::kMistrusted}) {
    for (const StageRecord& stage : record.stages) {
      any = any || stage.present;
      if (stage.verdict == grave) {
        record.verdict = grave;
        record.reason = stage.reason;
        return;
      }
    }
  }
  record.verdict = any ? Verdict::kPassed : Verdict::kUntested;
  record.reason = any ? "" : "no stage ran";
}

}  // namespace voltcheck::verify
