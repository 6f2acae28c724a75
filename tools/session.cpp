#include "tools/session.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

#include "kernels/kernel_set.h"
#include "kernels/plugin/plugin.h"
#include "kernels/simulator/ptx/contraction.h"
#include "tools/interrupt.h"
#include "tools/json_record.h"
#include "tools/judge_arguments.h"
#include "tools/summary_table.h"
#include "tools/terminal.h"
#include "verify/filter.h"
#include "verify/gpu_choice.h"
#include "verify/journal/identity.h"
#include "verify/journal/recorded_run.h"
#include "verify/kernel_usage.h"
#include "verify/properties/property_table.h"
#include "verify/run_file.h"
#include "verify/scale/distributed_run.h"
#include "verify/scale/shard_file.h"
#include "verify/sweep.h"

namespace voltcheck::tools {
namespace {

constexpr std::uint64_t kMostJobs = 1024;

// The journal of the finished cases, beside the run file.
void OpenJournal(const SessionOptions& options, const verify::RunProvenance& provenance,
                 std::size_t cases, std::optional<verify::RunJournal>& journal) {
  if (!options.resume && !verify::JournalsBeside(options.out).empty()) {
    std::fprintf(stderr,
                 "voltcheck: note: cases that an interrupted run finished for %s are dropped; "
                 "--resume would have kept them\n",
                 options.out.c_str());
  }
  journal.emplace(options.out, verify::IdentityText(provenance, verify::HashOfBinary()), cases,
                  options.resume);
  verify::RemoveTornFiles(options.out);
}

// The run as all ranks see it.
verify::DistributedRun Shared(const SessionOptions& options,
                              const verify::RunProvenance& provenance) {
  verify::DistributedRun shared;
  shared.out = options.out;
  shared.identity = verify::IdentityText(provenance, verify::HashOfBinary());
  shared.order = options.order;
  shared.costs = options.costs;
  shared.resume = options.resume;
  shared.jobs = std::max(1, options.jobs);  // a launcher starts one rank for each core
  shared.silence_seconds = options.silence_seconds;
  return shared;
}

std::vector<std::size_t> OrderOf(std::size_t cases, const SessionOptions& options) {
  std::vector<std::size_t> order = options.order;
  if (order.empty()) {
    order.resize(cases);
    std::iota(order.begin(), order.end(), std::size_t{0});
  }
  if (options.out.empty()) {
    std::sort(order.begin(), order.end());  // no journal to take records from later
  }
  return order;
}

void PrintHeader(const SessionOptions& options, const verify::RunProvenance& p) {
  std::printf("%s on %s, numerics %s\n", options.title.c_str(), p.device.name.c_str(),
              p.device.numerics.c_str());
  if (options.device.implementation != nullptr) {
    std::printf("%s\n", options.device.implementation->name().c_str());
  }
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
  arguments.Value("gpus", "", "cuda: all, or numbers such as 0,2; cases are spread over them");
  arguments.Value("schedule", "0",
                  "simulator: order of CTAs, warps and lanes; 0 is the natural one");
  arguments.Value("check", "all", "simulator: all checkers, or none but bounds and barriers");
  arguments.Values("kernels", "PTX file whose entries replace the built-in ones; may be repeated");
  arguments.Value("plugin", "", "shared library with other kernels (kernels/voltcheck_kernel.h)");
  arguments.Value("recipe", "", "JSON file that says how the kernels of PTX files are launched");
  arguments.Value("contraction", "off",
                  "on: fuse what an assembler may fuse in the --kernels files");
  arguments.Value("fixtures", "", "folder with fixture files (default: the shipped ones)");
  arguments.Value("jobs", "0", "cases in flight, 0 for one per core; never changes a result");
  arguments.Flag("json", "print JSON instead of the table");
  arguments.Flag("json-progress", "progress as a line of JSON a second on standard error");
  arguments.Flag("quiet", "print nothing but failures");
  AddJudgeOptions(arguments);
}

namespace {

// Other people's kernels, in the place of the built-in ones.
void ReadImplementation(const Arguments& arguments, SessionOptions& options) {
  if (arguments.Has("plugin") && arguments.Has("recipe")) {
    throw BadInput("--plugin", "does not go with --recipe", "give one of them");
  }
  if (arguments.Has("plugin")) {
    const std::string path = arguments.Text("plugin");
    options.device.implementation = plugin::LoadPlugin(path, options.device.kind);
    options.suffix += " --plugin '" + path + "'";
  }
  if (arguments.Has("recipe")) {
    const std::string path = arguments.Text("recipe");
    options.recipe = recipe::ReadRecipeFiles(path);
    options.device.implementation = recipe::MakeRecipe(path, options.recipe);
    options.suffix += " --recipe '" + path + "'";
  }
}

}  // namespace

SessionOptions ReadSessionOptions(const Arguments& arguments, const std::string& command) {
  SessionOptions options;
  options.device.kind = arguments.Text("device");
  const std::string gpus = arguments.Text("gpus");
  if (options.device.kind == "cuda") {
    options.device.gpus = verify::ChooseGpus(gpus);
  } else if (!gpus.empty()) {
    throw BadInput("--gpus", "is for GPUs", "add --device cuda");
  }
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
  ReadImplementation(arguments, options);
  const std::string fixtures = arguments.Text("fixtures");
  options.fixtures = fixtures.empty() ? DefaultFixturesFolder() : fixtures;
  options.jobs = static_cast<int>(arguments.Number("jobs", kMostJobs));
  options.json = arguments.Has("json");
  options.quiet = arguments.Has("quiet");
  options.json_progress = arguments.Has("json-progress");
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
  options.replay = "--device " + options.device.kind;
  if (options.device.kind == "simulator") {
    options.replay += " --schedule " + std::to_string(options.device.schedule);
    const std::string none = options.device.all_checks ? "" : " --check none";
    options.replay += none;
    options.suffix += none;
  }
  options.replay += verify::CommandLine(options.judge);
  options.replay += options.judge.breakdowns ? " --breakdown" : "";
  options.replay += contraction == "on" ? " --contraction on" : "";
  for (const std::string& filter : options.allowed_skips) {
    options.replay += " --allow-skip " + filter;
  }
  options.arguments = command + " " + options.replay;
  if (options.device.implementation != nullptr) {
    // Without its path, so that it is in no options to repeat: a recipe is in the file itself, a
    // plugin must be named again.
    options.arguments += options.device.implementation->arguments();
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

verify::RunProvenance Provenance(const std::vector<Case>& cases, const SessionOptions& options,
                                 const verify::ProblemSource& source) {
  verify::RunProvenance p = verify::ProvenanceOfThisBuild(options.arguments);
  p.options = options.replay;
  p.planned = cases.size();
  p.cases_hash = verify::HashOfCases(cases);
  p.overrides = options.device.overrides;
  p.recipe_name = options.recipe.name;
  p.recipe_text = options.recipe.text;
  p.recipe_modules = options.recipe.modules;
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
  p.kernels_hash = kernels::KernelSet(*device, options.device.modules()).hash();
  return p;
}

verify::SweepOptions HowToRun(const SessionOptions& options) {
  verify::SweepOptions sweep;
  sweep.device = options.device;
  sweep.judge = options.judge;
  sweep.jobs = options.jobs;
  sweep.allowed_skips = options.allowed_skips;
  return sweep;
}

ExitStatus RunSession(const std::vector<Case>& cases, verify::ProblemSource& source,
                      const SessionOptions& options) {
  if (cases.empty()) {
    throw BadInput(options.title, "has no case", "add one: a run without cases proves nothing");
  }
  const InterruptGuard interrupt;
  source.Preload(cases);
  const verify::RunProvenance provenance = Provenance(cases, options, source);
  if (options.ranks != nullptr && options.ranks->rank() > 0) {
    verify::FollowRun(*options.ranks, Shared(options, provenance), cases, source, HowToRun(options),
                      InterruptGuard::Requested);
    return ExitStatus::kPassed;
  }
  std::optional<verify::RunFileWriter> writer;
  std::optional<verify::RunJournal> journal;
  if (!options.out.empty()) {
    writer.emplace(options.out, provenance);
    OpenJournal(options, provenance, cases.size(), journal);
  }
  std::optional<JsonStream> json;
  if (options.json) {
    json.emplace(stdout, options.schema);
  } else if (!options.quiet) {
    PrintHeader(options, provenance);
    std::fflush(stdout);
  }

  SummaryTable table;
  verify::RecordedRun run{journal ? &*journal : nullptr, OrderOf(cases.size(), options), {}, {}};
  const std::size_t planned = run.order.size();
  Progress progress(planned - (journal ? journal->resumed() : 0), options.quiet);
  if (options.json_progress) {
    progress.AsJson();
  }
  run.progress = [&](const verify::CaseRecord& record) {
    progress.Step(record.verdict == verify::Verdict::kPassed);
  };
  std::set<std::string> launched;
  run.consume = [&](const verify::CaseRecord& record) {
    if (writer) {
      writer->Append(record, record.index);
    }
    if (json) {
      json->Append(record);
    } else {
      table.Add(record);
    }
    if (options.extra != nullptr) {
      options.extra->Add(record);
    }
    launched.insert(record.kernels.begin(), record.kernels.end());
  };
  const verify::SweepOptions sweep = HowToRun(options);
  bool keep_going = true;
  if (options.ranks != nullptr) {
    verify::DistributedRun shared = Shared(options, provenance);
    shared.progress = [&](const verify::CaseNote& note) { progress.Step(note.passed == 1); };
    shared.note = [&](const std::string& line) {
      std::fprintf(stderr, "voltcheck: note: %s\n", line.c_str());
    };
    verify::LeadRun(*options.ranks, shared, cases, source, sweep, *journal,
                    InterruptGuard::Requested);
    keep_going = false;  // what is finished is in the journals
  }
  const verify::Summary summary = verify::RunRecorded(
      cases, source, sweep, run, [&] { return !keep_going || InterruptGuard::Requested(); });
  progress.Clear();
  bool complete = summary.cases == planned;
  std::optional<properties::SearchResult> asked;
  if (complete && (options.properties.draws > 0 || !options.properties.regressions.empty())) {
    asked = AskProperties(options.properties, options.device);
    complete = asked->complete;
  }
  if (writer) {
    writer->Finish(complete, [&](hid_t file) {
      if (asked) {
        properties::WriteProperties(file, asked->records);
      }
      if (!options.shard.whole()) {
        verify::WriteShard(file, options.shard, journal->Synced());
      }
    });
    if (complete) {
      journal->Remove();
    }
  }
  const verify::UnusedKernels unused =
      complete && !options.may_leave_unused
          ? verify::FindUnused(options.device.modules(), launched, options.allowed_unused)
          : verify::UnusedKernels();
  if (complete && options.extra != nullptr) {
    options.extra->Finish();
  }
  const PropertyAllowance allowance{
      options.device.implementation != nullptr,
      std::find(options.allowed_skips.begin(), options.allowed_skips.end(),
                verify::kDeclinedFilter) != options.allowed_skips.end()};
  const bool passed = summary.passed() && !unused.whole_file &&
                      (!asked || Passed(*asked, allowance)) &&
                      (options.extra == nullptr || options.extra->Passed());
  if (json) {
    nlohmann::ordered_json totals = ToJson(summary);
    totals["passed_all"] = passed && complete;
    totals["unused_kernels"] = unused.lines;
    totals["complete"] = complete;
    if (asked) {
      totals["properties"] = ToJson(*asked);
    }
    if (options.extra != nullptr) {
      totals.update(nlohmann::ordered_json::parse(options.extra->Json()));
    }
    json->Finish(std::move(totals));
  } else if (!options.quiet || !passed) {
    const bool colour = WantsColour(stdout);
    table.Print(stdout, colour, options.suffix);
    if (asked) {
      PrintProperties(stdout, *asked, allowance, colour, options.suffix);
    }
    if (options.extra != nullptr) {
      options.extra->Print(stdout, colour);
    }
    PrintUnused(unused);
    const std::string verdict = !passed    ? Paint("FAILED", Colour::kRed, colour)
                                : complete ? Paint("PASSED", Colour::kGreen, colour)
                                           : Paint("INCOMPLETE", Colour::kYellow, colour);
    std::printf("\n%s: %s\n", verdict.c_str(), VerdictLine(summary).c_str());
    if (writer) {
      std::printf("run file: %s\n", options.out.c_str());
    }
  }
  if (!complete) {
    std::fprintf(stderr, "voltcheck: interrupted after %llu of %zu cases%s\n",
                 static_cast<unsigned long long>(summary.cases), planned,
                 writer ? ("; they are in " + options.out + ", --resume goes on").c_str() : "");
    return ExitStatus::kInterrupted;
  }
  return passed ? ExitStatus::kPassed : ExitStatus::kFailed;
}

}  // namespace voltcheck::tools
