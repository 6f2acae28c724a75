#include "verify/report/summary.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "verify/filter.h"
#include "verify/report/text.h"

namespace voltcheck::report {
namespace {

using verify::Verdict;

// The values of an option that may be repeated in the run's canonical arguments.
std::vector<std::string> ValuesOf(const std::string& arguments, const std::string& option) {
  std::vector<std::string> values;
  const std::string key = " " + option + " ";
  for (std::size_t at = arguments.find(key); at != std::string::npos;
       at = arguments.find(key, at + 1)) {
    const std::size_t begin = at + key.size();
    values.push_back(arguments.substr(begin, arguments.find(' ', begin) - begin));
  }
  return values;
}

bool IsAllowed(const CaseFigures& c, const std::vector<std::string>& filters) {
  if (c.verdict != Verdict::kSkipped || filters.empty()) {
    return false;
  }
  try {
    return verify::AllowsSkip(ParseDescriptor(c.descriptor), c.reason, filters);
  } catch (const Error&) {
    return false;  // a descriptor of a stranger's
  }
}

void Add(const CaseFigures& c, std::size_t index, RunSummary& summary) {
  for (std::size_t s = 0; s < summary.stages.size(); ++s) {
    const StageFigures& f = c.stages[s];
    if (!f.ran()) {
      continue;
    }
    StageSummary& t = summary.stages[s];
    ++t.cases;
    t.elements += f.elements;
    t.nonfinite += f.nonfinite_got;
    t.over_budget += f.over_budget;
    t.bits_compared += f.bits_compared;
    t.bits_differing += f.bits_differing;
    if (!std::isnan(f.rms)) {
      t.rms += static_cast<double>(f.rms) * f.rms * static_cast<double>(f.elements);
    }
    t.own_use.Raise(f.Use(), index);
    if (!std::isnan(f.end_to_end_use)) {
      t.end_to_end_use.Raise(f.end_to_end_use, index);
    }
    if (!std::isnan(f.max_abs)) {
      t.max_abs.Raise(f.max_abs, index);
    }
  }
  summary.worst_use.Raise(c.WorstUse(), index);
}

void CountProperties(const RunData& run, RunSummary& summary) {
  for (const verify::PropertyRecord& p : run.properties) {
    (p.verdict == Verdict::kPassed    ? summary.properties_held
     : p.verdict == Verdict::kSkipped ? summary.properties_skipped
                                      : summary.properties_broken) += 1;
  }
}

void CountMutants(const RunData& run, RunSummary& summary) {
  for (const MutantEntry& m : run.mutants) {
    (m.fate == "caught"     ? summary.mutants_caught
     : m.fate == "survived" ? summary.mutants_survived
                            : summary.mutants_other) += 1;
  }
}

void Note(const RunData& run, RunSummary& summary) {
  for (const NanColumn& nan : run.nan_columns) {
    summary.notes.push_back(NanNote(nan));
  }
  if (run.findings_in_file > run.findings.size()) {
    summary.notes.push_back("the first " + Grouped(run.findings.size()) + " of " +
                            Grouped(run.findings_in_file) + " findings are shown");
  }
}

void JudgeCases(const RunData& run, RunSummary& summary) {
  const verify::Summary& v = summary.verdicts;
  const std::uint64_t passed = v.count(Verdict::kPassed);
  const std::uint64_t bad = v.cases - passed - v.allowed_skips;
  if (passed == v.cases) {
    summary.headline = (v.cases == 1 ? "the case" : "all " + Count(v.cases, "case")) +
                       (run.complete ? " passed" : " that ran passed");
  } else if (bad == 0) {
    summary.headline = Grouped(passed) + " of " + Count(v.cases, "case") + " passed, the other " +
                       Grouped(v.allowed_skips) + " may be skipped";
  } else {
    verify::Summary others = v;
    others.by_verdict[static_cast<std::size_t>(Verdict::kPassed)] = 0;
    summary.headline =
        Grouped(bad) + " of " + Count(v.cases, "case") + " did not pass: " + VerdictCounts(others);
    summary.reasons.push_back(summary.headline);
  }
  if (passed == 0 && bad == 0) {
    summary.reasons.push_back("no case passed");
  }
  if (summary.properties_broken > 0) {
    summary.reasons.push_back(Count(summary.properties_broken, "property was", "properties were") +
                              " broken");
  }
  std::uint64_t nan_cases = 0;
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const CaseKey& key = run.cases.key(i);
    nan_cases += key.has_nan && key.verdict == Verdict::kPassed ? 1 : 0;
  }
  if (nan_cases > 0) {
    summary.reasons.push_back(Count(nan_cases, "passed case has", "passed cases have") +
                              " figures that are NaN");
  }
}

}  // namespace

std::string_view ToString(Outcome outcome) {
  return outcome == Outcome::kPassed   ? "PASSED"
         : outcome == Outcome::kFailed ? "FAILED"
                                       : "INCOMPLETE";
}

RunSummary Summarise(const RunData& run) {
  RunSummary summary;
  const std::vector<std::string> filters = ValuesOf(run.Attribute("arguments"), "--allow-skip");
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const CaseFigures& c = run.cases[i];
    summary.allowed_skip.push_back(IsAllowed(c, filters));
    summary.verdicts.Add(c.verdict, summary.allowed_skip.back());
    Add(c, i, summary);
  }
  for (StageSummary& s : summary.stages) {
    s.rms = s.elements == 0 ? 0 : std::sqrt(s.rms / static_cast<double>(s.elements));
  }
  CountProperties(run, summary);
  CountMutants(run, summary);
  Note(run, summary);
  if (run.has_mutants) {
    summary.headline = Grouped(summary.mutants_caught) + " of " +
                       Count(summary.mutants_caught + summary.mutants_survived, "mutant") +
                       " caught" +
                       (summary.mutants_other == 0
                            ? std::string()
                            : ", " + Grouped(summary.mutants_other) + " equivalent or discarded");
    if (summary.mutants_survived > 0) {
      summary.reasons.push_back(Count(summary.mutants_survived, "mutant") + " survived");
    }
  } else {
    JudgeCases(run, summary);
  }
  if (!run.complete) {
    summary.notes.insert(summary.notes.begin(), Interruption(run));
  }
  // A failure is a failure even when more might have followed.
  summary.outcome = !summary.reasons.empty() ? Outcome::kFailed
                    : run.complete           ? Outcome::kPassed
                                             : Outcome::kIncomplete;
  return summary;
}

std::string VerdictCounts(const verify::Summary& verdicts) {
  std::vector<Verdict> order;
  for (std::size_t v = 0; v < verify::kVerdicts; ++v) {
    order.push_back(static_cast<Verdict>(v));
  }
  std::stable_sort(order.begin(), order.end(),
                   [](Verdict a, Verdict b) { return Gravity(a) > Gravity(b); });
  std::string text;
  for (const Verdict v : order) {
    if (verdicts.count(v) > 0) {
      text += (text.empty() ? "" : ", ") + Grouped(verdicts.count(v)) + " " +
              std::string(verify::ToString(v));
    }
  }
  return text;
}

std::string Title(const RunData& run) {
  const std::string arguments = run.Attribute("arguments");
  const std::string command = arguments.substr(0, arguments.find(' '));
  for (const char* option : {"--suite", "--grid", "--random", "--case"}) {
    const std::vector<std::string> values = ValuesOf(arguments, option);
    if (!values.empty()) {
      return (command == "gate" ? "suite" : command + " " + (option + 2)) + (" " + values.front());
    }
  }
  return command.empty() ? "run" : command;
}

std::string Interruption(const RunData& run) {
  // A shard says how many cases all shards have, not how many it has itself.
  const std::string planned = run.Attribute("shard").empty() ? run.Attribute("planned") : "";
  std::uint64_t cases = 0;
  std::from_chars(planned.data(), planned.data() + planned.size(), cases);
  return "the run was interrupted: " + (cases > run.cases.size()
                                            ? Grouped(cases - run.cases.size()) + " of its " +
                                                  Count(cases, "case") + " did not run"
                                            : "cases are missing");
}

std::string RanOn(const RunData& run) {
  std::string text = run.Attribute("device_name");
  if (const std::string driver = run.Attribute("driver"); !driver.empty()) {
    text += ", driver " + driver;
  }
  return text + ", numerics " + run.Attribute("numerics");
}

std::string KernelFiles(const RunData& run) {
  constexpr std::size_t kNamed = 3;
  std::string text;
  for (std::size_t i = 0; i < run.kernel_files.size() && i < kNamed; ++i) {
    text += (i == 0 ? "" : ", ") + run.kernel_files[i];
  }
  return run.kernel_files.size() <= kNamed
             ? text
             : text + " and " + std::to_string(run.kernel_files.size() - kNamed) + " more";
}

}  // namespace voltcheck::report
