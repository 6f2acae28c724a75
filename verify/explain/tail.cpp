// How one output of SiLU, of the reduction, or one logit came about.
#include <algorithm>
#include <bit>
#include <cmath>

#include "fixtures/case/error.h"
#include "reference/arith/half.h"
#include "reference/budget.h"
#include "reference/exponential.h"
#include "reference/logits.h"
#include "reference/order_model.h"
#include "reference/rounding.h"
#include "verify/explain/parts.h"
#include "verify/observed_halves.h"

namespace voltcheck::explain {
namespace {

using reference::HalfMatrix;
using reference::Matrix;

constexpr int kLogitStep = 64;  // channels of the head between two lines

double Value(std::uint16_t half) { return static_cast<double>(arith::HalfToFloat(half)); }
double Half(double x) { return reference::RoundToHalf(x); }

void Add(Explanation& e, const std::string& label, double model, double fp32, double fp64) {
  Step step;
  step.label = label;
  step.sum = {std::nullopt, model, fp32, fp64};
  e.steps.push_back(step);
}

bool Same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// The last step is the result; the device tells only that one.
void Finish(Explanation& e, std::optional<double> device) {
  Step& last = e.steps.back();
  last.sum.device = device;
  last.model_half = last.sum.model;
  last.differs = device && last.sum.model && !Same(*device, *last.sum.model);
  e.departure = last.differs ? static_cast<int>(e.steps.size()) - 1 : -1;
  e.result = last.sum;
}

void AddRoutesOfToken(const Ran& ran, int token, Explanation& e) {
  const int top_k = ran.problem.c.shape.top_k;
  for (int j = 0; j < top_k; ++j) {
    const int row = ran.permutation.inverse[static_cast<std::size_t>(token * top_k + j)];
    if (row < ran.permutation.rows) {
      e.routes.push_back(RouteOfRow(ran, row));
    } else {
      e.notes.push_back("route " + std::to_string(j) +
                        " is not computed on this rank and adds nothing");
    }
  }
}

// The stage's outputs on the host from the case's inputs, for logits.
template <typename Scalar>
Matrix<Scalar> HostOutput(const Ran& ran, reference::Rounding rounding) {
  return reference::RunStage<Scalar>(ran.problem, ran.permutation,
                                     {reference::WeightKind::kContract, rounding})
      .output;
}

// One token's way through residual, norm and head.
template <typename Scalar>
struct HeadRow {
  std::vector<Scalar> x;
  Scalar rms = 0;
  HeadRow(const LogitsHead& head, int token, const Matrix<Scalar>& output) {
    const auto width = static_cast<std::size_t>(output.cols());
    Scalar squares = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const auto residual = static_cast<Scalar>(
          arith::HalfToFloat(head.residual[static_cast<std::size_t>(token) * width + i]));
      x.push_back(residual + output(token, static_cast<Eigen::Index>(i)));
      squares += x.back() * x.back();
    }
    rms = std::sqrt(squares / static_cast<Scalar>(width) + static_cast<Scalar>(head.epsilon));
  }
  // sum of the first `count` channels' products.
  Scalar Partial(const LogitsHead& head, int column, std::size_t count) const {
    Scalar sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto norm = static_cast<Scalar>(arith::HalfToFloat(head.norm[i]));
      const auto weight = static_cast<Scalar>(
          arith::HalfToFloat(head.head[static_cast<std::size_t>(column) * x.size() + i]));
      sum += x[i] / rms * norm * weight;
    }
    return sum;
  }
};

}  // namespace

void ExplainSilu(const Ran& ran, Explanation& e) {
  const int half = ran.problem.c.shape.intermediate;
  if (ran.silu.rows == 0) {
    throw BadInput("--stage silu", "is not reached by the case", "leave stage= out of the case");
  }
  Ran::CheckElement(e.row, e.col, ran.permutation.rows, half);
  e.routes = {RouteOfRow(ran, e.row)};
  e.what = "intermediate " + std::to_string(e.col);
  const bool fused = ran.w13.rows == 0;
  std::uint16_t gate_bits = 0;
  std::uint16_t up_bits = 0;
  if (fused) {
    e.notes.push_back(
        "SiLU is fused into W13's epilogue, which stores no gate: gate and up are the "
        "order-faithful model's");
    const HalfMatrix input = verify::PermutedBits(ran.problem, ran.permutation);
    const auto predict = [&](int col) {
      return reference::PredictElement(ran.problem, ran.permutation, reference::Gemm::kW13, input,
                                       ran.problem.c.w13, ran.numerics, e.row, col, input.cols);
    };
    gate_bits = predict(e.col);
    up_bits = predict(half + e.col);
  } else {
    const auto row = ran.w13.row(e.row);
    gate_bits = row[static_cast<std::size_t>(e.col)];
    up_bits = row[static_cast<std::size_t>(half + e.col)];
  }
  const double gate = Value(gate_bits);
  const double up = Value(up_bits);
  const auto gate32 = static_cast<float>(gate);
  const float model_exp = reference::ExpfOfNvcc(-gate32);
  const auto exp32 = static_cast<float>(reference::Exp(-gate));
  const double exp64 = reference::Exp(-gate);
  Add(e, "gate", gate, gate, gate);
  Add(e, "up", up, up, up);
  Add(e, "exp(-gate)", static_cast<double>(model_exp), static_cast<double>(exp32), exp64);
  Add(e, "1 + exp(-gate)", static_cast<double>(1.0F + model_exp), static_cast<double>(1.0F + exp32),
      1 + exp64);
  const float model_quotient = gate32 / (1.0F + model_exp);
  const float quotient32 = gate32 / (1.0F + exp32);
  const double quotient64 = gate / (1 + exp64);
  Add(e, fused ? "gate / that (IEEE)" : "gate / that", static_cast<double>(model_quotient),
      static_cast<double>(quotient32), quotient64);
  Add(e, "rounded to half", Half(static_cast<double>(model_quotient)),
      Half(static_cast<double>(quotient32)), quotient64);
  HalfMatrix pair{1, 2, {gate_bits, up_bits}};
  const HalfMatrix model = fused ? reference::PredictFusedSilu(pair) : reference::PredictSilu(pair);
  Add(e, "times up, to half", Value(model.bits[0]),
      Half(Half(static_cast<double>(quotient32)) * up), quotient64 * up);
  Matrix<double> values(1, 2);
  values << gate, up;
  e.budget = reference::BoundSilu(values, nullptr).budget(0, 0);
  Finish(e, Value(ran.silu.row(e.row)[static_cast<std::size_t>(e.col)]));
}

void ExplainOutput(const Ran& ran, Explanation& e) {
  const Shape& shape = ran.problem.c.shape;
  if (ran.output.rows == 0 || ran.w2.rows == 0) {
    throw BadInput("--stage output", "is not reached by the case", "leave stage= out of the case");
  }
  Ran::CheckElement(e.row, e.col, shape.tokens, shape.hidden);
  AddRoutesOfToken(ran, e.row, e);
  e.what = "channel " + std::to_string(e.col) + " of token " + std::to_string(e.row);
  float sum = 0;
  double exact = 0;
  for (const RowRoute& r : e.routes) {
    const double y = Value(ran.w2.row(r.row)[static_cast<std::size_t>(e.col)]);
    sum = std::fma(r.router_weight, static_cast<float>(y), sum);
    exact += static_cast<double>(r.router_weight) * y;
    Factor f;
    f.k = r.route;
    f.activation = static_cast<double>(r.router_weight);
    f.weight = y;
    e.factors.push_back(f);
    Add(e, "route " + std::to_string(r.route), static_cast<double>(sum), static_cast<double>(sum),
        exact);
  }
  const double rounded = Half(static_cast<double>(sum));
  Add(e, "rounded to half", rounded, rounded, exact);
  e.budget = reference::BoundReduce(ran.problem, ran.permutation, verify::Doubles(ran.w2), nullptr)
                 .budget(e.row, e.col);
  Finish(e, Value(ran.output.row(e.row)[static_cast<std::size_t>(e.col)]));
}

void ExplainLogit(const Ran& ran, Explanation& e) {
  const Problem& problem = ran.problem;
  if (problem.head == nullptr || ran.output.rows == 0) {
    throw BadInput("--stage logits", "needs a case with a head that runs all stages",
                   "use a fixture with a head, or head=V");
  }
  const LogitsHead& head = *problem.head;
  Ran::CheckElement(e.row, e.col, problem.c.shape.tokens, head.vocabulary());
  AddRoutesOfToken(ran, e.row, e);
  e.what = "logit of token id " + std::to_string(head.token_ids[static_cast<std::size_t>(e.col)]) +
           " after token " + std::to_string(e.row);
  e.notes.push_back(
      "x is residual plus output; the head runs on the host; device and model are its fp32 sums on "
      "their outputs "
      "of the stage, the references run the whole stage from the case's inputs");
  const Matrix<float> device_output = reference::FromHalfMatrix<float>(ran.output);
  const Matrix<float> model_output =
      reference::FromHalfMatrix<float>(reference::PredictReduce(problem, ran.permutation, ran.w2));
  const HeadRow<float> device(head, e.row, device_output);
  const HeadRow<float> model(head, e.row, model_output);
  const HeadRow<float> fp32(head, e.row, HostOutput<float>(ran, reference::Rounding::kContract));
  const HeadRow<double> fp64(head, e.row, HostOutput<double>(ran, reference::Rounding::kNone));
  for (std::size_t i = 0; i < fp64.x.size(); ++i) {
    Factor f;
    f.k = static_cast<int>(i);
    f.activation = static_cast<double>(device.x[i] / device.rms) * Value(head.norm[i]);
    f.weight = Value(head.head[static_cast<std::size_t>(e.col) * fp64.x.size() + i]);
    e.factors.push_back(f);
  }
  const auto add = [&](const std::string& label, double d, double m, double s, double x, int k) {
    Step step;
    step.label = label;
    step.k = k;
    step.sum = {d, m, s, x};
    step.differs = !Same(d, m);
    if (step.differs && e.departure < 0) {
      e.departure = static_cast<int>(e.steps.size());
    }
    e.steps.push_back(step);
  };
  add("rms of x", static_cast<double>(device.rms), static_cast<double>(model.rms),
      static_cast<double>(fp32.rms), fp64.rms, -1);
  const std::size_t width = fp64.x.size();
  for (std::size_t begin = 0; begin < width; begin += kLogitStep) {
    const std::size_t end = std::min(begin + kLogitStep, width);
    add("channels " + std::to_string(begin) + ".." + std::to_string(end - 1),
        static_cast<double>(device.Partial(head, e.col, end)),
        static_cast<double>(model.Partial(head, e.col, end)),
        static_cast<double>(fp32.Partial(head, e.col, end)), fp64.Partial(head, e.col, end),
        static_cast<int>(begin));
  }
  e.result = e.steps.back().sum;
  // The fp64 side starts from the case's inputs, so the budget does as well.
  e.budget = reference::BoundLogits(problem, reference::BoundStage(problem, ran.permutation).output)
                 .budget(e.row, e.col);
}

}  // namespace voltcheck::explain
