// `voltcheck gate`: the pre-merge check.
#include <filesystem>
#include <set>

#include "fixtures/case/tactic_choice.h"
#include "tools/arguments.h"
#include "tools/case_list.h"
#include "tools/session.h"
#include "verify/properties/regressions.h"
#include "verify/properties/replaced_questions.h"
#include "verify/random_cases.h"
#include "verify/replaced_cases.h"

namespace voltcheck::tools {
namespace {

constexpr std::uint64_t kMostDraws = 100000;

// How many cases each property is asked about by default: none beside a suite of the user's own.
std::uint64_t DrawsOf(const std::string& suite) {
  return suite == "full" ? 20 : suite == "ci" ? 4 : suite == "smoke" ? 1 : 0;
}

}  // namespace

ExitStatus Gate(const Words& words) {
  Arguments arguments(
      "gate [--suite smoke|ci|full|FILE] [options]",
      "Runs a suite of cases on the kernels of this build (or those of --kernels), compares every\n"
      "stage with the FP32 reference, an fp64 oracle with its budget and the order-faithful "
      "model,\n"
      "writes a run file and prints a table. Status 0: the kernels may merge. Status 1: they may "
      "not.");
  arguments.Value("suite", "smoke", "built-in suite, or a file with one grid a line");
  arguments.Value("seed", "0", "added to the seed of every case");
  arguments.Value("tactics", "default", std::string(kTacticChoiceHelp).c_str());
  arguments.Value("out", "", "run file (default: gate-SUITE.h5 in this folder)");
  arguments.Flag("resume", "go on where an interrupted run of the same arguments stopped");
  arguments.Value("draws", "", "cases drawn for each property (default: by suite); 0: none");
  arguments.Value(
      "regressions", "",
      "file of counterexamples: properties are asked about them first, and new ones are "
      "added");
  AddSessionOptions(arguments);
  if (!arguments.Parse(words)) {
    return ExitStatus::kPassed;
  }
  const std::string suite = arguments.Text("suite");
  const std::string name =
      IsSuiteFile(suite) ? std::filesystem::path(suite).stem().string() : suite;
  const std::uint64_t seed = arguments.Number("seed");
  const std::string tactics = arguments.Text("tactics");
  SessionOptions options =
      ReadSessionOptions(arguments, "gate --suite " + name + " --seed " + std::to_string(seed) +
                                        (tactics == "default" ? "" : " --tactics " + tactics));
  options.seed = seed;
  options.resume = arguments.Has("resume");
  options.title = "suite " + name;
  options.schema = "voltcheck.gate/1";
  options.properties = {
      static_cast<int>(arguments.Has("draws") ? arguments.Number("draws", kMostDraws)
                                              : DrawsOf(suite)),
      seed,
      options.jobs,
      arguments.Text("regressions"),
      {}};
  if (arguments.Has("regressions")) {
    properties::ReadRegressions(options.properties.regressions);  // refused before the first case
  }
  options.arguments += " --draws " + std::to_string(options.properties.draws);

  verify::ProblemSource source(options.fixtures);
  std::vector<Case> cases =
      WithTactics(CasesOfSuite(suite, seed, options.fixtures, source), tactics);
  if (!IsSuiteFile(suite) && options.device.implementation == nullptr) {
    const std::set<std::string> entries =
        verify::ReplacedEntries(options.device.overrides, options.allowed_unused);
    verify::AddHazardCases(entries, seed, cases);
    if (options.properties.draws > 0) {
      options.properties.questions = properties::ReplacedQuestions(entries, seed);
    }
  }
  verify::ExactFirst(cases);
  options.out = arguments.Has("out") ? arguments.Text("out") : "gate-" + name + ".h5";
  return RunSession(cases, source, options);
}

}  // namespace voltcheck::tools
