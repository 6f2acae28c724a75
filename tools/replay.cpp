// `voltcheck replay`: one case by its descriptor, or fixture files.
#include <cstdio>
#include <filesystem>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/tactic_choice.h"
#include "tools/arguments.h"
#include "tools/layer_report.h"
#include "tools/property_report.h"
#include "tools/replay_from.h"
#include "tools/replay_tp.h"
#include "tools/session.h"

namespace voltcheck::tools {
namespace {

std::vector<Case> CasesOf(const fixtures::Fixture& fixture) {
  return ParseGrid(verify::FixtureKeys(fixture, ';') +
                   "t=" + std::to_string(fixture.problem.c.shape.tokens));
}

// Files as they are, of folders every fixture in them.
std::vector<std::string> FixtureFiles(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
      files.push_back(path);
      continue;
    }
    const std::vector<std::string> inside = fixtures::ListFixtures(path);
    if (inside.empty()) {
      throw BadInput(path, "holds no fixture", "give a folder with *.h5 files");
    }
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

// One property about one case; what `gate` prints of it.
ExitStatus ReplayProperty(const std::string& name, const std::string& descriptor,
                          verify::ProblemSource& source, const SessionOptions& options) {
  const properties::Property& property = properties::FindProperty(name);
  const Case c = ParseDescriptor(descriptor);
  source.Preload({c});
  const std::unique_ptr<kernels::Device> device = verify::MakeDevice(options.device, c.numerics);
  verify::CheckOverrides(*device, options.device.overrides);
  properties::Bench bench(options.device);
  const verify::PropertyRecord record =
      properties::AskOnce(property, source.Make(c), bench,
                          properties::MakeSearchOptions(options.device).reproduction_suffix);
  properties::SearchResult result;
  result.records = {record};
  if (options.json) {
    std::printf("%s\n", ToJson(result)["checks"][0].dump(1).c_str());
  } else if (!options.quiet || record.verdict != verify::Verdict::kPassed) {
    std::printf("%s: %s\n%s%s%s", std::string(verify::ToString(record.verdict)).c_str(),
                record.property.c_str(), record.reason.empty() ? "" : "  ", record.reason.c_str(),
                record.reason.empty() ? "" : "\n");
  }
  return record.verdict == verify::Verdict::kPassed ? ExitStatus::kPassed : ExitStatus::kFailed;
}

}  // namespace

ExitStatus Replay(const Words& words) {
  Arguments arguments("replay --case DESCRIPTOR | FIXTURE... | --from RUN.h5 [options]",
                      "Runs one case exactly as the gate does, or all tokens of fixture files or "
                      "folders of them.\nOutputs captured in a fixture are judged too.");
  arguments.Value("case", "", "descriptor, as a failure prints it");
  arguments.Value("from", "", "run file: repeat its cases as they ran, and compare the bits");
  arguments.Value("index", "", "with --from: the case of this number alone");
  arguments.Flag("tp", "under mpirun: a slice of the layer on every rank, summed by NCCL or MPI");
  arguments.Value("property", "", "ask this property about the case; 'list properties' names them");
  arguments.Positional("fixture", -1);
  arguments.Value("tactics", "default", std::string(kTacticChoiceHelp).c_str());
  arguments.Value("capture-numerics", "v100",
                  "arithmetic of the chip that captured outputs come from");
  arguments.Value("out", "", "run file (default: none)");
  arguments.Flag("resume", "with --out: go on where an interrupted run of the same arguments was");
  AddSessionOptions(arguments);
  if (!arguments.Parse(words)) {
    return ExitStatus::kPassed;
  }
  const std::vector<std::string> paths = arguments.Texts("fixture");
  if (arguments.Has("from") && !arguments.Has("case") && paths.empty()) {
    return ReplayFrom(words);
  }
  if (arguments.Has("from") || arguments.Has("case") == !paths.empty()) {
    throw BadInput("voltcheck replay", "needs either --case or fixture files, or --from",
                   "see 'voltcheck replay --help'");
  }
  const std::vector<std::string> files = FixtureFiles(paths);
  const Numerics capture_numerics = ParseNumerics(arguments.Text("capture-numerics"));
  const std::string tactics = arguments.Text("tactics");
  SessionOptions options = ReadSessionOptions(arguments, "replay --tactics " + tactics);
  options.schema = "voltcheck.replay/1";
  options.out = arguments.Text("out");
  options.resume = arguments.Has("resume");

  verify::ProblemSource source(options.fixtures);
  if (arguments.Has("tp")) {
    if (!arguments.Has("case")) {
      throw BadInput("--tp", "splits one case", "add --case DESCRIPTOR");
    }
    return ReplayTensorParallel(arguments.Text("case"), source, options);
  }
  if (arguments.Has("property")) {
    if (!arguments.Has("case")) {
      throw BadInput("--property", "is asked about one case", "add --case DESCRIPTOR");
    }
    return ReplayProperty(arguments.Text("property"), arguments.Text("case"), source, options);
  }
  std::vector<Case> cases;
  if (files.empty()) {
    cases = {ParseDescriptor(arguments.Text("case"))};
    // A single case that cannot be run is a mistake in what was asked for.
    options.judge.plan_or_throw = true;
    options.title = "one case";
  }
  std::vector<Case> whole;  // each fixture as it is
  for (const std::string& file : files) {
    const fixtures::Fixture& fixture = source.Load(file);
    const std::vector<Case> more = CasesOf(fixture);
    cases.insert(cases.end(), more.begin(), more.end());
    whole.push_back(more.front());
    whole.back().columns = fixture.problem.c.columns;
  }
  LayerReport layers(std::move(whole), source, options.judge, capture_numerics);
  options.extra = files.empty() ? nullptr : &layers;
  if (!files.empty()) {
    if (!arguments.Has("fixtures")) {
      // A failure's line must find the fixture again.
      const std::filesystem::path folder = std::filesystem::path(files[0]).parent_path();
      options.suffix += " --fixtures '" + (folder.empty() ? "." : folder.string()) + "'";
    }
    options.title =
        files.size() == 1 ? "fixture " + files[0] : std::to_string(files.size()) + " fixtures";
  }
  return RunSession(WithTactics(cases, tactics), source, options);
}

}  // namespace voltcheck::tools
