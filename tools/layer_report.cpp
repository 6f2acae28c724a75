#include "tools/layer_report.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/foreign_report.h"
#include "tools/json_record.h"
#include "tools/terminal.h"

namespace voltcheck::tools {

using Node = nlohmann::ordered_json;
using verify::Stage;
using verify::Verdict;

namespace {

// The tactic that a stage's bits hang on.
std::string TacticsOf(const Case& c, Stage stage) {
  return stage == Stage::kW13 || stage == Stage::kSilu ? ToString(c.w13)
                                                       : ToString(c.w13) + " " + ToString(c.w2);
}

// The gravest of two, in the order in which verdicts win.
Verdict Graver(Verdict a, Verdict b) {
  constexpr std::array<Verdict, 8> kGravest{
      Verdict::kCrashed,    Verdict::kChecker, Verdict::kNondeterministic, Verdict::kFailed,
      Verdict::kMistrusted, Verdict::kSkipped, Verdict::kUntested,         Verdict::kPassed};
  for (const Verdict v : kGravest) {
    if (a == v || b == v) {
      return v;
    }
  }
  return a;
}

double Root(double squares, double elements) {
  return elements > 0 ? std::sqrt(squares / elements) : 0;
}

Node Finite(double value) { return std::isfinite(value) ? Node(value) : Node(); }

}  // namespace

LayerReport::LayerReport(std::vector<Case> cases, const verify::ProblemSource& source,
                         const verify::JudgeOptions& judge, Numerics numerics)
    : cases_(std::move(cases)), source_(source), judge_(judge), numerics_(numerics) {}

void LayerReport::Add(const verify::CaseRecord& record) {
  auto layer = std::find_if(layers_.begin(), layers_.end(),
                            [&](const Layer& l) { return l.name == record.c.fixture; });
  if (layer == layers_.end()) {
    layers_.push_back({.name = record.c.fixture});
    layer = layers_.end() - 1;
  }
  layer->verdict = Graver(layer->verdict, record.verdict);
  layer->use = std::max(layer->use, record.WorstUse());
  const verify::ComparisonFigures& f = record.at(Stage::kOutput).reference;
  const auto elements = static_cast<double>(f.elements);
  if (record.at(Stage::kOutput).present && elements > 0) {
    layer->max_abs = std::max(layer->max_abs, f.max_abs.magnitude);
    layer->squares += f.rms * f.rms * elements;
    layer->want_squares += f.rms_want * f.rms_want * elements;
    layer->elements += elements;
  }
  ++layer->cases;
  for (const Stage stage : {Stage::kW13, Stage::kSilu, Stage::kW2, Stage::kOutput}) {
    if (record.at(stage).present) {
      device_.push_back(
          {record.c.fixture, stage, record.at(stage).hash, TacticsOf(record.c, stage)});
    }
  }
}

void LayerReport::Finish() {
  for (const Case& c : cases_) {
    const Problem problem = source_.Make(c);
    if (problem.captured == nullptr) {
      continue;
    }
    const verify::ForeignOutputs outputs = verify::CapturedOf(problem);
    if (outputs.empty()) {
      continue;
    }
    Capture capture{
        c.fixture, verify::JudgeForeign(problem, outputs, numerics_, judge_, std::nullopt), {}};
    for (const Stage stage : {Stage::kW13, Stage::kSilu, Stage::kW2, Stage::kOutput}) {
      if (!capture.verdict.record.at(stage).present) {
        continue;
      }
      std::vector<std::string> equal;
      for (const DeviceHash& device : device_) {
        if (device.fixture == c.fixture && device.stage == stage &&
            device.hash == capture.verdict.record.at(stage).hash) {
          equal.push_back(device.tactics);
        }
      }
      capture.equal.emplace_back(stage, std::move(equal));
    }
    captures_.push_back(std::move(capture));
  }
}

bool LayerReport::Passed() const {
  return std::all_of(captures_.begin(), captures_.end(), [](const Capture& c) {
    return c.verdict.record.verdict == Verdict::kPassed ||
           (c.verdict.record.verdict == Verdict::kUntested && c.verdict.logits);
  });
}

std::vector<const LayerReport::Layer*> LayerReport::WorstFirst() const {
  std::vector<const Layer*> order;
  for (const Layer& layer : layers_) {
    order.push_back(&layer);
  }
  std::stable_sort(order.begin(), order.end(), [](const Layer* a, const Layer* b) {
    const bool a_passed = a->verdict == Verdict::kPassed;
    const bool b_passed = b->verdict == Verdict::kPassed;
    return a_passed != b_passed ? b_passed : a->use > b->use;
  });
  return order;
}

void LayerReport::Print(std::FILE* out, bool colour) const {
  if (layers_.size() > 1) {
    std::fprintf(out, "\nfixtures, worst first\n%-32s %-12s %5s %8s %11s %11s %9s\n", "fixture",
                 "verdict", "cases", "use", "max |diff|", "RMS", "relative");
    double squares = 0;
    double want = 0;
    double elements = 0;
    double max_abs = 0;
    double use = 0;
    int cases = 0;
    for (const Layer* l : WorstFirst()) {
      std::fprintf(
          out, "%-32.32s %s %5d %8.4f %11.4g %11.4g %9.2g\n", l->name.c_str(),
          Paint((std::string(verify::ToString(l->verdict)) + std::string(12, ' ')).substr(0, 12),
                l->verdict == Verdict::kPassed ? Colour::kGreen : Colour::kRed, colour)
              .c_str(),
          l->cases, l->use, l->max_abs, Root(l->squares, l->elements),
          Root(l->squares, l->want_squares));
      squares += l->squares;
      want += l->want_squares;
      elements += l->elements;
      max_abs = std::max(max_abs, l->max_abs);
      use = std::max(use, l->use);
      cases += l->cases;
    }
    std::fprintf(out, "%-32s %-12s %5d %8.4f %11.4g %11.4g %9.2g\n", "all", "", cases, use, max_abs,
                 Root(squares, elements), Root(squares, want));
  }
  for (const Capture& c : captures_) {
    const verify::CaseRecord& record = c.verdict.record;
    const bool passed = record.verdict == Verdict::kPassed;
    std::fprintf(
        out, "\ncaptured outputs of %s: %s (order %s)%s%s\n", c.name.c_str(),
        Paint(verify::ToString(record.verdict), passed ? Colour::kGreen : Colour::kRed, colour)
            .c_str(),
        std::string(verify::ToString(c.verdict.order)).c_str(), record.reason.empty() ? "" : "  ",
        record.reason.c_str());
    std::fprintf(out, "  %s\n  %s\n", TacticText("w13", c.verdict.tactics.w13).c_str(),
                 TacticText("w2", c.verdict.tactics.w2).c_str());
    for (const auto& [stage, equal] : c.equal) {
      const verify::StageRecord& s = record.at(stage);
      std::fprintf(out, "  %-6s use %.4f, max |diff| to fp32 %.4g, device %s\n",
                   std::string(verify::ToString(stage)).c_str(), s.own.max_use.magnitude,
                   s.reference.max_abs.magnitude,
                   equal.empty() ? "differs" : ("equal with " + equal.front()).c_str());
    }
    PrintLogits(out, c.verdict);
  }
}

std::string LayerReport::Json() const {
  Node layers = Node::array();
  for (const Layer* l : WorstFirst()) {
    layers.push_back({{"fixture", l->name},
                      {"verdict", verify::ToString(l->verdict)},
                      {"cases", l->cases},
                      {"use", Finite(l->use)},
                      {"max_abs", Finite(l->max_abs)},
                      {"rms", Finite(Root(l->squares, l->elements))},
                      {"rms_relative", Finite(Root(l->squares, l->want_squares))}});
  }
  Node captures = Node::array();
  for (const Capture& c : captures_) {
    Node equal = Node::object();
    for (const auto& [stage, tactics] : c.equal) {
      equal[std::string(verify::ToString(stage))] = tactics;
    }
    captures.push_back({{"fixture", c.name},
                        {"verdict", verify::ToString(c.verdict.record.verdict)},
                        {"foreign", ToJson(c.verdict)},
                        {"equal_to_device", equal},
                        {"case", ToJson(c.verdict.record)}});
  }
  return Node({{"fixtures", layers}, {"captures", captures}})
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace voltcheck::tools
