// A run as one page of HTML.
#include <algorithm>

#include "verify/report/html_parts.h"
#include "verify/report/render.h"
#include "verify/report/text.h"

namespace voltcheck::report {
namespace {

using verify::Verdict;

constexpr std::size_t kShownFirst = 5;     // failures on the first screen
constexpr std::size_t kMostCases = 20000;  // in the table; charts hold all of them

std::string CaseLink(const RunData& run, std::size_t index) {
  const std::string number = std::to_string(run.cases.key(index).number);
  return "<a href=\"#case-" + number + "\" data-case=\"" + number + "\">case " + number + "</a>";
}

std::string Card(std::string_view name, const std::string& value, const std::string& below) {
  return "<div class=\"card\"><div class=\"name\">" + std::string(name) +
         "</div><div class=\"value\">" + value + "</div><div class=\"below\">" + below +
         "</div></div>\n";
}

std::string Cards(const RunData& run, const RunSummary& summary) {
  std::string cards = "<div class=\"cards\">\n";
  const verify::Summary& v = summary.verdicts;
  if (run.has_mutants) {
    cards += Card("Mutants caught",
                  Grouped(summary.mutants_caught) + " <small>of " +
                      Grouped(summary.mutants_caught + summary.mutants_survived) + "</small>",
                  Grouped(summary.mutants_other) + " equivalent or discarded");
  } else {
    cards +=
        Card("Cases passed",
             Grouped(v.count(Verdict::kPassed)) + " <small>of " + Grouped(v.cases) + "</small>",
             EscapeMarkup(VerdictCounts(v)));
  }
  if (summary.worst_use.case_index >= 0) {
    const auto index = static_cast<std::size_t>(summary.worst_use.case_index);
    const CaseFigures& c = run.cases[index];
    std::string stage;
    for (const verify::Stage s : verify::kStages) {
      if (stage.empty() && c.at(s).ran() && c.at(s).Use() == summary.worst_use.value) {
        stage = std::string(verify::ToString(s)) + ", ";
      }
    }
    cards += Card("Worst budget use", Figure(summary.worst_use.value),
                  stage + CaseLink(run, index) + "; 1 is the proven bound");
  }
  std::uint64_t compared = 0;
  std::uint64_t differing = 0;
  for (const StageSummary& s : summary.stages) {
    compared += s.bits_compared;
    differing += s.bits_differing;
  }
  if (compared > 0) {
    cards += Card("Elements with other bits", Grouped(differing),
                  "of " + Grouped(compared) + " that the order-faithful model predicts");
  }
  if (!run.properties.empty()) {
    cards += Card("Properties broken", Grouped(summary.properties_broken),
                  Grouped(summary.properties_held) + " held, " +
                      Grouped(summary.properties_skipped) + " skipped");
  }
  return cards + "</div>\n";
}

// What failed, on the first screen.
std::string First(const RunData& run) {
  std::string list;
  std::size_t shown = 0;
  std::size_t left = 0;
  for (const std::size_t i : WorstFirst(run.cases)) {
    if (run.cases.key(i).verdict == Verdict::kPassed) {
      break;
    }
    if (shown == kShownFirst) {
      ++left;
      continue;
    }
    ++shown;
    const CaseFigures& c = run.cases[i];
    list += "<li>" + VerdictBadge(c.verdict) + " " + CaseLink(run, i) + " " +
            EscapeMarkup(c.reason) + "</li>\n";
  }
  for (const verify::PropertyRecord& p : run.properties) {
    if (p.verdict == Verdict::kFailed) {
      list += "<li><span class=\"badge fail\">broken</span> <a href=\"#properties\">" +
              EscapeMarkup(p.property) + "</a> " + EscapeMarkup(p.reason) + "</li>\n";
    }
  }
  if (list.empty() || run.has_mutants) {
    return "";
  }
  return "<ul class=\"first\">\n" + list + "</ul>\n" +
         (left == 0 ? std::string()
                    : "<p><a href=\"#failures\">" + Grouped(left) + " more</a></p>\n");
}

std::string Header(const RunData& run, const RunSummary& summary) {
  const std::string kind = summary.outcome == Outcome::kPassed   ? "pass"
                           : summary.outcome == Outcome::kFailed ? "fail"
                                                                 : "warn";
  std::string html = "<header class=\"" + kind + "\">\n<h1><span class=\"verdict\">" +
                     std::string(ToString(summary.outcome)) + "</span> " +
                     EscapeMarkup(Title(run)) + "</h1>\n<p class=\"headline\">" +
                     EscapeMarkup(summary.headline) + "</p>\n<p class=\"on\">on " +
                     EscapeMarkup(RanOn(run)) + " · kernels " + EscapeMarkup(KernelFiles(run)) +
                     " <code>" + EscapeMarkup(run.Attribute("kernels_hash").substr(0, 12)) +
                     "</code> · voltcheck " + EscapeMarkup(run.Attribute("tool_version")) + " (" +
                     EscapeMarkup(run.Attribute("commit")) + ")</p>\n</header>\n";
  for (const std::string& reason : summary.reasons) {
    if (reason != summary.headline) {
      html += "<p class=\"reason\">" + EscapeMarkup(reason) + "</p>\n";
    }
  }
  for (const std::string& note : summary.notes) {
    html += "<p class=\"note\">" + EscapeMarkup(note) + "</p>\n";
  }
  return html + Cards(run, summary) + First(run);
}

std::string StagesSection(const RunData& run, const RunSummary& summary) {
  std::string body = "<tbody>\n";
  const auto worst = [&run](const WorstFigure& f) {
    return f.case_index < 0
               ? std::string("-")
               : Figure(f.value) + " <small>" +
                     CaseLink(run, static_cast<std::size_t>(f.case_index)) + "</small>";
  };
  for (std::size_t s = 0; s < summary.stages.size(); ++s) {
    const StageSummary& t = summary.stages[s];
    if (t.cases > 0) {
      body += Row({std::string(verify::ToString(verify::kStages[s])), Grouped(t.cases),
                   Grouped(t.elements), Grouped(t.nonfinite), worst(t.own_use),
                   worst(t.end_to_end_use), worst(t.max_abs), Figure(t.rms),
                   t.bits_compared == 0 ? "-" : Grouped(t.bits_differing)});
    }
  }
  return "<section id=\"stages\"><h2>Stages</h2>\n" +
         Table("Figures of each stage over all cases",
               Head({"Stage", "#Cases", "#Elements", "#Not finite", "#Budget use", "#End to end",
                     "#Max |d| to FP32", "#RMS to FP32", "#Bits off"}) +
                   body + "</tbody>",
               "numbers") +
         "</section>\n";
}

std::string ChartsSection() {
  const auto chart = [](const char* id, const char* title, const char* below) {
    return std::string("<figure id=\"figure-") + id + "\"><figcaption><strong>" + title +
           "</strong> " + below + "</figcaption><div class=\"canvas\"><canvas id=\"" + id +
           "\" role=\"img\" aria-label=\"" + title + "; the table below has the numbers\">" +
           "</canvas></div><details><summary>As a table</summary><div class=\"scroll\" id=\"" + id +
           "-table\"></div></details></figure>\n";
  };
  return "<section id=\"charts\"><h2>Distributions</h2>\n"
         "<fieldset class=\"stages\" id=\"stage-choice\"><legend>Stage</legend></fieldset>\n"
         "<div class=\"figures\">\n" +
         chart("uses", "Budget use of the cases",
               "largest use of each case; the line is their share up to there") +
         chart("ulps", "Distance in ulp",
               "elements of all cases, against the oracle on the stage's own input and against "
               "FP32; logarithmic") +
         chart("experts", "Worst of each expert", "largest budget use over all cases") +
         chart("tiles", "Worst of each column tile", "32 columns each, largest budget use") +
         "</div></section>\n";
}

std::string CasesSection(const RunData& run, std::size_t shown) {
  std::string verdicts;
  for (std::size_t v = 0; v < verify::kVerdicts; ++v) {
    const std::string name(verify::ToString(static_cast<Verdict>(v)));
    verdicts += "<option value=\"" + name + "\">" + name + "</option>";
  }
  std::string html =
      "<section id=\"cases\"><h2>Cases</h2>\n"
      "<noscript><p class=\"note\">The table needs the page's own script.</p></noscript>\n"
      "<form class=\"filter\" role=\"search\"><label>Filter <input type=\"search\" id=\"filter\" "
      "placeholder=\"routing=zipf t=8\" autocomplete=\"off\"></label> <label>Verdict <select "
      "id=\"verdict\"><option value=\"\">all</option>" +
      verdicts + "</select></label> <output id=\"matches\" aria-live=\"polite\"></output></form>\n";
  if (shown < run.cases.size()) {
    html += "<p class=\"note\">The worst " + Grouped(shown) + " of " + Grouped(run.cases.size()) +
            " cases are in the table; charts and maps hold all of them.</p>\n";
  }
  return html +
         Table("Cases, worst first; a column's name sorts by it, a case's number opens it",
               "<thead><tr id=\"case-heads\"></tr></thead><tbody id=\"case-rows\"></tbody>",
               "cases") +
         "<div class=\"pages\"><button type=\"button\" id=\"previous\">Previous</button> <output "
         "id=\"page\" aria-live=\"polite\"></output> <button type=\"button\" "
         "id=\"next\">Next</button></div>\n</section>\n";
}

std::string Navigation(const std::string& sections) {
  std::string nav = "<nav aria-label=\"Sections\"><ul>";
  for (std::size_t at = sections.find("<section id=\""); at != std::string::npos;
       at = sections.find("<section id=\"", at + 1)) {
    const std::size_t begin = at + 13;
    const std::string id = sections.substr(begin, sections.find('"', begin) - begin);
    const std::size_t name = sections.find("<h2>", at) + 4;
    nav += "<li><a href=\"#" + id + "\">" +
           sections.substr(name, sections.find("</h2>", name) - name) + "</a></li>";
  }
  return nav + "</ul></nav>\n";
}

}  // namespace

std::string RenderHtml(const RunData& run) {
  const RunSummary summary = Summarise(run);
  std::vector<std::size_t> order = WorstFirst(run.cases);
  order.resize(std::min(order.size(), kMostCases));
  run.cases.Pin(order);
  std::string sections = StagesSection(run, summary);
  sections += run.has_mutants ? MutantsSection(run, summary) : FailuresSection(run);
  if (!run.cases.empty()) {
    sections += HeatMapSection(run) + ChartsSection() + DensitySection(run) + LogitsSection(run);
  }
  sections += PropertiesSection(run, summary) + FindingsSection(run);
  if (!run.cases.empty()) {
    sections += CasesSection(run, order.size());
  }
  sections += ProvenanceSection(run);
  const std::string title =
      std::string(ToString(summary.outcome)) + ": " + Title(run) + " - Voltcheck";
  return Page(title,
              "<a class=\"skip\" href=\"#cases\">Skip to the cases</a>\n" + Header(run, summary) +
                  Navigation(sections) + "<main>\n" + sections + "</main>\n",
              PageData(run, order));
}

}  // namespace voltcheck::report
