// The parts of the page that are maps: tables whose cells are coloured by what they hold, so that
// they can be read aloud and walked through as well as looked at.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "verify/report/html_parts.h"
#include "verify/report/text.h"

namespace voltcheck::report {
namespace {

using verify::Stage;

constexpr std::size_t kMostTokenColumns = 16;
constexpr std::size_t kMostTacticRows = 64;

// Token counts as columns: each by itself, or by powers of two where there are many.
std::uint64_t TokenColumn(std::uint64_t tokens, bool by_power) {
  std::uint64_t column = 1;
  while (by_power && column < tokens && column < (std::uint64_t{1} << 62U)) {
    column *= 2;
  }
  return by_power ? column : tokens;
}

struct HeatCell {
  double use = 0;
  std::uint64_t cases = 0;
};

// "8x128x64/1" before "16x128x32/1": numbers within text compare as numbers.
struct NaturalLess {
  bool operator()(const std::string& a, const std::string& b) const {
    const auto key = [](const std::string& text) {
      std::string padded;
      std::string digits;
      for (const char c : text + ":") {
        if (c >= '0' && c <= '9') {
          digits += c;
        } else {
          padded.append(digits.empty() || digits.size() > 8 ? 0 : 8 - digits.size(), '0');
          padded += digits + c;
          digits.clear();
        }
      }
      return padded;
    };
    return key(a) < key(b);
  }
};

bool HasManyTokenCounts(const RunData& run) {
  std::set<std::uint64_t> counts;
  for (const CaseFigures& c : run.cases) {
    counts.insert(c.tokens);
    if (counts.size() > kMostTokenColumns) {
      return true;
    }
  }
  return false;
}

std::string HeatMap(const RunData& run, Stage stage, std::string CaseFigures::*tactic,
                    bool by_power) {
  std::map<std::string, std::map<std::uint64_t, HeatCell>, NaturalLess> cells;
  std::set<std::uint64_t> columns;
  for (const CaseFigures& c : run.cases) {
    if (c.at(stage).ran()) {
      const std::uint64_t column = TokenColumn(c.tokens, by_power);
      columns.insert(column);
      HeatCell& cell = cells[c.*tactic][column];
      cell.use = std::max(cell.use, c.at(stage).Use());
      ++cell.cases;
    }
  }
  if (cells.empty()) {
    return "";
  }
  std::string head = "<thead><tr><th scope=\"col\">tactic</th>";
  for (const std::uint64_t column : columns) {
    head += std::string("<th scope=\"col\">") + (by_power && column > 1 ? "\xE2\x89\xA4 " : "") +
            std::to_string(column) + "</th>";
  }
  std::string body = "</tr></thead>\n<tbody>\n";
  std::size_t rows = 0;
  for (const auto& [name, by_column] : cells) {
    if (++rows > kMostTacticRows) {
      break;
    }
    body += "<tr><th scope=\"row\">" + EscapeMarkup(name) + "</th>";
    for (const std::uint64_t column : columns) {
      const auto it = by_column.find(column);
      if (it == by_column.end()) {
        body += "<td></td>";
        continue;
      }
      const double use = it->second.use;
      body += "<td class=\"" +
              (use > 1 ? std::string("over") : "u" + std::to_string(static_cast<int>(use * 9))) +
              "\" title=\"" + Count(it->second.cases, "case") + "\">" + Figure(use) + "</td>";
    }
    body += "</tr>\n";
  }
  const std::string what(verify::ToString(stage));
  std::string note;
  if (cells.size() > kMostTacticRows) {
    note = "<p class=\"note\">The first " + std::to_string(kMostTacticRows) + " of " +
           Grouped(cells.size()) + " tactics are shown.</p>\n";
  }
  return "<div>" + note +
         Table(what + ": largest budget use by tactic (down) and tokens (across)",
               head + body + "</tbody>", "heat") +
         "</div>\n";
}

// 2^-14 as text that a reader of the page understands.
std::string PowerOfTwo(std::size_t bin, int first) {
  return bin == 0 ? "0"
                  : "2<sup>" + std::to_string(first + 2 * (static_cast<int>(bin) - 1)) + "</sup>";
}

std::string PlainPower(std::size_t bin, int first) {
  return bin == 0 ? "0" : "2^" + std::to_string(first + 2 * (static_cast<int>(bin) - 1));
}

struct Bins {
  std::size_t first = verify::kMagnitudeBins;
  std::size_t last = 0;
  void Include(std::size_t bin) {
    first = std::min(first, bin);
    last = std::max(last, bin);
  }
};

std::string Density(const StageTotals& totals, Stage stage) {
  constexpr std::size_t kBins = verify::kMagnitudeBins;
  Bins values;
  Bins errors;
  std::uint64_t most = 0;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < totals.density.size(); ++i) {
    if (totals.density[i] > 0) {
      values.Include(i / kBins);
      errors.Include(i % kBins);
      most = std::max(most, totals.density[i]);
      sum += totals.density[i];
    }
  }
  if (most == 0) {
    return "";
  }
  const double scale = 8 / std::max(1.0, std::log2(static_cast<double>(most)));
  std::string body = "<tbody>\n";
  for (std::size_t e = errors.last + 1; e-- > errors.first;) {
    body += "<tr><th scope=\"row\">" + PowerOfTwo(e, verify::kErrorFirstExponent) + "</th>";
    for (std::size_t v = values.first; v <= values.last; ++v) {
      const std::uint64_t count = totals.density[v * kBins + e];
      if (count == 0) {
        body += "<td></td>";
        continue;
      }
      const int shade = static_cast<int>(1 + scale * std::log2(static_cast<double>(count)));
      body += "<td class=\"d" + std::to_string(std::clamp(shade, 1, 9)) +
              "\" title=\"|want| from " + PlainPower(v, verify::kValueFirstExponent) +
              ", |d| from " + PlainPower(e, verify::kErrorFirstExponent) + "\"><span>" +
              Grouped(count) + "</span></td>";
    }
    body += "</tr>\n";
  }
  body += "</tbody><tfoot><tr><td></td>";
  for (std::size_t v = values.first; v <= values.last; ++v) {
    body += "<th scope=\"col\">" + PowerOfTwo(v, verify::kValueFirstExponent) + "</th>";
  }
  return Table(std::string(verify::ToString(stage)) + ": " + Grouped(sum) +
                   " elements, |difference| (up) by |expected value| (right)",
               body + "</tr></tfoot>", "density");
}

}  // namespace

std::string HeatMapSection(const RunData& run) {
  const bool by_power = HasManyTokenCounts(run);
  const std::string maps = HeatMap(run, Stage::kW13, &CaseFigures::w13, by_power) +
                           HeatMap(run, Stage::kW2, &CaseFigures::w2, by_power);
  return maps.empty() ? ""
                      : "<section id=\"heat\"><h2>Budget use</h2>\n<div class=\"maps\">\n" + maps +
                            "</div></section>\n";
}

std::string DensitySection(const RunData& run) {
  std::string maps;
  for (const Stage stage : verify::kStages) {
    maps += Density(run.totals[static_cast<std::size_t>(stage)], stage);
  }
  return maps.empty()
             ? ""
             : "<section id=\"density\"><h2>Error against magnitude</h2>\n<p>Elements of all "
               "cases against the fp64 oracle from the case's inputs. Axes are the lower ends of "
               "bins that are two powers of two wide, darker cells hold more elements "
               "(logarithmic), 0 is a difference below 2<sup>-36</sup> or none.</p>\n"
               "<div class=\"maps\">\n" +
                   maps + "</div></section>\n";
}

std::string LogitsSection(const RunData& run) {
  std::string body = "<tbody>\n";
  std::uint64_t rows = 0;
  std::uint64_t equal = 0;
  std::uint64_t nonfinite = 0;
  std::size_t shown = 0;
  std::uint64_t cases = 0;
  constexpr std::size_t kMostRows = 50;
  std::vector<std::pair<double, std::size_t>> order;  // largest KL divergence, and the case
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const verify::LogitFigures& l = run.cases[i].logits;
    if (l.rows > 0) {
      // A NaN sorts first: it is what a reader has to see.
      order.emplace_back(std::isnan(l.kl_max) ? HUGE_VAL : l.kl_max, i);
      rows += l.rows;
      equal += l.argmax_equal;
      nonfinite += l.nonfinite_rows;
      ++cases;
    }
  }
  if (order.empty()) {
    return "";
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [kl, i] : order) {
    if (++shown > kMostRows) {
      break;
    }
    const verify::LogitFigures& l = run.cases[i].logits;
    const std::string number = std::to_string(run.cases.key(i).number);
    body += Row({"<a href=\"#case-" + number + "\" data-case=\"" + number + "\">" + number + "</a>",
                 Grouped(l.rows), Grouped(l.nonfinite_rows), Grouped(l.argmax_equal),
                 l.first_flip < 0 ? "-" : std::to_string(l.first_flip), Figure(l.flipped_margin),
                 Figure(l.max_abs), Figure(l.rms), Figure(l.top_overlap),
                 Figure(l.top_log_probability), Figure(l.kl_mean), Figure(l.kl_max)});
  }
  return "<section id=\"logits\"><h2>Logits</h2>\n<p>" + Count(cases, "case") + " with a head, " +
         Grouped(rows) + " tokens: " + Grouped(equal) + " with FP32's greedy choice, " +
         Grouped(nonfinite) + " with a logit that is not finite." +
         (cases > kMostRows ? " The largest KL divergences:" : "") + "</p>\n" +
         Table("Logits of the device's output against FP32's, largest KL divergence first",
               Head({"Case", "#Tokens", "#Not finite", "#Same choice", "#First flip",
                     "#Flipped margin", "#Max |d|", "#RMS", "#Top-5 overlap", "#Top-5 log-prob",
                     "#KL mean", "#KL max"}) +
                   body + "</tbody>",
               "numbers") +
         "</section>\n";
}

}  // namespace voltcheck::report
