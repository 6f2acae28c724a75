#include "tools/all_reduce_report.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "fixtures/case/descriptor.h"
#include "kernels/kernel_set.h"
#include "kernels/plan.h"
#include "kernels/stage_runner.h"
#include "reference/all_reduce.h"
#include "reference/arith/half.h"
#include "reference/logits.h"
#include "reference/stage.h"
#include "tools/logit_capture.h"
#include "tools/session.h"
#include "verify/device_options.h"
#include "verify/problem_source.h"

namespace voltcheck::tools {
namespace {

using Json = nlohmann::ordered_json;
using reference::Matrix;
using reference::OrderSpread;
using reference::SumType;

constexpr int kMostRanks = 64;
// The whole outputs of a few ranks are held as floats.
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 28;

// The ranks' outputs, as many values each.
struct Ranks {
  std::vector<std::vector<float>> values;
  std::uint64_t width = 0;
  std::vector<std::span<const float>> spans() const { return {values.begin(), values.end()}; }
};

// Of the ranks' exact sums against those of what they should have been.
struct OwnError {
  double max = 0;
  double rms = 0;
  std::int64_t element = -1;
};

struct Study {
  std::string of;
  Ranks ranks;
  std::optional<OwnError> own;
  OrderSpread half;
  OrderSpread wide;
  std::optional<double> logit_half;  // largest distance of a logit between two orders
  std::optional<double> logit_wide;
};

Ranks ReadRanks(const std::vector<std::string>& files, const std::string& tensor) {
  Ranks ranks;
  for (const std::string& file : files) {
    const logits::Capture capture = OpenLogits(file, tensor);
    const std::uint64_t count = capture.rows * capture.vocabulary;
    if (count > kMostElements) {
      throw BadInput(file, "holds " + std::to_string(count) + " values",
                     "give the outputs of fewer tokens");
    }
    std::vector<float> values(count);
    logits::Widen(capture.row(0), 0, count, values.data());
    if (!ranks.values.empty() &&
        (values.size() != ranks.values[0].size() || capture.vocabulary != ranks.width)) {
      throw BadInput(file, "has another shape than " + files[0],
                     "give the outputs of one layer for the same tokens");
    }
    ranks.width = capture.vocabulary;
    ranks.values.push_back(std::move(values));
  }
  return ranks;
}

std::vector<float> RunOnDevice(const Problem& problem, const verify::DeviceOptions& options) {
  const std::unique_ptr<kernels::Device> device = verify::MakeDevice(options, problem.c.numerics);
  kernels::KernelSet set(*device, options.overrides);
  const kernels::ObservedStage observed =
      kernels::RunPlan(*device, set, kernels::MakePlan(problem), problem.c.shape, {});
  if (observed.crashed || observed.output.empty()) {
    throw BadInput(ToDescriptor(problem.c), "gives no output on the device",
                   "run 'voltcheck replay' on it");
  }
  std::vector<float> values(observed.output.size());
  arith::HalfToFloat(observed.output.data(), values.data(), values.size());
  return values;
}

OwnError ErrorAgainst(const Ranks& got, const std::vector<Matrix<double>>& want) {
  OwnError error;
  double squares = 0;
  const std::size_t n = got.values[0].size();
  for (std::size_t i = 0; i < n; ++i) {
    double d = 0;
    for (std::size_t r = 0; r < want.size(); ++r) {
      d += static_cast<double>(got.values[r][i]) - want[r].data()[i];
    }
    squares += d * d;
    if (error.element < 0 || std::abs(d) > error.max) {
      error.max = std::abs(d);
      error.element = static_cast<std::int64_t>(i);
    }
  }
  error.rms = std::sqrt(squares / static_cast<double>(n));
  return error;
}

// The largest distance of one logit between two orders of the same sum.
double LogitSpread(const Problem& problem, const Ranks& ranks, SumType type) {
  Matrix<double> low;
  Matrix<double> high;
  const auto spans = ranks.spans();
  for (const reference::SumOrder& order :
       reference::AllReduceOrders(static_cast<int>(spans.size()))) {
    const std::vector<float> sum = reference::SumRanks(order, spans, type);
    const auto rows = static_cast<Eigen::Index>(sum.size() / ranks.width);
    Matrix<double> output(rows, static_cast<Eigen::Index>(ranks.width));
    std::copy(sum.begin(), sum.end(), output.data());
    const Matrix<double> logits = reference::Logits<double>(problem, output);
    low = low.size() == 0 ? logits : low.cwiseMin(logits);
    high = high.size() == 0 ? logits : high.cwiseMax(logits);
  }
  return (high - low).maxCoeff();
}

Study OfCase(const Arguments& arguments, int count) {
  const Case c = ParseDescriptor(arguments.Text("case"));
  verify::ProblemSource source(arguments.Has("fixtures") ? arguments.Text("fixtures")
                                                         : DefaultFixturesFolder());
  source.Preload({c});
  const Problem problem = source.Make(c);
  verify::DeviceOptions device;
  device.kind = arguments.Text("device");
  device.overrides = verify::ReadOverrides(arguments.Texts("kernels"));
  const reference::StageOptions exact{reference::WeightKind::kContract, reference::Rounding::kNone};
  Study report;
  report.of = ToDescriptor(c);
  report.ranks.width = static_cast<std::uint64_t>(c.shape.hidden);
  std::vector<Matrix<double>> want;
  for (int rank = 0; rank < count; ++rank) {
    const Problem shard = reference::ShardOf(problem, rank, count);
    report.ranks.values.push_back(RunOnDevice(shard, device));
    want.push_back(reference::RunStage<double>(shard, reference::Permute(shard), exact).output);
  }
  report.own = ErrorAgainst(report.ranks, want);
  if (problem.head != nullptr) {
    report.logit_half = LogitSpread(problem, report.ranks, SumType::kHalf);
    report.logit_wide = LogitSpread(problem, report.ranks, SumType::kFloat);
  }
  return report;
}

Study OfFiles(const Arguments& arguments, const std::vector<std::string>& files) {
  Study report;
  report.ranks = ReadRanks(files, arguments.Text("tensor"));
  for (const std::string& file : files) {
    report.of += (report.of.empty() ? "" : " ") + file;
  }
  const std::vector<std::string> against = arguments.Texts("against");
  if (against.empty()) {
    return report;
  }
  if (against.size() != files.size()) {
    throw BadInput("--against",
                   "is given " + std::to_string(against.size()) + " times for " +
                       std::to_string(files.size()) + " ranks",
                   "give one file for each rank, in order");
  }
  const Ranks want = ReadRanks(against, arguments.Text("tensor"));
  if (want.values[0].size() != report.ranks.values[0].size()) {
    throw BadInput(against[0], "has another shape than " + files[0], "give the same outputs");
  }
  std::vector<Matrix<double>> exact;
  for (const std::vector<float>& rank : want.values) {
    exact.push_back(
        Eigen::Map<const Eigen::VectorXf>(rank.data(), static_cast<Eigen::Index>(rank.size()))
            .cast<double>());
  }
  report.own = ErrorAgainst(report.ranks, exact);
  return report;
}

Json ToJson(const OrderSpread& s) {
  Json orders = Json::array();
  for (const OrderSpread::Order& o : s.orders) {
    orders.push_back({{"name", o.order.name},
                      {"sum", o.order.Text()},
                      {"max_error", o.max_error},
                      {"rms_error", o.rms_error}});
  }
  return {{"elements", s.elements}, {"nonfinite", s.nonfinite},     {"differing", s.differing},
          {"max", s.max},           {"max_element", s.max_element}, {"rms", s.rms},
          {"orders", orders}};
}

void PrintSpread(const char* type, const OrderSpread& s, std::uint64_t width) {
  std::printf("\nsums in %s\n", type);
  std::printf("  %-32s %-22s %11s %11s\n", "order", "", "max error", "RMS error");
  for (const OrderSpread::Order& o : s.orders) {
    std::printf("  %-32.32s %-22s %11.4g %11.4g\n", o.order.name.c_str(), o.order.Text().c_str(),
                o.max_error, o.rms_error);
  }
  std::printf("  spread by order alone: %llu of %llu elements, max %.4g",
              static_cast<unsigned long long>(s.differing),
              static_cast<unsigned long long>(s.elements), s.max);
  if (s.differing > 0) {
    std::printf(" at (%llu, %llu)",
                static_cast<unsigned long long>(static_cast<std::uint64_t>(s.max_element) / width),
                static_cast<unsigned long long>(static_cast<std::uint64_t>(s.max_element) % width));
  }
  std::printf(", RMS %.4g\n", s.rms);
  if (s.nonfinite > 0) {
    std::printf("  %llu elements have a sum that is not finite; they are left out\n",
                static_cast<unsigned long long>(s.nonfinite));
  }
}

void Print(const Study& r) {
  std::printf("%zu ranks of %s\n", r.ranks.values.size(), r.of.c_str());
  PrintSpread("fp16", r.half, r.ranks.width);
  PrintSpread("fp32", r.wide, r.ranks.width);
  if (r.logit_half) {
    std::printf(
        "\nlogits behind the head: spread by order alone, max %.4g (fp16 sums), %.4g (fp32)\n",
        *r.logit_half, *r.logit_wide);
  }
  if (r.own) {
    std::printf(
        "\nthe kernels' own error (exact sum of the ranks' outputs against what it should "
        "be):\n  max %.4g, RMS %.4g",
        r.own->max, r.own->rms);
    if (r.half.rms > 0) {
      std::printf(": %.2g times the RMS that the order changes in fp16", r.own->rms / r.half.rms);
    }
    std::printf("\n");
  }
}

}  // namespace

void AddAllReduceOptions(Arguments& arguments) {
  arguments.Flag("all-reduce", "the captures are the outputs of tensor-parallel ranks, in order");
  arguments.Values("against", "with --all-reduce: what the ranks should have given, once for each");
  arguments.Value("case", "", "with --all-reduce: split this case over --ranks, run each rank");
  arguments.Value("ranks", "4", "with --case: number of ranks");
  arguments.Value("device", "simulator", "with --case: simulator or cuda");
  arguments.Values("kernels", "with --case: PTX file that replaces built-in kernels");
  arguments.Value("fixtures", "", "with --case: folder with fixture files");
}

ExitStatus ReportAllReduce(const Arguments& arguments) {
  const std::vector<std::string> files = arguments.Texts("capture");
  if (arguments.Has("case") == !files.empty()) {
    throw BadInput("voltcheck logits --all-reduce", "needs either --case or a file for each rank",
                   "see 'voltcheck logits --help'");
  }
  const auto count = arguments.Has("case") ? arguments.Number("ranks", kMostRanks) : files.size();
  if (count < 2 || count > kMostRanks) {
    throw BadInput("voltcheck logits --all-reduce",
                   "cannot sum " + std::to_string(count) + " ranks", "give 2 to 64");
  }
  Study report =
      files.empty() ? OfCase(arguments, static_cast<int>(count)) : OfFiles(arguments, files);
  report.half = reference::SpreadOfOrders(report.ranks.spans(), SumType::kHalf);
  report.wide = reference::SpreadOfOrders(report.ranks.spans(), SumType::kFloat);
  if (arguments.Has("json")) {
    Json json = {{"schema", "voltcheck.all_reduce/1"},
                 {"of", report.of},
                 {"ranks", report.ranks.values.size()},
                 {"fp16", ToJson(report.half)},
                 {"fp32", ToJson(report.wide)}};
    if (report.logit_half) {
      json["logit_spread"] = {{"fp16", *report.logit_half}, {"fp32", *report.logit_wide}};
    }
    if (report.own) {
      json["own_error"] = {
          {"max", report.own->max}, {"max_element", report.own->element}, {"rms", report.own->rms}};
    }
    std::printf("%s\n", json.dump(1, ' ', false, Json::error_handler_t::replace).c_str());
  } else {
    Print(report);
  }
  return ExitStatus::kPassed;
}

}  // namespace voltcheck::tools
