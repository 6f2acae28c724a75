// What the page's script draws, as JSON. Compact: descriptors share their parts, columns stand
// instead of rows.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "verify/report/html_parts.h"
#include "verify/report/text.h"

namespace voltcheck::report {
namespace {

using Json = nlohmann::ordered_json;
using verify::Stage;

constexpr std::size_t kUseBins = 20;  // of budget use 0..1; one more for what is over

// Numbers as texts of three digits inside a JSON array: a third of the size of full doubles.
// NaN and infinities are strings.
class NumberList {
 public:
  void Add(double value) {
    text_ += text_.empty() ? "[" : ",";
    const std::string figure = Figure(value);
    text_ += std::isfinite(value) ? figure : "\"" + figure + "\"";
  }
  void AddWhole(std::int64_t value) {
    text_ += (text_.empty() ? "[" : ",") + std::to_string(value);
  }
  std::string Text() const { return text_.empty() ? "[]" : text_ + "]"; }

 private:
  std::string text_;
};

// Texts that occur often, as numbers.
class Dictionary {
 public:
  std::size_t Index(const std::string& text) {
    const auto [it, is_new] = index_.emplace(text, texts_.size());
    if (is_new) {
      texts_.push_back(text);
    }
    return it->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, std::size_t> index_;
  std::vector<std::string> texts_;
};

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string Parts(const std::string& descriptor, Dictionary& dictionary) {
  std::string list = "[";
  for (std::size_t at = 0;;) {
    const std::size_t comma = descriptor.find(',', at);
    list +=
        (at == 0 ? "" : ",") + std::to_string(dictionary.Index(descriptor.substr(at, comma - at)));
    if (comma == std::string::npos) {
      return list + "]";
    }
    at = comma + 1;
  }
}

std::string CaseColumns(const RunData& run, const std::vector<std::size_t>& order) {
  Dictionary parts;
  Dictionary reasons;
  std::string descriptors;
  NumberList use;
  NumberList end_to_end;
  NumberList max_abs;
  std::array<std::array<NumberList, 3>, verify::kStages.size()> stages;
  for (const std::size_t i : order) {
    const CaseFigures& c = run.cases[i];
    descriptors += (descriptors.empty() ? "" : ",") + Parts(c.descriptor, parts);
    reasons.Index(c.reason);
    use.Add(c.WorstUse());
    end_to_end.Add(c.WorstEndToEndUse());
    max_abs.Add(c.MaxAbs());
    for (std::size_t s = 0; s < stages.size(); ++s) {
      const StageFigures& f = c.stages[s];
      stages[s][0].Add(f.ran() ? f.Use() : -1);
      stages[s][1].Add(f.ran() ? f.end_to_end_use : -1);
      stages[s][2].Add(f.ran() ? f.max_abs : -1);
    }
  }
  const auto whole = [&](auto get) {
    NumberList list;
    for (const std::size_t i : order) {
      list.AddWhole(static_cast<std::int64_t>(get(i)));
    }
    return list.Text();
  };
  std::string stage_columns;
  for (const auto& stage : stages) {
    stage_columns += (stage_columns.empty() ? "[" : ",[") + stage[0].Text() + "," +
                     stage[1].Text() + "," + stage[2].Text() + "]";
  }
  return "{\"parts\":" + Dump(parts.texts()) + ",\"reasons\":" + Dump(reasons.texts()) +
         ",\"descriptor\":[" + descriptors + "],\"reason\":" +
         whole([&](std::size_t i) { return reasons.Index(run.cases[i].reason); }) +
         ",\"index\":" + whole([&](std::size_t i) { return run.cases.key(i).number; }) +
         ",\"verdict\":" +
         whole([&](std::size_t i) { return static_cast<int>(run.cases[i].verdict); }) +
         ",\"tokens\":" + whole([&](std::size_t i) { return run.cases[i].tokens; }) +
         ",\"bits\":" + whole([&](std::size_t i) { return run.cases[i].BitsDiffering(); }) +
         ",\"findings\":" + whole([&](std::size_t i) { return run.cases[i].findings; }) +
         ",\"use\":" + use.Text() + ",\"endToEnd\":" + end_to_end.Text() +
         ",\"maxAbs\":" + max_abs.Text() + ",\"stages\":[" + stage_columns + "]}";
}

std::string Maxima(const std::vector<verify::PartMaximum>& parts) {
  NumberList index;
  NumberList use;
  NumberList abs;
  for (const verify::PartMaximum& part : parts) {
    index.AddWhole(part.index);
    use.Add(part.use);
    abs.Add(part.abs);
  }
  return "{\"index\":" + index.Text() + ",\"use\":" + use.Text() + ",\"abs\":" + abs.Text() + "}";
}

// How many cases used how much of their budget in one stage.
struct UseBins {
  std::array<std::uint64_t, kUseBins + 1> cases{};
  std::uint64_t ran = 0;
};

std::array<UseBins, verify::kStages.size()> CountUses(const RunData& run) {
  std::array<UseBins, verify::kStages.size()> bins;
  for (const CaseFigures& c : run.cases) {
    for (std::size_t s = 0; s < bins.size(); ++s) {
      if (!c.stages[s].ran()) {
        continue;
      }
      ++bins[s].ran;
      const double use = c.stages[s].Use();
      // A use of exactly 1 is within the budget.
      const std::size_t bin =
          use > 1 ? kUseBins : std::min(kUseBins - 1, static_cast<std::size_t>(use * kUseBins));
      ++bins[s].cases[bin];
    }
  }
  return bins;
}

// Empty where the stage ran in no case.
std::string Charts(const RunData& run, Stage stage, const UseBins& uses) {
  if (uses.ran == 0) {
    return "";
  }
  const StageTotals& totals = run.totals[static_cast<std::size_t>(stage)];
  return "{\"name\":\"" + std::string(verify::ToString(stage)) + "\",\"uses\":" + Dump(uses.cases) +
         ",\"own\":" + Dump(totals.ulp_own) + ",\"reference\":" + Dump(totals.ulp_reference) +
         ",\"experts\":" + Maxima(totals.experts) + ",\"tiles\":" + Maxima(totals.tiles) + "}";
}

std::string UlpNames() {
  Json names = Json::array();
  for (std::size_t bin = 0; bin < verify::kUlpBins; ++bin) {
    const std::int32_t upper = verify::UlpBinUpper(bin);
    names.push_back(upper >= 0 ? (bin < 3 ? "" : "\xE2\x89\xA4 ") + std::to_string(upper)
                    : bin + 1 == verify::kUlpBins ? "not finite"
                                                  : "more");
  }
  return Dump(names);
}

}  // namespace

std::string PageData(const RunData& run, const std::vector<std::size_t>& order) {
  std::string stages;
  const auto uses = CountUses(run);
  for (const Stage stage : verify::kStages) {
    const std::string charts = Charts(run, stage, uses[static_cast<std::size_t>(stage)]);
    stages += (stages.empty() || charts.empty() ? "" : ",") + charts;
  }
  Json verdicts = Json::array();
  Json gravities = Json::array();
  for (std::size_t v = 0; v < verify::kVerdicts; ++v) {
    verdicts.push_back(verify::ToString(static_cast<verify::Verdict>(v)));
    gravities.push_back(Gravity(static_cast<verify::Verdict>(v)));
  }
  Json names = Json::array();
  for (const Stage stage : verify::kStages) {
    names.push_back(verify::ToString(stage));
  }
  // The descriptor goes between the quotes.
  const std::string line = run.Reproduction("\x01");
  const std::size_t at = line.find('\x01');
  std::string text = "{\"verdicts\":" + Dump(verdicts) + ",\"gravities\":" + Dump(gravities) +
                     ",\"stageNames\":" + Dump(names) + ",\"ulps\":" + UlpNames() +
                     ",\"before\":" + Dump(line.substr(0, at)) +
                     ",\"after\":" + Dump(line.substr(at + 1)) + ",\"stages\":[" + stages + "]" +
                     ",\"cases\":" + CaseColumns(run, order) + "}";
  // Nothing in here may end the element or open a comment.
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else if (c == '>') {
      safe += "\\u003e";
    } else if (c == '&') {
      safe += "\\u0026";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace voltcheck::report
