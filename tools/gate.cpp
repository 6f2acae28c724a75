// `voltcheck gate`: the pre-merge check.
#include <filesystem>
#include <string_view>

#include "fixtures/mapped_file.h"
#include "tools/arguments.h"
#include "tools/session.h"
#include "verify/suite.h"

namespace voltcheck::tools {
namespace {

// A suite of the user's own: a file, told from a built-in name by its slash or its extension.
bool IsSuiteFile(const std::string& suite) {
  return suite.find('/') != std::string::npos || suite.ends_with(".txt");
}

std::vector<Case> ReadSuiteFile(const std::string& path, std::uint64_t seed,
                                const std::string& fixtures, verify::ProblemSource& source) {
  const fixtures::MappedFile file(path);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  return verify::ParseSuite(path, text, seed, fixtures, source);
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
  arguments.Value("out", "", "run file (default: gate-SUITE.h5 in this folder)");
  AddSessionOptions(arguments);
  if (!arguments.Parse(words)) {
    return ExitStatus::kPassed;
  }
  const std::string suite = arguments.Text("suite");
  const bool is_file = IsSuiteFile(suite);
  const std::string name = is_file ? std::filesystem::path(suite).stem().string() : suite;
  const std::uint64_t seed = arguments.Number("seed");
  SessionOptions options =
      ReadSessionOptions(arguments, "gate --suite " + name + " --seed " + std::to_string(seed));
  options.seed = seed;
  options.title = "suite " + name;
  options.schema = "voltcheck.gate/1";

  verify::ProblemSource source(options.fixtures);
  const std::vector<Case> cases = is_file
                                      ? ReadSuiteFile(suite, seed, options.fixtures, source)
                                      : verify::SuiteCases(suite, seed, options.fixtures, source);
  options.out = arguments.Has("out") ? arguments.Text("out") : "gate-" + name + ".h5";
  return RunSession(cases, source, options);
}

}  // namespace voltcheck::tools
