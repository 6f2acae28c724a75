// `voltcheck mutate`: how strong is the gate?
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "fixtures/case/error.h"
#include "kernels/kernel_set.h"
#include "tools/arguments.h"
#include "tools/interrupt.h"
#include "tools/terminal.h"
#include "verify/device_options.h"
#include "verify/mutation/assembler.h"
#include "verify/mutation/campaign.h"
#include "verify/mutation/journal.h"
#include "verify/mutation/mutant_table.h"
#include "verify/mutation/plan_operators.h"
#include "verify/mutation/ptx_operators.h"

namespace voltcheck::tools {
namespace {

using Json = nlohmann::ordered_json;
using mutation::Campaign;
using mutation::Fate;
using mutation::HonestFigures;
using mutation::MutantResult;

constexpr std::uint64_t kMostJobs = 1024;

std::vector<std::string> SplitList(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

std::string OperatorHelp() {
  std::string help = "operators (--operators NAME,NAME):\n";
  const auto add = [&](const auto& operators) {
    for (const auto& op : operators) {
      std::string line = "  " + std::string(op.name);
      line.resize(22, ' ');
      help += line + std::string(op.summary) + "\n";
    }
  };
  add(mutation::PtxOperators());
  add(mutation::PlanOperators());
  return help;
}

Json ToJson(const MutantResult& r) {
  Json rejected = Json::object();
  for (std::size_t i = 0; i < mutation::kPolicies; ++i) {
    rejected[std::string(mutation::TolerancePolicies()[i].name)] = r.rejected[i];
  }
  return {{"id", r.mutant.id},           {"operator", r.mutant.op},
          {"kernel", r.mutant.kernel},   {"line", r.mutant.line},
          {"change", r.mutant.what},     {"fate", mutation::ToString(r.fate)},
          {"reason", r.reason},          {"verdict", verify::ToString(r.killer.verdict)},
          {"case", r.killer.descriptor}, {"schedule", r.schedule},
          {"cases_run", r.cases},        {"deep", r.deep},
          {"rejected", rejected},        {"seconds", r.seconds}};
}

Json ToJson(const HonestFigures& honest) {
  Json policies = Json::object();
  for (std::size_t i = 0; i < mutation::kPolicies; ++i) {
    policies[std::string(mutation::TolerancePolicies()[i].name)] = honest.policy_alarms[i];
  }
  return {{"cases", honest.cases},
          {"voltcheck", honest.alarms},
          {"policies", policies},
          {"examples", honest.examples}};
}

// Non-equivalent mutants that policy `i` rejects.
std::uint64_t RejectedBy(const Campaign& campaign, std::size_t i) {
  std::uint64_t count = 0;
  for (const MutantResult& r : campaign.results) {
    const bool real = r.fate == Fate::kCaught || r.fate == Fate::kSurvived;
    count += real && r.rejected[i] ? 1 : 0;
  }
  return count;
}

Json Summary(const Campaign& campaign, const HonestFigures& honest) {
  Json policies = Json::object();
  for (std::size_t i = 0; i < mutation::kPolicies; ++i) {
    policies[std::string(mutation::TolerancePolicies()[i].name)] = RejectedBy(campaign, i);
  }
  return {{"mutants", campaign.mutants()},
          {"caught", campaign.Count(Fate::kCaught)},
          {"equivalent", campaign.Count(Fate::kEquivalent)},
          {"survivors", campaign.Count(Fate::kSurvived)},
          {"discarded", campaign.Count(Fate::kDiscarded)},
          {"caught_share", campaign.CaughtShare()},
          {"median_kill_seconds", campaign.MedianKill()},
          {"caught_by_policy", policies},
          {"honest", ToJson(honest)},
          {"complete", campaign.complete}};
}

void PrintTable(const Campaign& campaign, const HonestFigures& honest) {
  const std::uint64_t real = campaign.Count(Fate::kCaught) + campaign.Count(Fate::kSurvived);
  std::printf("%-44s %8s %8s   false alarms in %llu honest cases\n", "judged by", "caught",
              "missed", static_cast<unsigned long long>(honest.cases));
  const auto row = [&](const std::string& name, std::uint64_t caught, std::uint64_t alarms) {
    std::printf("%-44s %8llu %8llu   %llu\n", name.c_str(), static_cast<unsigned long long>(caught),
                static_cast<unsigned long long>(real - caught),
                static_cast<unsigned long long>(alarms));
  };
  row("voltcheck", campaign.Count(Fate::kCaught), honest.alarms);
  for (std::size_t i = 0; i < mutation::kPolicies; ++i) {
    row(std::string(mutation::TolerancePolicies()[i].rule), RejectedBy(campaign, i),
        honest.policy_alarms[i]);
  }
}

// The table of docs/judgement.md.
void PrintMarkdown(const Campaign& campaign, const HonestFigures& honest) {
  const std::uint64_t real = campaign.Count(Fate::kCaught) + campaign.Count(Fate::kSurvived);
  std::printf(
      "| judged by | caught of %llu | missed | false alarms in %llu honest cases |\n"
      "|---|---|---|---|\n",
      static_cast<unsigned long long>(real), static_cast<unsigned long long>(honest.cases));
  const auto row = [&](std::string name, std::uint64_t caught, std::uint64_t alarms) {
    for (std::size_t at = name.find('|'); at != std::string::npos; at = name.find('|', at + 2)) {
      name.insert(at, "\\");
    }
    std::printf(
        "| %s | %llu | %llu | %llu |\n", name.c_str(), static_cast<unsigned long long>(caught),
        static_cast<unsigned long long>(real - caught), static_cast<unsigned long long>(alarms));
  };
  row("Voltcheck", campaign.Count(Fate::kCaught), honest.alarms);
  for (std::size_t i = 0; i < mutation::kPolicies; ++i) {
    row(std::string(mutation::TolerancePolicies()[i].rule), RejectedBy(campaign, i),
        honest.policy_alarms[i]);
  }
  std::printf(
      "\n%llu mutants: %llu caught, %llu equivalent, %llu survived; %llu discarded; median "
      "kill %.2f s.\n",
      static_cast<unsigned long long>(campaign.mutants()),
      static_cast<unsigned long long>(campaign.Count(Fate::kCaught)),
      static_cast<unsigned long long>(campaign.Count(Fate::kEquivalent)),
      static_cast<unsigned long long>(campaign.Count(Fate::kSurvived)),
      static_cast<unsigned long long>(campaign.Count(Fate::kDiscarded)), campaign.MedianKill());
}

void PrintCampaign(const Campaign& campaign, const HonestFigures& honest, bool quiet) {
  const bool passed = campaign.CaughtShare() >= mutation::kCaughtTarget && honest.alarms == 0;
  if (quiet && passed) {
    return;
  }
  const bool colour = WantsColour(stdout);
  for (const MutantResult& r : campaign.results) {
    if (r.fate == Fate::kSurvived) {
      std::printf("%s %s (PTX line %u): %s; %llu cases\n",
                  Paint("survived", Colour::kYellow, colour).c_str(), r.mutant.id.c_str(),
                  r.mutant.line, r.mutant.what.c_str(), static_cast<unsigned long long>(r.cases));
    }
  }
  for (const std::string& example : honest.examples) {
    std::printf("%s %s\n", Paint("false alarm", Colour::kRed, colour).c_str(), example.c_str());
  }
  if (!campaign.results.empty()) {
    PrintTable(campaign, honest);
    std::printf(
        "\n%llu mutants: %llu caught, %llu equivalent, %llu survived; %llu discarded; "
        "median kill %.2f s\n",
        static_cast<unsigned long long>(campaign.mutants()),
        static_cast<unsigned long long>(campaign.Count(Fate::kCaught)),
        static_cast<unsigned long long>(campaign.Count(Fate::kEquivalent)),
        static_cast<unsigned long long>(campaign.Count(Fate::kSurvived)),
        static_cast<unsigned long long>(campaign.Count(Fate::kDiscarded)), campaign.MedianKill());
  } else {
    for (std::size_t i = 0; i < mutation::kPolicies; ++i) {
      std::printf("%-44s %llu false alarms\n",
                  std::string(mutation::TolerancePolicies()[i].rule).c_str(),
                  static_cast<unsigned long long>(honest.policy_alarms[i]));
    }
    std::printf("%-44s %llu false alarms in %llu honest cases\n", "voltcheck",
                static_cast<unsigned long long>(honest.alarms),
                static_cast<unsigned long long>(honest.cases));
  }
  std::printf("%s: %.2f %% of the mutants that are not equivalent were caught, %llu false alarms\n",
              passed ? Paint("PASSED", Colour::kGreen, colour).c_str()
                     : Paint("FAILED", Colour::kRed, colour).c_str(),
              100 * campaign.CaughtShare(), static_cast<unsigned long long>(honest.alarms));
}

HonestFigures RunHonest(const mutation::CampaignOptions& campaign, std::uint64_t count,
                        mutation::Journal* journal, bool quiet) {
  mutation::HonestOptions options;
  options.overrides = campaign.selection.overrides;
  options.judging = campaign.judging;
  options.count = count;
  options.seed = campaign.seed;
  options.jobs = campaign.jobs;
  options.stop = InterruptGuard::Requested;
  if (journal != nullptr) {
    options.known = journal->honest();
  }
  const std::uint64_t blocks = (count + mutation::kHonestBlock - 1) / mutation::kHonestBlock;
  Progress progress(blocks, quiet, "blocks of honest cases");
  options.progress = [&](std::uint64_t first, const HonestFigures& figures) {
    progress.Step(figures.alarms == 0);
    if (journal != nullptr) {
      journal->Append(first, figures);
    }
  };
  HonestFigures figures = mutation::RunHonestCases(options);
  progress.Clear();
  return figures;
}

mutation::Judging ReadJudging(const Arguments& arguments) {
  const std::string check = arguments.Text("check");
  if (check != "all" && check != "none") {
    throw BadInput("--check " + check, "is not known here", "use all or none");
  }
  return {verify::ParsePolicy(arguments.Text("policy")), check == "all"};
}

verify::RunProvenance Provenance(const mutation::CampaignOptions& options,
                                 const std::string& arguments) {
  verify::RunProvenance p = verify::ProvenanceOfThisBuild(arguments);
  p.seed = options.seed;
  const auto device = verify::MakeDevice({}, Numerics::kV100);
  p.device = device->Describe();
  p.kernels_hash = kernels::KernelSet(*device, options.selection.overrides).hash();
  return p;
}

}  // namespace

ExitStatus Mutate(const Words& words) {
  Arguments arguments(
      "mutate [--kernels FILE.ptx] [--kernel NAME] [--operators LIST] [--sample N] [options]",
      "Plants faults into kernels, launch plans and data, and counts how many the gate finds, "
      "beside\nusual tolerance policies on the same outputs. Status 0: at least 99 % of the "
      "mutants that are\nnot equivalent were caught, and no honest case was refused.\n\n" +
          OperatorHelp());
  arguments.Values("kernels", "PTX file whose entries are mutated instead; may be repeated");
  arguments.Value("kernel", "", "mutate this entry alone");
  arguments.Value("operators", "", "comma-separated, instead of all");
  arguments.Value("sample", "300", "mutants, evenly over operators and kernels; 0 for every one");
  arguments.Value("budget-cases", "0",
                  "show a mutant at most so many cases of the first set, and ten times as many of "
                  "the second; 0: all");
  arguments.Value("policy", "all", "judge by bits, budget, reference or all, as gate does");
  arguments.Value("check", "all", "all checkers, or none but bounds and barriers, as gate does");
  arguments.Value("seed", "0", "draws another sample");
  arguments.Value("honest", "0", "also run so many honest cases, and count false alarms there");
  arguments.Flag("only-honest", "run no mutants");
  arguments.Flag("kill-only",
                 "be done with a mutant when it is caught; says nothing of the policies then");
  arguments.Value("ptxas", "",
                  "assembler that tells equivalent mutants, instead of $VOLTCHECK_PTXAS and the "
                  "build's; none: do without");
  arguments.Value("journal", "",
                  "file that keeps what was found, line by line; one that exists is gone on with");
  arguments.Value("jobs", "0", "mutants in flight, 0 for one per core; never changes a result");
  arguments.Value("out", "", "run file");
  arguments.Flag("json", "print JSON instead of the table");
  arguments.Flag("markdown", "print the table as Markdown");
  arguments.Flag("quiet", "print nothing but failures");
  if (!arguments.Parse(words)) {
    return ExitStatus::kPassed;
  }
  mutation::CampaignOptions options;
  options.selection.overrides = verify::ReadOverrides(arguments.Texts("kernels"));
  options.selection.kernel = arguments.Text("kernel");
  options.selection.operators = SplitList(arguments.Text("operators"));
  options.sample = arguments.Number("sample");
  options.budget_cases = arguments.Number("budget-cases");
  options.seed = arguments.Number("seed");
  options.jobs = static_cast<int>(arguments.Number("jobs", kMostJobs));
  const std::uint64_t honest_cases = arguments.Number("honest");
  const bool quiet = arguments.Has("quiet");
  const std::string out = arguments.Text("out");
  const bool only_honest = arguments.Has("only-honest");
  options.kill_only = arguments.Has("kill-only");
  options.judging = ReadJudging(arguments);
  if (!only_honest && arguments.Text("ptxas") != "none") {
    options.ptxas = mutation::FindAssembler(arguments.Text("ptxas"));
  }
  const std::string record =
      "mutate --kernel '" + options.selection.kernel + "' --operators '" +
      arguments.Text("operators") + "' --budget-cases " + std::to_string(options.budget_cases) +
      " --seed " + std::to_string(options.seed) + (options.kill_only ? " --kill-only" : "") +
      (options.ptxas.empty() && !only_honest ? " --ptxas none" : "") +
      (arguments.Text("policy") == "all" ? "" : " --policy " + arguments.Text("policy")) +
      (options.judging.all_checks ? "" : " --check none");
  const verify::RunProvenance provenance = Provenance(
      options, record + " --sample " + (only_honest ? "none" : std::to_string(options.sample)) +
                   " --honest " + std::to_string(honest_cases));
  std::optional<mutation::Journal> journal;
  if (const std::string path = arguments.Text("journal"); !path.empty()) {
    journal.emplace(path, provenance.commit + " " + provenance.kernels_hash + " " + record);
    options.known = journal->mutants();
  }

  const InterruptGuard interrupt;
  options.stop = InterruptGuard::Requested;
  Campaign campaign;
  if (!only_honest) {
    Progress progress(options.sample, quiet, "mutants");
    options.progress = [&](const MutantResult& r) {
      progress.Step(r.fate != Fate::kSurvived);
      if (journal && !options.known.contains(r.mutant.id)) {
        journal->Append(r);
      }
    };
    campaign = mutation::RunCampaign(options);
    progress.Clear();
  }
  if (honest_cases > 0) {
    campaign.honest = RunHonest(options, honest_cases, journal ? &*journal : nullptr, quiet);
    campaign.complete = campaign.complete && campaign.honest.cases == honest_cases;
  }
  const HonestFigures& honest = campaign.honest;
  if (!out.empty()) {
    mutation::WriteCampaign(out, provenance, campaign);
  }
  if (arguments.Has("json")) {
    Json cases = Json::array();
    for (const MutantResult& r : campaign.results) {
      cases.push_back(ToJson(r));
    }
    const Json document = {{"schema", "voltcheck.mutate/1"},
                           {"summary", Summary(campaign, honest)},
                           {"cases", std::move(cases)}};
    std::printf("%s\n", document.dump(1).c_str());
  } else if (arguments.Has("markdown")) {
    PrintMarkdown(campaign, honest);
  } else {
    PrintCampaign(campaign, honest, quiet);
  }
  if (!campaign.complete) {
    const std::string kept = journal ? "; '--journal' goes on" : "";
    std::fprintf(stderr, "voltcheck: interrupted after %zu mutants and %llu honest cases%s\n",
                 campaign.results.size(), static_cast<unsigned long long>(honest.cases),
                 kept.c_str());
    return ExitStatus::kInterrupted;
  }
  const bool any = campaign.mutants() + honest.cases > 0;
  return any && campaign.CaughtShare() >= mutation::kCaughtTarget && honest.alarms == 0
             ? ExitStatus::kPassed
             : ExitStatus::kFailed;
}

}  // namespace voltcheck::tools
