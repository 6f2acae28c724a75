// `voltcheck replay`: one case by its descriptor, or fixture files.
#include <filesystem>

#include "fixtures/case/descriptor.h"
#include "tools/arguments.h"
#include "tools/session.h"

namespace voltcheck::tools {
namespace {

// The end of a grid that runs the tactics of --tactics: both GEMMs with each of them, where it
// fits.
std::string TacticAxes(const std::string& tactics) {
  if (tactics == "default") {
    return "";
  }
  return ";w13=" + tactics + ";w2=" + tactics + ";infeasible=skip";
}

// The case's descriptor as a grid, its tactics replaced by those of --tactics.
std::vector<Case> CasesOfDescriptor(const std::string& descriptor, const std::string& tactics) {
  const Case c = ParseDescriptor(descriptor);
  if (tactics == "default") {
    return {c};
  }
  std::string grid;
  std::string rest = ToDescriptor(c) + ",";
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string key = rest.substr(0, comma);
    rest.erase(0, comma + 1);
    if (!key.starts_with("w13=") && !key.starts_with("w2=")) {
      grid += key + ";";
    }
  }
  grid.pop_back();
  return ParseGrid(grid + TacticAxes(tactics));
}

std::vector<Case> CasesOfFixture(const std::string& path, const std::string& tactics,
                                 verify::ProblemSource& source) {
  const fixtures::Fixture& fixture = source.Load(path);
  return ParseGrid(verify::FixtureKeys(fixture, ';') +
                   "t=" + std::to_string(fixture.problem.c.shape.tokens) + TacticAxes(tactics));
}

}  // namespace

ExitStatus Replay(const Words& words) {
  Arguments arguments("replay --case DESCRIPTOR | FIXTURE... [options]",
                      "Runs one case exactly as the gate does, or all tokens of fixture files.");
  arguments.Value("case", "", "descriptor, as a failure prints it");
  arguments.Positional("fixture", -1);
  arguments.Value(
      "tactics", "default",
      "all (every tile that fits, without split-K), default (the case's own), or a list "
      "such as 8x128x64/1,16x128x32/2 that both GEMMs take where it fits");
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
    cases = CasesOfDescriptor(arguments.Text("case"), tactics);
    options.title = "one case";
  }
  for (const std::string& file : files) {
    const std::vector<Case> more = CasesOfFixture(file, tactics, source);
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
  return RunSession(cases, source, options);
}

}  // namespace voltcheck::tools
