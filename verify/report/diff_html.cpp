// What changed between two runs, as a page.
#include <algorithm>

#include "verify/report/diff.h"
#include "verify/report/html_parts.h"
#include "verify/report/summary.h"
#include "verify/report/text.h"

namespace voltcheck::report {
namespace {

constexpr std::size_t kMostRows = 2000;

std::string Arrow(const std::string& base, const std::string& head) {
  return base == head ? head : base + " \xE2\x86\x92 " + head;
}

std::string Badge(const CaseKey& key) {
  return VerdictBadge(key.verdict) + (key.has_nan ? " NaN" : "");
}

std::string Changes(const DiffInput& in) {
  const std::vector<const CasePair*> changed = WorstChangesFirst(in.diff, in.head);
  if (changed.empty()) {
    return "";
  }
  PinPairs(in, std::span(changed).first(std::min(kMostRows, changed.size())));
  std::string body = "<tbody>\n";
  for (std::size_t i = 0; i < changed.size() && i < kMostRows; ++i) {
    const CasePair& p = *changed[i];
    const CaseFigures& a = in.base.cases[p.base];
    const CaseFigures& b = in.head.cases[p.head];
    std::string what = "<code>" + EscapeMarkup(b.descriptor) + "</code>";
    if (p.worse) {
      what +=
          "<p>" + EscapeMarkup(WhyWorse(b)) + "</p>" + CopyLine(in.head.Reproduction(b.descriptor));
    }
    const std::string bits = !p.bits_changed.empty()   ? StageNames(p.bits_changed)
                             : !p.bits_unknown.empty() ? "not recorded"
                                                       : "equal";
    body += Row({std::to_string(b.number), std::to_string(a.number),
                 Arrow(Badge(in.base.cases.key(p.base)), Badge(in.head.cases.key(p.head))),
                 Arrow(Figure(p.base_use), Figure(p.head_use)), bits,
                 EscapeMarkup(a.w13 == b.w13 ? "" : "w13 " + Arrow(a.w13, b.w13)) +
                     EscapeMarkup(a.w2 == b.w2 ? "" : " w2 " + Arrow(a.w2, b.w2)),
                 what});
  }
  std::string note;
  if (changed.size() > kMostRows) {
    note = "<p class=\"note\">The first " + Grouped(kMostRows) + " of " + Grouped(changed.size()) +
           " are shown.</p>\n";
  }
  return "<section id=\"changes\"><h2>Changes</h2>\n" + note +
         Table("Cases that changed, worst first",
               Head({"Head", "Base", "Verdict", "Budget use", "Other bits", "Tactic", "Case"}) +
                   body + "</tbody>") +
         "</section>\n";
}

std::string Only(const RunData& run, const std::vector<std::size_t>& cases, const char* id,
                 const char* title) {
  if (cases.empty()) {
    return "";
  }
  std::string body = "<tbody>\n";
  for (std::size_t i = 0; i < cases.size() && i < kMostRows; ++i) {
    const CaseFigures& c = run.cases[cases[i]];
    body += Row({std::to_string(c.number), VerdictBadge(c.verdict),
                 "<code>" + EscapeMarkup(c.descriptor) + "</code>"});
  }
  return "<section id=\"" + std::string(id) + "\"><h2>" + title + "</h2>\n" +
         Table(Count(cases.size(), "case"),
               Head({"Number", "Verdict", "Case"}) + body + "</tbody>") +
         "</section>\n";
}

std::string Properties(const DiffInput& in) {
  if (in.diff.properties.empty()) {
    return "";
  }
  std::string body = "<tbody>\n";
  for (const PropertyChange& p : in.diff.properties) {
    body += Row({EscapeMarkup(p.property), p.broken_in_head ? "broken now" : "holds again",
                 EscapeMarkup(p.reason) + (p.broken_in_head ? CopyLine(p.reproduction) : "")});
  }
  return "<section id=\"properties\"><h2>Properties</h2>\n" +
         Table("Properties that changed",
               Head({"Property", "Change", "Reason"}) + body + "</tbody>") +
         "</section>\n";
}

std::string Nans(const DiffInput& in) {
  const std::vector<std::string> notes = NanNotes(in);
  std::string text;
  for (std::size_t i = 0; i < notes.size() && i < kMostRows; ++i) {
    text += "<p class=\"note\">" + EscapeMarkup(notes[i]) + "</p>\n";
  }
  return text;
}

std::string Attributes(const DiffInput& in) {
  std::string body = "<tbody>\n";
  for (const std::string& name : in.diff.attributes) {
    body += Row({EscapeMarkup(name), "<code>" + EscapeMarkup(in.base.Attribute(name)) + "</code>",
                 "<code>" + EscapeMarkup(in.head.Attribute(name)) + "</code>"});
  }
  return in.diff.attributes.empty()
             ? "<section id=\"setup\"><h2>Setup</h2>\n<p>The runs say the same about themselves."
               "</p></section>\n"
             : "<section id=\"setup\"><h2>Setup</h2>\n" +
                   Table("What differs between the runs themselves",
                         Head({"Attribute", "Base", "Head"}) + body + "</tbody>") +
                   "</section>\n";
}

}  // namespace

std::string DiffHtml(const DiffInput& in) {
  const RunDiff& d = in.diff;
  const std::string kind = d.regressed() ? "fail" : d.bit_equal() ? "pass" : "warn";
  const std::string word = d.regressed() ? "REGRESSED" : d.bit_equal() ? "EQUAL" : "CHANGED";
  const std::string body =
      "<header class=\"" + kind + "\">\n<h1><span class=\"verdict\">" + word + "</span> " +
      EscapeMarkup(Title(in.head)) + "</h1>\n<p class=\"headline\">" +
      EscapeMarkup(DiffHeadline(in)) + "</p>\n<p class=\"on\">base on " +
      EscapeMarkup(RanOn(in.base)) + ", kernels " + EscapeMarkup(KernelFiles(in.base)) + " <code>" +
      EscapeMarkup(in.base.Attribute("kernels_hash").substr(0, 12)) + "</code><br>head on " +
      EscapeMarkup(RanOn(in.head)) + ", kernels " + EscapeMarkup(KernelFiles(in.head)) + " <code>" +
      EscapeMarkup(in.head.Attribute("kernels_hash").substr(0, 12)) +
      "</code></p>\n</header>\n<main>\n" + Nans(in) + Changes(in) + Properties(in) +
      Only(in.head, d.only_head, "new", "New cases") +
      Only(in.base, d.only_base, "gone", "Cases that are gone") + Attributes(in) + "</main>\n";
  return Page(word + ": " + Title(in.head) + " - Voltcheck diff", body, "");
}

}  // namespace voltcheck::report
