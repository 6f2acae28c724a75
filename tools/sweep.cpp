// `voltcheck sweep`: any grid or random sample of cases, judged as the gate judges.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <unordered_map>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/tactic_choice.h"
#include "fixtures/generate.h"
#include "tools/arguments.h"
#include "tools/case_list.h"
#include "tools/dry_run.h"
#include "tools/session.h"
#include "verify/filter.h"
#include "verify/gpu_choice.h"
#include "verify/random_cases.h"
#include "verify/scale/cost_model.h"
#include "verify/scale/distributed_run.h"
#include "verify/scale/ranks.h"
#include "verify/scale/shards.h"
#include "verify/stopwatch.h"

namespace voltcheck::tools {
namespace {

constexpr std::uint64_t kMostSeconds = 1'000'000;
constexpr std::uint64_t kMostCases = 1'000'000;

// What the canonical arguments hold of an option that was given.
void AppendOption(const Arguments& arguments, const char* name, std::string& line) {
  if (arguments.Has(name)) {
    line.append(" --").append(name).append(" ").append(arguments.Text(name));
  }
}

std::string CanonicalArguments(const Arguments& arguments) {
  std::string line = "sweep";
  for (const std::string& grid : arguments.Texts("grid")) {
    line += " --grid " + grid;
  }
  if (arguments.Has("suite")) {
    const std::string suite = arguments.Text("suite");
    line += " --suite " + suite.substr(suite.rfind('/') + 1);
  }
  AppendOption(arguments, "random", line);
  AppendOption(arguments, "seed", line);
  for (const std::string& filter : arguments.Texts("filter")) {
    line += " --filter " + filter;
  }
  AppendOption(arguments, "tactics", line);
  return line;
}

// Grids in the order given, then the suite; each case once.
std::vector<Case> ListedCases(const Arguments& arguments, std::uint64_t seed,
                              const std::string& fixtures, verify::ProblemSource& source) {
  std::vector<Case> listed;
  for (const std::string& grid : arguments.Texts("grid")) {
    for (Case& c : ParseGrid(grid)) {
      c.seed += seed;
      listed.push_back(std::move(c));
    }
  }
  if (arguments.Has("suite")) {
    const std::vector<Case> more = CasesOfSuite(arguments.Text("suite"), seed, fixtures, source);
    listed.insert(listed.end(), more.begin(), more.end());
  }
  return listed;
}

std::vector<Case> Unique(const std::vector<Case>& cases) {
  std::set<std::string> seen;
  std::vector<Case> unique;
  for (const Case& c : cases) {
    if (seen.insert(ToDescriptor(c)).second) {
      unique.push_back(c);
    }
  }
  return unique;
}

std::vector<Case> SweepCases(const Arguments& arguments, const std::string& fixtures,
                             verify::ProblemSource& source) {
  const std::uint64_t seed = arguments.Number("seed");
  const bool is_listed = arguments.Has("grid") || arguments.Has("suite");
  if (!is_listed && !arguments.Has("random")) {
    throw BadInput("voltcheck sweep", "needs --grid, --suite or --random",
                   "see 'voltcheck sweep --help'");
  }
  std::vector<Case> cases;
  if (!is_listed) {
    cases = verify::RandomCases(arguments.Number("random", kMostCases), seed);
  } else if (arguments.Has("random")) {
    // The seed draws the sample; the cases keep their own.
    cases = verify::SampleCases(Unique(ListedCases(arguments, 0, fixtures, source)),
                                arguments.Number("random", kMostCases), seed);
  } else {
    cases = ListedCases(arguments, seed, fixtures, source);
  }
  cases = WithTactics(cases, arguments.Text("tactics"));
  for (const std::string& filter : arguments.Texts("filter")) {
    std::erase_if(cases, [&](const Case& c) { return !verify::FitsFilter(c, filter); });
  }
  return Unique(cases);
}

// Numbers that are equal for cases which share generated weights.
std::vector<std::size_t> Families(const std::vector<Case>& cases) {
  std::unordered_map<std::string, std::size_t> numbers;
  std::vector<std::size_t> families;
  families.reserve(cases.size());
  for (const Case& c : cases) {
    families.push_back(numbers.try_emplace(fixtures::WeightsKey(c), numbers.size()).first->second);
  }
  return families;
}

// The sweep of this process, alone or as one of several ranks.
ExitStatus RunSweep(const Words& words, verify::Ranks* ranks, const verify::Ranks::Place& place) {
  const verify::Stopwatch since_start;
  Arguments arguments(
      "sweep --grid GRID | --suite NAME | --random N [options]",
      "Runs any set of cases as the gate runs its own: same tests, same verdicts, one run file.\n"
      "--random N draws N cases from the grids and the suite, or without these from the whole\n"
      "descriptor space; the same seed draws the same cases. Started by mpirun, all ranks share\n"
      "the work and write one run file (MPI: " +
          verify::MpiText() + ").");
  arguments.Values("grid", "product of axes, 'h=256;t=1,2,8;seed=1..5'; may be repeated");
  arguments.Value("suite", "", "built-in suite, or a file with one grid a line");
  arguments.Value("random", "", "number of cases to draw");
  arguments.Value("seed", "0", "of the draw; without --random it is added to each case's seed");
  arguments.Values(
      "filter", "keep cases with key=value,...; a value may be a|b or end in *; may be repeated");
  arguments.Value("tactics", "default", std::string(kTacticChoiceHelp).c_str());
  arguments.Value("out", "sweep.h5", "run file");
  arguments.Value("shard", "1/1", "part k of n, 'k/n', of equal predicted cost; see merge");
  arguments.Flag("dry-run", "say what the sweep would take in time and disk, and run a few cases");
  arguments.Value("rank-timeout", "30", "seconds after which a silent MPI rank is given up");
  arguments.Flag("resume", "go on where an interrupted run of the same arguments stopped");
  AddSessionOptions(arguments);
  if (!arguments.Parse(words)) {
    return ExitStatus::kPassed;
  }
  SessionOptions options = ReadSessionOptions(arguments, CanonicalArguments(arguments));
  options.ranks = ranks;
  options.device.gpus = verify::ShareOfGpus(options.device.gpus, place.rank, place.size);
  options.seed = arguments.Number("seed");
  options.schema = "voltcheck.sweep/1";
  options.out = arguments.Text("out");
  options.resume = arguments.Has("resume");
  verify::ProblemSource source(options.fixtures);
  const std::vector<Case> cases = SweepCases(arguments, options.fixtures, source);
  options.shard = verify::ParseShard(arguments.Where("shard"), arguments.Text("shard"));
  options.costs = verify::PredictedCosts(cases);
  options.order = verify::FamiliesTogether(verify::CasesOfShard(options.costs, options.shard),
                                           options.costs, Families(cases));
  options.title = "sweep of " + std::to_string(options.order.size()) + " cases";
  if (!options.shard.whole()) {
    options.title += ", shard " + verify::ToString(options.shard);
    options.may_leave_unused = true;  // another shard may run them; merge looks at all
  }
  if (options.order.empty()) {
    throw BadInput(options.title, "has no case",
                   cases.empty() ? "add one: a run without cases proves nothing"
                                 : "use no more shards than cases");
  }
  if (arguments.Has("dry-run")) {
    return DryRun(cases, source, options, since_start);
  }
  options.silence_seconds = static_cast<double>(arguments.Number("rank-timeout", kMostSeconds));
  return RunSession(cases, source, options);
}

}  // namespace

ExitStatus Sweep(const Words& words) {
  if (!verify::StartedByMpi()) {
    return RunSweep(words, nullptr, {});
  }
  const std::unique_ptr<verify::Ranks> ranks = verify::OpenRanks();
  const verify::Ranks::Place place = ranks->OnHost();
  try {
    const ExitStatus status = RunSweep(words, ranks.get(), place);
    std::fflush(stdout);
    ranks->Finish(static_cast<int>(status));
    return status;
  } catch (const verify::LeaderLost& lost) {
    std::fprintf(stderr, "voltcheck: rank %d: %s\n", ranks->rank(), lost.what());
    ranks->Lose();
    ranks->Finish(static_cast<int>(lost.status()));
    return lost.status();
  } catch (const Error& error) {
    if (ranks->rank() > 0) {  // rank 0 says it
      verify::LeaveRun(*ranks, error.what());
      ranks->Finish(static_cast<int>(error.status()));
      return error.status();
    }
    std::fprintf(stderr, "voltcheck: %s\n", error.what());
    ranks->Finish(static_cast<int>(error.status()));
    return error.status();
  }
}

}  // namespace voltcheck::tools
