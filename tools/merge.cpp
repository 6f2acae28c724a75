// `voltcheck merge`: the shards of a sweep to the run file that one process would have written.
#include <cstdio>
#include <optional>
#include <set>

#include "fixtures/case/error.h"
#include "tools/arguments.h"
#include "tools/interrupt.h"
#include "tools/json_record.h"
#include "tools/summary_table.h"
#include "tools/terminal.h"
#include "verify/filter.h"
#include "verify/in_child.h"
#include "verify/kernel_usage.h"
#include "verify/report/run_check.h"
#include "verify/run_file.h"
#include "verify/scale/shard_file.h"

namespace voltcheck::tools {
namespace {

// The filters of --allow-skip that the run had, from the options that its shards hold.
std::vector<std::string> AllowedSkips(const std::string& options) {
  constexpr std::string_view kOption = "--allow-skip ";
  std::vector<std::string> filters;
  for (std::size_t at = options.find(kOption); at != std::string::npos;
       at = options.find(kOption, at)) {
    at += kOption.size();
    filters.push_back(options.substr(at, options.find(' ', at) - at));
  }
  return filters;
}

bool IsAllowedSkip(const verify::CaseRecord& record, const std::vector<std::string>& filters) {
  return record.verdict == verify::Verdict::kSkipped &&
         verify::AllowsSkip(record.c, record.reason, filters);
}

}  // namespace

ExitStatus Merge(const Words& words) {
  Arguments arguments("merge SHARD.h5... --out RUN.h5 [options]",
                      "Makes one run file of the shards of a sweep, the same bytes as the sweep "
                      "without --shard writes.\nThe exit status is that of the whole sweep.");
  arguments.Positional("shard", -1);
  arguments.Value("out", "merged.h5", "run file");
  arguments.Values("allow-unused", "entry of --kernels that no case needs to run; may be repeated");
  arguments.Flag("json", "print JSON instead of the table");
  arguments.Flag("quiet", "print nothing but failures");
  if (!arguments.Parse(words)) {
    return ExitStatus::kPassed;
  }
  const std::vector<std::string> paths = arguments.Texts("shard");
  if (paths.empty()) {
    throw BadInput("voltcheck merge", "needs the run files of shards",
                   "see 'voltcheck merge --help'");
  }
  const InterruptGuard interrupt;
  for (const std::string& path : paths) {
    verify::InChild(path, [&path] {
      report::CheckRunFile(path, true);  // a shard may have got no case
      return std::string();
    });
  }
  const verify::ShardSet shards = verify::OpenShards(paths);
  const std::vector<std::string> allowed_skips = AllowedSkips(shards.provenance.options);
  const std::string out = arguments.Text("out");
  verify::RunFileWriter writer(out, shards.provenance);
  std::optional<JsonStream> json;
  if (arguments.Has("json")) {
    json.emplace(stdout, "voltcheck.sweep/1");
  }
  SummaryTable table;
  verify::Summary summary;
  std::set<std::string> launched;
  Progress progress(shards.provenance.planned, arguments.Has("quiet"));
  for (std::uint64_t i = 0; i < shards.provenance.planned; ++i) {
    if (InterruptGuard::Requested()) {
      progress.Clear();
      std::fprintf(stderr, "voltcheck: interrupted; nothing was written\n");
      return ExitStatus::kInterrupted;
    }
    const verify::CaseRecord record = shards.records->Read(i);
    writer.Append(record, i);
    summary.Add(record.verdict, IsAllowedSkip(record, allowed_skips));
    launched.insert(record.kernels.begin(), record.kernels.end());
    if (json) {
      json->Append(record);
    } else {
      table.Add(record);
    }
    progress.Step(record.verdict == verify::Verdict::kPassed);
  }
  progress.Clear();
  writer.Finish(true);
  const verify::UnusedKernels unused =
      verify::FindUnused(shards.provenance.overrides, launched, arguments.Texts("allow-unused"));
  const bool passed = summary.passed() && !unused.whole_file;
  if (json) {
    nlohmann::ordered_json totals = ToJson(summary);
    totals["passed_all"] = passed;
    totals["unused_kernels"] = unused.lines;
    totals["complete"] = true;
    json->Finish(std::move(totals));
  } else if (!arguments.Has("quiet") || !passed) {
    const bool colour = WantsColour(stdout);
    table.Print(stdout, colour, "");
    for (const std::string& line : unused.lines) {
      std::printf("%s: %s\n", unused.whole_file ? "untested" : "note", line.c_str());
    }
    std::printf("\n%s: %s\nrun file: %s\n",
                passed ? Paint("PASSED", Colour::kGreen, colour).c_str()
                       : Paint("FAILED", Colour::kRed, colour).c_str(),
                VerdictLine(summary).c_str(), out.c_str());
  }
  return passed ? ExitStatus::kPassed : ExitStatus::kFailed;
}

}  // namespace voltcheck::tools
