// The parts of the page that are lists and tables.
#include <algorithm>
#include <cmath>
#include <map>

#include "verify/report/html_parts.h"
#include "verify/report/text.h"

namespace voltcheck::report {
namespace {

using verify::Verdict;

constexpr std::size_t kMostFailures = 60;  // with reason and values; the table has the others
constexpr std::size_t kMostFindings = 500;
constexpr int kWindowRows = 7;
constexpr int kWindowCols = 9;

// The class of a cell by how much of its budget it uses.
std::string UseClass(double got, double want, double budget) {
  if (std::isfinite(got) != std::isfinite(want)) {
    return "over";
  }
  const double use = got == want ? 0 : std::abs(got - want) / budget;
  if (std::isnan(use)) {
    return "u0";
  }
  return use > 1 ? "over" : "u" + std::to_string(static_cast<int>(use * 9));
}

// A few rows and columns around the worst element.
std::string WindowTable(const FailureWindow& w) {
  const auto first = [](int worst, int begin, int size, int shown) {
    return std::clamp(worst - shown / 2, begin, begin + std::max(0, size - shown));
  };
  const int row0 = first(w.worst_row, w.first_row, w.rows, kWindowRows);
  const int col0 = first(w.worst_col, w.first_col, w.cols, kWindowCols);
  const int rows = std::min(kWindowRows, w.rows);
  const int cols = std::min(kWindowCols, w.cols);
  std::string body = "<thead><tr><td></td>";
  for (int c = col0; c < col0 + cols; ++c) {
    body += "<th scope=\"col\">" + std::to_string(c) + "</th>";
  }
  body += "</tr></thead>\n<tbody>\n";
  for (int r = row0; r < row0 + rows; ++r) {
    body += "<tr><th scope=\"row\">" + std::to_string(r) + "</th>";
    for (int c = col0; c < col0 + cols; ++c) {
      const auto i = static_cast<std::size_t>(r - w.first_row) * static_cast<std::size_t>(w.cols) +
                     static_cast<std::size_t>(c - w.first_col);
      const bool worst = r == w.worst_row && c == w.worst_col;
      body += "<td class=\"" + UseClass(w.got[i], w.want[i], w.budget[i]) +
              (worst ? " worst" : "") + "\"><b>" + Figure5(w.got[i]) + "</b><span>" +
              Figure5(w.want[i]) + "</span><i>\xC2\xB1" + Figure(w.budget[i]) + "</i></td>";
    }
    body += "</tr>\n";
  }
  const std::string stage(verify::ToString(w.stage));
  return Table(stage + " around (" + std::to_string(w.worst_row) + ", " +
                   std::to_string(w.worst_col) +
                   "): got, want and budget; rows and columns of the stage's output",
               body + "</tbody>", "window");
}

std::string Failure(const RunData& run, std::size_t index, bool open) {
  const CaseFigures& c = run.cases[index];
  const std::string number = std::to_string(c.number);
  std::string html =
      "<details class=\"failure\" id=\"case-" + number + "\"" + (open ? " open" : "") +
      "><summary>" + VerdictBadge(c.verdict) + " case " + number + " <span class=\"why\">" +
      EscapeMarkup(c.reason) + "</span></summary>\n<p class=\"descriptor\"><code>" +
      EscapeMarkup(c.descriptor) + "</code></p>\n" + CopyLine(run.Reproduction(c.descriptor));
  for (const FailureWindow& w : run.windows) {
    if (w.case_index == index) {
      html += WindowTable(w);
    }
  }
  return html + "</details>\n";
}

std::string Axes(const kernels::Dim3& d) {
  return std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z);
}

// The values of a property's breach, or of a mutant's line, where there are any.
std::string Line(const std::string& file, std::uint64_t line) {
  return line == 0 ? EscapeMarkup(file) : EscapeMarkup(file) + ":" + std::to_string(line);
}

// The place, and what stands there.
std::string SourceLine(const FindingEntry& f) {
  if (f.finding.source.empty()) {
    return "-";
  }
  std::string cell = "<code>" + EscapeMarkup(f.finding.source) + "</code>";
  if (!f.source_text.empty()) {
    cell += "<pre>" + EscapeMarkup(f.source_text) + "</pre>";
  }
  return cell;
}

}  // namespace

std::string FailuresSection(const RunData& run) {
  constexpr std::size_t kOpen = 3;
  constexpr std::size_t kAtOnce = 10;
  std::string html;
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
    if (shown == kAtOnce) {
      html += "<details class=\"more\"><summary>The failures after these</summary>\n";
    }
    html += Failure(run, i, shown < kOpen);
    ++shown;
  }
  if (html.empty()) {
    return "";
  }
  html += shown > kAtOnce ? "</details>\n" : "";
  if (left > 0) {
    html += "<p class=\"note\">" + Grouped(left) +
            " more did not pass; the table of cases has them.</p>\n";
  }
  return "<section id=\"failures\"><h2>Failures</h2>\n<p>With the run file at hand, "
         "<code>voltcheck "
         "replay --from RUN.h5 --index N</code> runs case N again with the kernels that the file "
         "holds.</p>\n" +
         html + "</section>\n";
}

std::string PropertiesSection(const RunData& run, const RunSummary& summary) {
  if (run.properties.empty()) {
    return "";
  }
  // What broke first, then as they were asked.
  std::vector<const verify::PropertyRecord*> order;
  for (const verify::PropertyRecord& p : run.properties) {
    order.push_back(&p);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return Gravity(a->verdict) > Gravity(b->verdict);
  });
  std::string body = "<tbody>\n";
  for (const verify::PropertyRecord* p : order) {
    std::string what = EscapeMarkup(p->reason);
    if (p->verdict == Verdict::kFailed) {
      what += CopyLine(p->reproduction);
    }
    body += Row({EscapeMarkup(p->property), VerdictBadge(p->verdict), std::to_string(p->draw),
                 "<code>" + EscapeMarkup(p->descriptor) + "</code>", what});
  }
  return "<section id=\"properties\"><h2>Properties</h2>\n<p>" + Grouped(summary.properties_held) +
         " held, " + Grouped(summary.properties_broken) + " broken, " +
         Grouped(summary.properties_skipped) + " skipped.</p>\n" +
         Table("Properties, broken ones first",
               Head({"Property", "Verdict", "#Draw", "Case", "Reason"}) + body + "</tbody>") +
         "</section>\n";
}

std::string FindingsSection(const RunData& run) {
  if (run.findings.empty()) {
    return "";
  }
  std::string body = "<tbody>\n";
  for (std::size_t i = 0; i < run.findings.size() && i < kMostFindings; ++i) {
    const kernels::Finding& f = run.findings[i].finding;
    const std::string number = std::to_string(run.findings[i].case_number);
    body +=
        Row({EscapeMarkup(f.checker), EscapeMarkup(f.kernel), SourceLine(run.findings[i]),
             f.file.empty() && f.line == 0 ? "-" : "<code>" + Line(f.file, f.line) + "</code>",
             EscapeMarkup(f.message), Axes(f.block), Axes(f.thread),
             "<a href=\"#case-" + number + "\" data-case=\"" + number + "\">" + number + "</a>"});
  }
  std::string note;
  if (run.findings_in_file > kMostFindings) {
    note = "<p class=\"note\">The first " + Grouped(kMostFindings) + " of " +
           Grouped(run.findings_in_file) + " are shown.</p>\n";
  }
  return "<section id=\"findings\"><h2>Findings</h2>\n" + note +
         Table("What the checkers found, with the lines of the kernels",
               Head({"Checker", "Kernel", "Source line", "PTX line", "What", "Block", "Thread",
                     "Case"}) +
                   body + "</tbody>") +
         "</section>\n";
}

std::string MutantsSection(const RunData& run, const RunSummary& summary) {
  // By operator first: where the gate is weak.
  struct Counts {
    std::uint64_t caught = 0, survived = 0, other = 0;
  };
  std::map<std::string, Counts> by_operator;
  for (const MutantEntry& m : run.mutants) {
    Counts& counts = by_operator[m.op];
    (m.fate == "caught"     ? counts.caught
     : m.fate == "survived" ? counts.survived
                            : counts.other) += 1;
  }
  std::string operators = "<tbody>\n";
  for (const auto& [op, counts] : by_operator) {
    operators += Row({EscapeMarkup(op), Grouped(counts.caught), Grouped(counts.survived),
                      Grouped(counts.other)});
  }
  std::vector<const MutantEntry*> order;
  for (const MutantEntry& m : run.mutants) {
    order.push_back(&m);
  }
  const auto rank = [](const MutantEntry* m) {
    return m->fate == "survived" ? 0 : m->fate == "caught" ? 2 : 1;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
  std::string body = "<tbody>\n";
  for (const MutantEntry* m : order) {
    const std::string kind = rank(m) == 0 ? "fail" : rank(m) == 1 ? "warn" : "pass";
    body += Row({"<code class=\"id\">" + EscapeMarkup(m->id) + "</code>",
                 Element("span class=\"badge " + kind + "\"", m->fate), EscapeMarkup(m->kernel),
                 m->line == 0 ? "-" : std::to_string(m->line), EscapeMarkup(m->change),
                 EscapeMarkup(m->reason), Grouped(m->cases_run)});
  }
  return "<section id=\"mutants\"><h2>Mutants</h2>\n<p>" + EscapeMarkup(summary.headline) +
         ".</p>\n" +
         Table("Mutants by operator",
               Head({"Operator", "#Caught", "#Survived", "#Equivalent or discarded"}) + operators +
                   "</tbody>",
               "numbers") +
         Table("Mutants, survivors first",
               Head({"Mutant", "Fate", "Kernel", "PTX line", "Change", "Why", "#Cases run"}) +
                   body + "</tbody>") +
         "</section>\n";
}

std::string ProvenanceSection(const RunData& run) {
  std::string body = "<tbody>\n";
  for (const auto& [name, value] : run.attributes) {
    body += Row({EscapeMarkup(name), "<code>" + EscapeMarkup(value) + "</code>"});
  }
  return "<section id=\"provenance\"><h2>Provenance</h2>\n" +
         Table("What the run file says about itself",
               Head({"Attribute", "Value"}) + body + "</tbody>") +
         "</section>\n";
}

}  // namespace voltcheck::report
