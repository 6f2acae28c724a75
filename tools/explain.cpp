// `voltcheck explain`: how one output element came about.
#include "verify/explain/explain.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "fixtures/atomic_file.h"
#include "fixtures/case/descriptor.h"
#include "kernels/plugin/plugin.h"
#include "kernels/recipe/recipe.h"
#include "tools/arguments.h"
#include "tools/recorded_setup.h"
#include "tools/session.h"
#include "verify/case_runner.h"
#include "verify/explain/write.h"
#include "verify/problem_source.h"

namespace voltcheck::tools {
namespace {

using verify::Stage;

constexpr std::uint64_t kMostDeviceSteps = 4096;

std::optional<Stage> ParseStage(const std::string& where, const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  for (const Stage stage : verify::kStages) {
    if (verify::ToString(stage) == text) {
      return stage;
    }
  }
  throw BadInput(where, "cannot be " + Quote(text), "use w13, silu, w2, output or logits");
}

std::optional<std::pair<int, int>> ParseAt(const std::string& where, const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) {
    throw BadInput(where, "cannot be " + Quote(text), "give ROW,COL");
  }
  constexpr std::uint64_t kMost = 0x7FFFFFFF;
  return std::pair(static_cast<int>(ParseUnsigned(where, text.substr(0, comma), kMost)),
                   static_cast<int>(ParseUnsigned(where, text.substr(comma + 1), kMost)));
}

// The case of this number, or the first that failed, or the first.
const RecordedCase& ChooseCase(const std::string& path, const RecordedSetup& setup) {
  if (setup.cases.empty()) {
    throw BadInput(path, "holds no case", "name one with --case");
  }
  const auto failed = std::find_if(setup.cases.begin(), setup.cases.end(),
                                   [](const RecordedCase& c) { return c.verdict == "failed"; });
  return failed == setup.cases.end() ? setup.cases.front() : *failed;
}

// The device of the command line; what it leaves out comes from the run file, if there is one.
verify::DeviceOptions ReadDevice(const Arguments& arguments, const RecordedSetup& setup) {
  const auto chosen = [&](const char* name, const char* fallback) {
    const std::string recorded = setup.Option(std::string("--") + name);
    return arguments.Has(name) ? arguments.Text(name) : recorded.empty() ? fallback : recorded;
  };
  verify::DeviceOptions device;
  device.kind = chosen("device", "simulator");
  device.schedule = ParseUnsigned(arguments.Where("schedule"), chosen("schedule", "0"), UINT64_MAX);
  const std::string check = chosen("check", "all");
  if (check != "all" && check != "none") {
    throw BadInput("--check " + check, "is not known here", "use all or none");
  }
  device.all_checks = check == "all";
  if (arguments.Has("kernels") && !setup.overrides.empty()) {
    throw BadInput("--kernels", "cannot stand beside --from, which brings its kernels along",
                   "use 'voltcheck explain --case' for other kernels");
  }
  device.overrides = arguments.Has("kernels") ? verify::ReadOverrides(arguments.Texts("kernels"))
                                              : setup.overrides;
  if (arguments.Has("plugin") && arguments.Has("recipe")) {
    throw BadInput("--plugin", "does not go with --recipe", "give one of them");
  }
  if (arguments.Has("plugin")) {
    device.implementation = plugin::LoadPlugin(arguments.Text("plugin"), device.kind);
  }
  if (arguments.Has("recipe")) {
    device.implementation = recipe::LoadRecipe(arguments.Text("recipe"));
  }
  return device;
}

// Stage and element when the user names none: where the case fails first, or is worst.
struct Place {
  Stage stage = Stage::kW13;
  int row = 0;
  int col = 0;
};
Place WorstPlace(const Problem& problem, const verify::DeviceOptions& device,
                 const std::optional<Stage>& wanted) {
  const verify::CaseRecord record = verify::RunCase(problem, device);
  std::optional<Stage> stage = wanted;
  for (const Stage s : verify::kStages) {
    if (!stage && record.at(s).present && record.at(s).verdict == verify::Verdict::kFailed) {
      stage = s;
    }
  }
  for (const Stage s : verify::kStages) {
    if (!stage && record.at(s).present) {
      stage = s;
    }
  }
  if (!stage || !record.at(*stage).present) {
    throw BadInput(record.descriptor, "has no such stage: " + record.reason,
                   "name a stage that the case runs with --stage");
  }
  const auto [row, col] = explain::WorstElement(record.at(*stage));
  return {*stage, row, col};
}

}  // namespace

ExitStatus Explain(const Words& words) {
  Arguments arguments(
      "explain --case DESCRIPTOR | --from RUN.h5 [--stage STAGE] [--at ROW,COL] [options]",
      "Says step by step how one output element came about: device, order-faithful model, FP32\n"
      "reference and FP64 oracle side by side. Without --at, the first element of the stage whose\n"
      "bits are not the model's, else the one that uses most of its budget.");
  arguments.Value("case", "", "descriptor of the case");
  arguments.Value("from", "", "run file that holds the case");
  arguments.Value("index", "",
                  "number of the case in the run file (default: the first that failed)");
  arguments.Value("stage", "", "w13, silu, w2, output or logits (default: the first that failed)");
  arguments.Value("at", "", "ROW,COL; rows are slots in permuted order, or tokens");
  arguments.Value("device-steps", "12", "k-steps at which the device's running sum is asked for");
  arguments.Value("html", "", "write a page with plots to this file");
  arguments.Flag("json", "print JSON");
  arguments.Value("device", "", "simulator or cuda (default: the run's, else simulator)");
  arguments.Value("schedule", "",
                  "simulator: order of CTAs, warps and lanes (default: the run's, else 0)");
  arguments.Value("check", "", "simulator: all or none (default: the run's, else all)");
  arguments.Values("kernels", "PTX file whose entries replace the built-in ones; may be repeated");
  arguments.Value("plugin", "", "shared library with other kernels (kernels/voltcheck_kernel.h)");
  arguments.Value("recipe", "", "JSON file that says how the kernels of PTX files are launched");
  arguments.Value("fixtures", "", "folder with fixture files (default: the shipped ones)");
  if (!arguments.Parse(words)) {
    return ExitStatus::kPassed;
  }
  if (arguments.Has("case") == arguments.Has("from")) {
    throw BadInput("voltcheck explain", "needs either --case or --from",
                   "see 'voltcheck explain --help'");
  }
  const std::optional<Stage> stage = ParseStage(arguments.Where("stage"), arguments.Text("stage"));
  const std::optional<std::pair<int, int>> at =
      ParseAt(arguments.Where("at"), arguments.Text("at"));
  std::optional<std::uint64_t> index;
  if (arguments.Has("index")) {
    index = arguments.Number("index");
  }
  RecordedSetup setup;
  std::string descriptor = arguments.Text("case");
  if (arguments.Has("from")) {
    setup = ReadRecordedSetup(arguments.Text("from"), index);
    descriptor = ChooseCase(arguments.Text("from"), setup).descriptor;
  }
  const Case c = ParseDescriptor(descriptor);
  verify::ProblemSource source(arguments.Has("fixtures") ? arguments.Text("fixtures")
                                                         : DefaultFixturesFolder());
  source.Preload({c});
  const Problem problem = source.Make(c);

  explain::ExplainOptions options;
  options.device = ReadDevice(arguments, setup);
  if (arguments.Has("from")) {
    RequireSameFixtures(arguments.Text("from"), setup, source);
    TakeImplementation(arguments.Text("from"), setup, options.device);
  }
  options.device_steps = static_cast<int>(arguments.Number("device-steps", kMostDeviceSteps));
  verify::CheckOverrides(*verify::MakeDevice(options.device, c.numerics), options.device.overrides);
  if (arguments.Has("from")) {
    RequireSameKernels(arguments.Text("from"), setup, options.device, c.numerics);
  }

  Place place;
  if (stage && at) {
    place = {*stage, at->first, at->second};
  } else {
    place = WorstPlace(problem, options.device, stage);
    if (at) {
      place.row = at->first;
      place.col = at->second;
    }
  }
  const explain::Explanation e =
      explain::Explain(problem, place.stage, place.row, place.col, options);
  if (arguments.Has("html")) {
    const std::string page = explain::ToHtml(e);
    fixtures::WriteFileAtomically(arguments.Text("html"), std::as_bytes(std::span(page)));
  }
  if (arguments.Has("json")) {
    std::printf("%s\n", explain::ToJson(e).c_str());
  } else {
    std::printf("%s\n%s", e.descriptor.c_str(), explain::ToText(e).c_str());
  }
  return ExitStatus::kPassed;
}

}  // namespace voltcheck::tools
