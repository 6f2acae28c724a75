// `voltcheck replay`: one case by its descriptor, or fixture files.
#include <filesystem>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/tactic_choice.h"
#include "tools/arguments.h"
#include "tools/session.h"

namespace voltcheck::tools {
namespace {

std::vector<Case> CasesOfFixture(const std::string& path, verify::ProblemSource& source) {
  const fixtures::Fixture& fixture = source.Load(path);
  return ParseGrid(verify::FixtureKeys(fixture, ';') +
                   "t=" + std::to_string(fixture.problem.c.shape.tokens));
}

}  // namespace

ExitStatus Replay(const Words& words) {
  Arguments arguments("replay --case DESCRIPTOR | FIXTURE... [options]",
                      "Runs one case exactly as the gate does, or all tokens of fixture files.");
  arguments.Value("case", "", "descriptor, as a failure prints it");
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
