#include "tools/exec_schedules.h"

#include <algorithm>
#include <set>

#include "fixtures/case/error.h"

namespace voltcheck::tools {
namespace {

constexpr std::uint64_t kMostSchedules = 1'000'000;

std::string CheckersOf(const ExecRun& run) {
  std::set<std::string> names;
  for (const kernels::Finding& finding : run.findings) {
    names.insert(finding.checker);
  }
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

}  // namespace

void AddScheduleOptions(Arguments& arguments) {
  arguments.Value("schedule", "0",
                  "simulator: a seed for the order of CTAs, warps and lanes; exhaustive: all "
                  "orders of a tiny grid; steps:...: one of these again");
  arguments.Value("schedules", "1", "simulator: seeds to try, from --schedule on");
  arguments.Value("interleavings", "100000", "simulator: the most that --schedule exhaustive runs");
  arguments.Value("limit", "1099511627776",
                  "simulator: lane instructions after which the launch is stopped");
}

void ReadSchedule(const Arguments& arguments, simulator::Options& options) {
  const std::string schedule = arguments.Text("schedule");
  options.instruction_limit = arguments.Number("limit");
  const bool seed = !schedule.empty() && schedule.find_first_not_of("0123456789") == schedule.npos;
  if (seed) {
    options.schedule = arguments.Number("schedule");
  } else if (schedule == "exhaustive") {
    options.interleavings = arguments.Number("interleavings");
    if (options.interleavings == 0) {
      throw BadInput("--interleavings 0", "runs nothing", "use 1 or more");
    }
  } else {
    options.steps = simulator::ParseSteps("--schedule", schedule);
  }
  if (!seed && ScheduleCount(arguments) != 1) {
    throw BadInput("--schedules", "needs a seed to start from", "use a number with --schedule");
  }
}

std::uint64_t ScheduleCount(const Arguments& arguments) {
  return std::max<std::uint64_t>(1, arguments.Number("schedules", kMostSchedules));
}

ExecRun RunSchedules(std::uint64_t first, std::uint64_t count, const std::string& kernel,
                     const std::function<ExecRun(std::uint64_t seed)>& launch) {
  ExecRun run = launch(first);
  const std::string checkers = CheckersOf(run);
  for (std::uint64_t seed = first + 1; seed < first + count; ++seed) {
    const ExecRun other = launch(seed);
    const bool same_findings = CheckersOf(other) == checkers;
    if (same_findings && other.contents == run.contents) {
      continue;
    }
    kernels::Finding finding;
    finding.checker = "nondeterministic";
    finding.kernel = kernel;
    finding.message =
        "the kernel has other " +
        (same_findings ? std::string("values in its buffers")
                       : "findings (" + checkers + " and " + CheckersOf(other) + ")") +
        " under --schedule " + std::to_string(first) + " and --schedule " + std::to_string(seed);
    run.findings.push_back(std::move(finding));
    break;
  }
  return run;
}

std::string ExplorationText(const simulator::Exploration& exploration) {
  const auto count = [](std::uint64_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  return "ran " + count(exploration.interleavings, "interleaving") + ", " +
         count(exploration.operations, "visible operation") + ", and gave up " +
         count(exploration.pruned, "repetition") +
         (exploration.complete ? ": all orders that can differ\n"
                               : ": not all orders; raise --interleavings for more\n");
}

nlohmann::ordered_json ExplorationJson(const simulator::Exploration& exploration) {
  return {{"interleavings", exploration.interleavings},
          {"repetitions", exploration.pruned},
          {"operations", exploration.operations},
          {"complete", exploration.complete},
          {"differing", exploration.differing}};
}

}  // namespace voltcheck::tools
