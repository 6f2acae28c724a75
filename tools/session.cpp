#include "tools/session.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "kernels/kernel_set.h"
#include "tools/interrupt.h"
#include "tools/json_record.h"
#include "tools/summary_table.h"
#include "tools/terminal.h"
#include "verify/build_info.h"
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
              options.device.overrides.empty() ? "" : " (some replaced by --kernels)",
              p.tool_version.c_str(), p.commit.c_str());
}

}  // namespace

void AddSessionOptions(Arguments& arguments) {
  arguments.Value("device", "simulator", "simulator or cuda");
  arguments.Value("schedule", "0",
                  "simulator: order of CTAs, warps and lanes; 0 is the natural one");
  arguments.Values("kernels", "PTX file whose entries replace the built-in ones; may be repeated");
  arguments.Value("fixtures", "", "folder with fixture files (default: the shipped ones)");
  arguments.Value("jobs", "0", "cases in flight, 0 for one per core; never changes a result");
  arguments.Flag("json", "print JSON instead of the table");
  arguments.Flag("quiet", "print nothing but failures");
}

SessionOptions ReadSessionOptions(const Arguments& arguments, const std::string& command) {
  SessionOptions options;
  options.device.kind = arguments.Text("device");
  options.device.schedule = arguments.Number("schedule");
  const std::vector<std::string> kernels = arguments.Texts("kernels");
  options.device.overrides = verify::ReadOverrides(kernels);
  const std::string fixtures = arguments.Text("fixtures");
  options.fixtures = fixtures.empty() ? DefaultFixturesFolder() : fixtures;
  options.jobs = static_cast<int>(arguments.Number("jobs", kMostJobs));
  options.json = arguments.Has("json");
  options.quiet = arguments.Has("quiet");
  for (const std::string& path : kernels) {
    options.suffix += " --kernels '" + path + "'";
  }
  if (!fixtures.empty()) {
    options.suffix += " --fixtures '" + fixtures + "'";
  }
  options.arguments = command + " --device " + options.device.kind;
  if (options.device.kind == "simulator") {
    options.arguments += " --schedule " + std::to_string(options.device.schedule);
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
  const auto sink = [&](const verify::CaseRecord& record) {
    if (writer) {
      writer->Append(record);
    }
    if (json) {
      json->Append(record);
    } else {
      table.Add(record);
    }
    progress.Step(record.verdict == verify::Verdict::kPassed);
  };
  const verify::Summary summary = verify::RunCases(cases, source, options.device, options.jobs,
                                                   sink, InterruptGuard::Requested);
  progress.Clear();
  const bool complete = summary.cases == cases.size();
  if (writer) {
    writer->Finish(complete);
  }
  if (json) {
    nlohmann::ordered_json totals = ToJson(summary);
    totals["complete"] = complete;
    json->Finish(std::move(totals));
  } else if (!options.quiet || !summary.passed()) {
    const bool colour = WantsColour(stdout);
    table.Print(stdout, colour, options.suffix);
    std::printf("\n%s: %s\n",
                summary.passed() ? Paint("PASSED", Colour::kGreen, colour).c_str()
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
  return summary.passed() ? ExitStatus::kPassed : ExitStatus::kFailed;
}

}  // namespace voltcheck::tools
