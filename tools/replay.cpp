// `voltcheck replay`: one case by its descriptor, or fixture files.
#include <cstdio>
#include <filesystem>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/tactic_choice.h"
#include "tools/arguments.h"
#include "tools/property_report.h"
#include "tools/session.h"

namespace voltcheck::tools {
namespace {

std::vector<Case> CasesOfFixture(const std::string& path, verify::ProblemSource& source) {
  const fixtures::Fixture& fixture = source.Load(path);
  return ParseGrid(verify::FixtureKeys(fixture, ';') +
                   "t=" + std::to_string(fixture.problem.c.shape.tokens));
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
  Arguments arguments("replay --case DESCRIPTOR | FIXTURE... [options]",
                      "Runs one case exactly as the gate does, or all tokens of fixture files.");
  arguments.Value("case", "", "descriptor, as a failure prints it");
  arguments.Value("property", "", "ask this property about the case; 'list properties' names them");
  arguments.Positional("fixture", -1);
  arguments.Value("tactics", "default", std::string(kTacticChoiceHelp).c_str());
  arguments.Value("out", "", "run file (default: none)");
  AddSessionOptions(arguments);
  if (!arguments.Parse(words)) {
    return ExitStatus::kPassed;
  }
  const std::vector<std::string> files = arguments.Texts("fixture");
  if (arguments.Has("case") == !files.empty()) {
    throw BadInput("voltcheck replay", "needs either --case or fixture files",
                   "see 'voltcheck replay --help'");
  }
  const std::string tactics = arguments.Text("tactics");
  SessionOptions options = ReadSessionOptions(arguments, "replay --tactics " + tactics);
  options.schema = "voltcheck.replay/1";
  options.out = arguments.Text("out");

  verify::ProblemSource source(options.fixtures);
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
  for (const std::string& file : files) {
    const std::vector<Case> more = CasesOfFixture(file, source);
    cases.insert(cases.end(), more.begin(), more.end());
  }
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
