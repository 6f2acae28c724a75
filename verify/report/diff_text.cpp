// What changed between two runs, as text for a terminal and as a comment on a pull request.
#include <algorithm>

#include "verify/report/diff.h"
#include "verify/report/text.h"

namespace voltcheck::report {
namespace {

constexpr std::size_t kShown = 20;         // changes on a terminal
constexpr std::size_t kShownComment = 25;  // rows of a comment's table
constexpr std::size_t kOnlyShown = 5;
constexpr std::size_t kNanShown = 5;
constexpr std::size_t kNanInComment = 2;  // of 60 lines

std::string Padded(std::string text, std::size_t width) {
  if (text.size() < width) {
    text.append(width - text.size(), ' ');
  }
  return text;
}

std::string Verdicts(const DiffInput& in, const CasePair& p) {
  const std::string base = VerdictWord(in.base.cases.key(p.base));
  const std::string head = VerdictWord(in.head.cases.key(p.head));
  return base == head ? head : base + " -> " + head;
}

std::string Uses(const CasePair& p) {
  return p.base_use == p.head_use ? Figure(p.head_use)
                                  : Figure(p.base_use) + " -> " + Figure(p.head_use);
}

std::string Bits(const CasePair& p) {
  return !p.bits_changed.empty()   ? StageNames(p.bits_changed)
         : !p.bits_unknown.empty() ? "not recorded"
                                   : "equal";
}

std::string Tactics(const DiffInput& in, const CasePair& p) {
  const CaseFigures& a = in.base.cases[p.base];
  const CaseFigures& b = in.head.cases[p.head];
  std::string text;
  if (a.w13 != b.w13) {
    text = "w13 " + a.w13 + " -> " + b.w13;
  }
  if (a.w2 != b.w2) {
    text += (text.empty() ? "w2 " : ", w2 ") + a.w2 + " -> " + b.w2;
  }
  return text;
}

// The numbers that reports and `replay --from` call the cases by.
std::string BaseNumber(const DiffInput& in, const CasePair& p) {
  return std::to_string(in.base.cases.key(p.base).number);
}
std::string HeadNumber(const DiffInput& in, const CasePair& p) {
  return std::to_string(in.head.cases.key(p.head).number);
}

std::vector<const CasePair*> PinnedChanges(const DiffInput& in, std::size_t most) {
  std::vector<const CasePair*> changed = WorstChangesFirst(in.diff, in.head);
  PinPairs(in, std::span(changed).first(std::min(most, changed.size())));
  return changed;
}

// "NAME A -> B" of what the runs say about themselves. Long values lose the words that both begin
// with: two command lines that are cut behind the same words say nothing.
std::string AttributeLine(const DiffInput& in, const std::string& name) {
  constexpr std::size_t kWidth = 28;
  std::string base = in.base.Attribute(name);
  std::string head = in.head.Attribute(name);
  if (std::max(base.size(), head.size()) > kWidth) {
    const auto differs = std::mismatch(base.begin(), base.end(), head.begin(), head.end()).first;
    const std::size_t same = static_cast<std::size_t>(differs - base.begin());
    const std::size_t space = same == 0 ? std::string::npos : base.rfind(' ', same - 1);
    if (space != std::string::npos) {
      base.replace(0, space + 1, "... ");
      head.replace(0, space + 1, "... ");
    }
  }
  return "  " + Padded(name, 12) + " " + Clean(base, kWidth) + " -> " + Clean(head, kWidth) + "\n";
}

// The descriptors that only one run has, the first few of them.
std::string Only(const RunData& run, const std::vector<std::size_t>& cases, const char* what) {
  std::string text;
  for (std::size_t i = 0; i < cases.size() && i < kOnlyShown; ++i) {
    const CaseFigures& c = run.cases[cases[i]];
    text += std::string(what) + " " + std::string(verify::ToString(c.verdict)) + ": " +
            c.descriptor + "\n";
  }
  if (cases.size() > kOnlyShown) {
    text += "... and " + Grouped(cases.size() - kOnlyShown) + " more that are " + what + "\n";
  }
  return text;
}

}  // namespace

std::string DiffText(const DiffInput& in) {
  std::string text = DiffHeadline(in) + "\n";
  for (const std::string& name : in.diff.attributes) {
    text += AttributeLine(in, name);
  }
  const std::vector<std::string> nans = NanNotes(in);
  for (std::size_t i = 0; i < nans.size() && i < kNanShown; ++i) {
    text += "  " + Wrap(nans[i], 2, 4) + "\n";
  }
  if (nans.size() > kNanShown) {
    text += "  ... and " + Grouped(nans.size() - kNanShown) + " more columns with NaN\n";
  }
  const std::vector<const CasePair*> changed = PinnedChanges(in, kShown);
  if (!changed.empty()) {
    text += "\n" + Padded("base", 6) + Padded("head", 6) + Padded("verdict", 24) +
            Padded("budget use", 18) + "other bits\n";
  }
  for (std::size_t i = 0; i < changed.size() && i < kShown; ++i) {
    const CasePair& p = *changed[i];
    text += Padded(BaseNumber(in, p), 6) + Padded(HeadNumber(in, p), 6) +
            Padded(Verdicts(in, p), 24) + Padded(Uses(p), 18) + Bits(p) + "\n";
    if (p.tactic_changed) {
      text += "            " + Tactics(in, p) + "\n";
    }
    if (!p.stages_changed.empty()) {
      text += "            ran in one only: " + StageNames(p.stages_changed) + "\n";
    }
    if (p.worse) {
      const CaseFigures& c = in.head.cases[p.head];
      text += "  " + Wrap(WhyWorse(c), 2, 2) + "\n  " + in.head.Reproduction(c.descriptor) + "\n";
    }
  }
  if (changed.size() > kShown) {
    text += "... and " + Grouped(changed.size() - kShown) + " more that changed\n";
  }
  for (const PropertyChange& p : in.diff.properties) {
    text += "\n" +
            Wrap("property " + p.property +
                     (p.broken_in_head ? " is broken now: " : " holds again") + p.reason,
                 0, 2) +
            "\n";
    if (p.broken_in_head) {
      text += "  " + p.reproduction + "\n";
    }
  }
  text += Only(in.head, in.diff.only_head, "new");
  text += Only(in.base, in.diff.only_base, "gone");
  return text;
}

std::string DiffMarkdown(const DiffInput& in) {
  const RunDiff& d = in.diff;
  std::string text = "### Voltcheck diff: " + DiffHeadline(in) + "\n";
  std::string attributes;
  for (const std::string& name : d.attributes) {
    attributes += (attributes.empty() ? "" : ", ") + MarkdownCode(name);
  }
  if (!attributes.empty()) {
    text += "\nother in head: " + attributes + "\n";
  }
  const std::vector<std::string> nans = NanNotes(in);
  for (std::size_t i = 0; i < nans.size() && i < kNanInComment; ++i) {
    text += "\nnote: " + MarkdownCode(nans[i]) + "\n";
  }
  if (nans.size() > kNanInComment) {
    text += "\n... and " + Grouped(nans.size() - kNanInComment) + " more columns with NaN\n";
  }
  const std::vector<const CasePair*> changed = PinnedChanges(in, kShownComment);
  if (!changed.empty()) {
    text +=
        "\n| base | head | verdict | budget use | other bits | tactic |\n"
        "|---:|---:|---|---|---|---|\n";
  }
  for (std::size_t i = 0; i < changed.size() && i < kShownComment; ++i) {
    const CasePair& p = *changed[i];
    // Tactics come from the file, so they stand in code, and what ends a cell is replaced.
    std::string tactics = Tactics(in, p);
    for (char& c : tactics) {
      c = c == '|' || c == '`' ? '?' : c;
    }
    text += "| " + BaseNumber(in, p) + " | " + HeadNumber(in, p) + " | " + Verdicts(in, p) + " | " +
            Uses(p) + " | " + Bits(p) + " | " + (tactics.empty() ? "" : MarkdownCode(tactics)) +
            " |\n";
  }
  if (changed.size() > kShownComment) {
    text += "\n... and " + Grouped(changed.size() - kShownComment) + " more that changed\n";
  }
  std::size_t shown = 0;
  constexpr std::size_t kFolds = 4;
  for (const CasePair* p : changed) {
    if (p->worse && shown++ < kFolds) {
      const CaseFigures& c = in.head.cases[p->head];
      text += "\n<details><summary><b>" + std::string(verify::ToString(c.verdict)) +
              "</b> <code>case " + std::to_string(c.number) + ": " +
              EscapeMarkup(Clean(WhyWorse(c), 140)) + "</code></summary>\n\n" +
              MarkdownCode(in.head.Reproduction(c.descriptor)) + "\n</details>\n";
    }
  }
  for (const PropertyChange& p : d.properties) {
    if (p.broken_in_head && shown++ < kFolds) {
      text += "\nproperty " + MarkdownCode(p.property) +
              " is broken now: " + MarkdownCode(p.reason) + "\n";
    }
  }
  return text;
}

}  // namespace voltcheck::report
