#include "tools/session.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "kernels/kernel_set.h"
#include "kernels/simulator/ptx/contraction.h"
#include "tools/interrupt.h"
#include "tools/json_record.h"
#include "tools/judge_arguments.h"
#include "tools/summary_table.h"
#include "tools/terminal.h"
#include "verify/build_info.h"
#include "verify/kernel_usage.h"
#include "verify/properties/property_table.h"
#include "verify/run_file.h"
#include "verify/sweep.h"

namespace voltcheck::tools {
namespace {

constexpr std::uint64_t kMostJobs = 1024;

verify::RunProvenance Provenance(const std::vector<Case>& cases, const SessionOptions& options,
                                 const verify::ProblemSource& source) {
  const verify::BuildInfo& build = verify::ThisBuild();
  verify::RunProvenance p;
  p.tool_version = build.version;
  p.commit = build.commit;
  p.toolkit = build.toolkit;
  p.compiler = build.compiler;
  p.arguments = options.arguments;
  p.seed = options.seed;
  p.fixtures = source.Hashes();
  const std::unique_ptr<kernels::Device> device =
      verify::MakeDevice(options.device, cases.front().numerics);
  p.device = device->Describe();
  verify::CheckOverrides(*device, options.device.overrides);
  for (const Case& c : cases) {
    if (c.numerics != cases.front().numerics) {
      p.device.numerics = "by case";
      break;
    }
  }
  p.kernels_hash = kernels::KernelSet(*device, options.device.overrides).hash();
  return p;
}

void PrintHeader(const SessionOptions& options, const verify::RunProvenance& p) {
  std::printf("%s on %s, numerics %s\n", options.title.c_str(), p.device.name.c_str(),
              p.device.numerics.c_str());
  std::printf("kernels %.12s%s, voltcheck %s (%s)\n\n", p.kernels_hash.c_str(),
              options.device.overrides.empty() ? "" : " (some by --kernels)",
              p.tool_version.c_str(), p.commit.c_str());
}

// Kernels that were handed in and never ran.
void PrintUnused(const verify::UnusedKernels& unused) {
  constexpr std::size_t kShown = 8;
  const std::size_t shown = std::min(unused.lines.size(), kShown);
  for (std::size_t i = 0; i < shown; ++i) {
    std::printf("%s%s: %s\n", i == 0 ? "\n" : "", unused.whole_file ? "untested" : "note",
                unused.lines[i].c_str());
  }
  if (unused.lines.size() > shown) {
    std::printf("... and %zu more entries of --kernels\n", unused.lines.size() - shown);
  }
}

}  // namespace

void AddSessionOptions(Arguments& arguments) {
  arguments.Value("device", "simulator", "simulator or cuda");
  arguments.Value("schedule", "0",
                  "simulator: order of CTAs, warps and lanes; 0 is the natural one");
  arguments.Value("check", "all", "simulator: all checkers, or none but bounds and barriers");
  arguments.Values("kernels", "PTX file whose entries replace the built-in ones; may be repeated");
  arguments.Value("contraction", "off",
                  "on: fuse what an assembler may fuse in the --kernels files");
  arguments.Value("fixtures", "", "folder with fixture files (default: the shipped ones)");
  arguments.Value("jobs", "0", "cases in flight, 0 for one per core; never changes a result");
  arguments.Flag("json", "print JSON instead of the table");
  arguments.Flag("quiet", "print nothing but failures");
  AddJudgeOptions(arguments);
}

SessionOptions ReadSessionOptions(const Arguments& arguments, const std::string& command) {
  SessionOptions options;
  options.device.kind = arguments.Text("device");
  options.device.schedule = arguments.Number("schedule");
  const std::string check = arguments.Text("check");
  if (check != "all" && check != "none") {
    throw BadInput("--check " + check, "is not known here", "use all or none");
  }
  options.device.all_checks = check == "all";
  const std::vector<std::string> kernels = arguments.Texts("kernels");
  options.device.overrides = verify::ReadOverrides(kernels);
  const std::string contraction = arguments.Text("contraction");
  if (contraction != "on" && contraction != "off") {
    throw BadInput("--contraction " + contraction, "is not known here",
                   "use on or off; 'voltcheck exec' compares both");
  }
  for (auto& image : options.device.overrides) {
    if (contraction == "on") {
      image.ptx = simulator::ptx::FuseAllPairs(image.name, image.ptx);
    }
  }
  const std::string fixtures = arguments.Text("fixtures");
  options.fixtures = fixtures.empty() ? DefaultFixturesFolder() : fixtures;
  options.jobs = static_cast<int>(arguments.Number("jobs", kMostJobs));
  options.json = arguments.Has("json");
  options.quiet = arguments.Has("quiet");
  options.judge = ReadJudgeOptions(arguments);
  options.allowed_skips = ReadAllowedSkips(arguments);
  options.allowed_unused = arguments.Texts("allow-unused");
  for (const std::string& path : kernels) {
    options.suffix += " --kernels '" + path + "'";
  }
  if (contraction == "on" && !kernels.empty()) {
    options.suffix += " --contraction on";
  }
  if (!fixtures.empty()) {
    options.suffix += " --fixtures '" + fixtures + "'";
  }
  options.arguments = command + " --device " + options.device.kind;
  if (options.device.kind == "simulator") {
    options.arguments += " --schedule " + std::to_string(options.device.schedule);
    const std::string none = options.device.all_checks ? "" : " --check none";
    options.arguments += none;
    options.suffix += none;
  }
  options.arguments += verify::CommandLine(options.judge);
  for (const std::string& filter : options.allowed_skips) {
    options.arguments += " --allow-skip " + filter;
  }
  return options;
}

std::string DefaultFixturesFolder() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const std::filesystem::path beside =
        program.parent_path().parent_path() / "share" / "voltcheck" / "fixtures";
    if (std::filesystem::is_directory(beside, error)) {
      return beside.string();
    }
  }
  return VOLTCHECK_FIXTURES_DIR;
}

ExitStatus RunSession(const std::vector<Case>& cases, verify::ProblemSource& source,
                      const SessionOptions& options) {
  if (cases.empty()) {
    throw BadInput(options.title, "has no case", "add one: a run without cases proves nothing");
  }
  const InterruptGuard interrupt;
  source.Preload(cases);
  const verify::RunProvenance provenance = Provenance(cases, options, source);
  std::optional<verify::RunFileWriter> writer;
  if (!options.out.empty()) {
    writer.emplace(options.out, provenance);
  }
  std::optional<JsonStream> json;
  if (options.json) {
    json.emplace(stdout, options.schema);
  } else if (!options.quiet) {
    PrintHeader(options, provenance);
    std::fflush(stdout);
  }

  SummaryTable table;
  Progress progress(cases.size(), options.quiet);
  std::set<std::string> launched;
  const auto sink = [&](const verify::CaseRecord& record) {
    if (writer) {
      writer->Append(record);
    }
    if (json) {
      json->Append(record);
    } else {
      table.Add(record);
    }
    launched.insert(record.kernels.begin(), record.kernels.end());
    progress.Step(record.verdict == verify::Verdict::kPassed);
  };
  const verify::SweepOptions sweep{options.device, options.judge, options.jobs,
                                   options.allowed_skips};
  const verify::Summary summary =
      verify::RunCases(cases, source, sweep, sink, InterruptGuard::Requested);
  progress.Clear();
  bool complete = summary.cases == cases.size();
  std::optional<properties::SearchResult> asked;
  if (complete && options.properties.draws > 0) {
    asked = AskProperties(options.properties, options.device);
    complete = asked->complete;
  }
  if (writer) {
    writer->Finish(complete, [&](hid_t file) {
      if (asked) {
        properties::WriteProperties(file, asked->records);
      }
    });
  }
  const verify::UnusedKernels unused =
      complete ? verify::FindUnused(options.device.overrides, launched, options.allowed_unused)
               : verify::UnusedKernels();
  const bool passed = summary.passed() && !unused.whole_file && (!asked || Passed(*asked));
  if (json) {
    nlohmann::ordered_json totals = ToJson(summary);
    totals["passed_all"] = passed;
    totals["unused_kernels"] = unused.lines;
    totals["complete"] = complete;
    if (asked) {
      totals["properties"] = ToJson(*asked);
    }
    json->Finish(std::move(totals));
  } else if (!options.quiet || !passed) {
    const bool colour = WantsColour(stdout);
    table.Print(stdout, colour, options.suffix);
    if (asked) {
      PrintProperties(stdout, *asked, colour, options.suffix);
    }
    PrintUnused(unused);
    std::printf("\n%s: %s\n",
                passed ? Paint("PASSED", Colour::kGreen, colour).c_str()
                       : Paint("FAILED", Colour::kRed, colour).c_str(),
                VerdictLine(summary).c_str());
    if (writer) {
      std::printf("run file: %s\n", options.out.c_str());
    }
  }
  if (!complete) {
    std::fprintf(stderr, "voltcheck: interrupted after %llu of %zu cases%s\n",
                 static_cast<unsigned long long>(summary.cases), cases.size(),
                 writer ? ("; they are in " + options.out).c_str() : "");
    return ExitStatus::kInterrupted;
  }
  return passed ? ExitStatus::kPassed : ExitStatus::kFailed;
}

}  // namespace voltcheck::tools
