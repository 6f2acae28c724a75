// A run as a comment on a pull request.
#include "verify/report/render.h"
#include "verify/report/summary.h"
#include "verify/report/text.h"

namespace voltcheck::report {
namespace {

using verify::Verdict;

// GitHub shows a comment of up to 60 lines whole; what is above these limits is counted.
constexpr std::size_t kMostFailures = 6;
constexpr std::size_t kMostNotes = 3;
constexpr std::size_t kMostBroken = 3;

std::string StageTable(const RunSummary& summary) {
  std::string text =
      "| stage | elements | worst budget use | end to end | max \\|d\\| to FP32 | RMS to FP32 | "
      "bits off |\n"
      "|---|---:|---:|---:|---:|---:|---:|\n";
  for (std::size_t s = 0; s < summary.stages.size(); ++s) {
    const StageSummary& t = summary.stages[s];
    if (t.cases == 0) {
      continue;
    }
    text += "| " + std::string(verify::ToString(verify::kStages[s])) + " | " + Grouped(t.elements) +
            " | " + Figure(t.own_use.value) + " | " + Figure(t.end_to_end_use.value) + " | " +
            Figure(t.max_abs.value) + " | " + Figure(t.rms) + " | " +
            (t.bits_compared == 0 ? "-" : Grouped(t.bits_differing)) + " |\n";
  }
  return text;
}

// Four lines for a failure: a fold that shows what, and opens to why and how to repeat it. Foreign
// text stands in code, where neither markup nor mentions work.
std::string Fold(std::string_view verdict, const std::string& what, const std::string& reason,
                 const std::string& reproduction) {
  return "<details><summary><b>" + std::string(verdict) + "</b> <code>" + EscapeMarkup(what) +
         "</code></summary>\n\n" + MarkdownCode(reason) + "<br>" + MarkdownCode(reproduction) +
         "\n</details>\n";
}

std::string Failures(const RunData& run) {
  std::string text;
  std::size_t shown = 0;
  std::size_t left = 0;
  for (const std::size_t i : WorstFirst(run.cases)) {
    if (run.cases.key(i).verdict == Verdict::kPassed) {
      break;
    }
    if (shown == kMostFailures) {
      ++left;
      continue;
    }
    ++shown;
    const CaseFigures& c = run.cases[i];
    text += Fold(verify::ToString(c.verdict),
                 "case " + std::to_string(c.number) + ": " + Clean(c.reason, 140), c.reason,
                 run.Reproduction(c.descriptor));
  }
  if (left > 0) {
    text += "\n... and " + Grouped(left) + " more that did not pass\n";
  }
  return text;
}

std::string Broken(const RunData& run) {
  std::string text;
  std::size_t shown = 0;
  for (const verify::PropertyRecord& p : run.properties) {
    if (p.verdict == Verdict::kFailed && shown < kMostBroken) {
      ++shown;
      text += Fold("broken", "property " + p.property, p.reason, p.reproduction);
    }
  }
  return text;
}

std::string Survivors(const RunData& run) {
  std::string text;
  std::size_t shown = 0;
  for (const MutantEntry& m : run.mutants) {
    if (m.fate == "survived" && shown < kMostFailures) {
      ++shown;
      text += Fold("survived", m.id, m.change, "voltcheck mutate");
    }
  }
  return text;
}

}  // namespace

std::string RenderMarkdown(const RunData& run) {
  const RunSummary summary = Summarise(run);
  std::string text =
      "### Voltcheck " + std::string(ToString(summary.outcome)) + ": " + MarkdownCode(Title(run)) +
      "\n\n" + summary.headline + "; on " + MarkdownCode(RanOn(run)) + ", kernels " +
      (run.kernel_files.empty() ? "" : MarkdownCode(KernelFiles(run)) + " ") +
      MarkdownCode(run.Attribute("kernels_hash").substr(0, 12)) + ", voltcheck " +
      MarkdownCode(run.Attribute("tool_version") + " (" + run.Attribute("commit") + ")") + "\n\n" +
      StageTable(summary);
  if (!run.properties.empty()) {
    text += "\n" + Count(run.properties.size(), "property check") + ": " +
            Grouped(summary.properties_held) + " held, " + Grouped(summary.properties_broken) +
            " broken, " + Grouped(summary.properties_skipped) + " skipped\n";
  }
  for (std::size_t i = 0; i < summary.notes.size() && i < kMostNotes; ++i) {
    text += "\nnote: " + summary.notes[i] + "\n";
  }
  text += "\n" + (run.has_mutants ? Survivors(run) : Failures(run)) + Broken(run);
  return text;
}

}  // namespace voltcheck::report
