// A run as JSON. Cases are turned into text one by one: the whole never stands in memory.
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "verify/report/render.h"
#include "verify/report/summary.h"
#include "verify/report/text.h"

namespace voltcheck::report {
namespace {

using Json = nlohmann::ordered_json;

// Figures that are not finite are named: JSON has no number for them.
Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(Figure(value)); }

// The shortest decimal of the float32 that the file holds, not of its double.
Json Number(float value) {
  if (!std::isfinite(value)) {
    return Figure(value);
  }
  const std::string text = Exact(value);
  double decimal = 0;
  std::from_chars(text.data(), text.data() + text.size(), decimal);
  return decimal;
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Json At(const Place& place, bool has_budget) {
  if (place.row < 0) {
    return nullptr;
  }
  Json json = {{"row", place.row},
               {"col", place.col},
               {"got", Number(place.got)},
               {"want", Number(place.want)}};
  if (has_budget) {
    json["budget"] = Number(place.budget);
  }
  return json;
}

Json ToJson(const StageFigures& f) {
  return {{"verdict", verify::ToString(f.verdict)},
          {"elements", f.elements},
          {"over_budget", f.over_budget},
          {"nonfinite_got", f.nonfinite_got},
          {"nonfinite_want", f.nonfinite_want},
          {"bits_compared", f.bits_compared},
          {"bits_differing", f.bits_differing},
          {"bits_open", f.bits_open},
          {"hash", f.hash == 0 ? Json() : Json(Hex(f.hash))},
          {"own_use", Number(f.own_use)},
          {"own_use_p99", Number(f.own_use_p99)},
          {"own_use_at", At(f.worst_use, true)},
          {"posterior_use", Number(f.posterior_use)},
          {"end_to_end_use", Number(f.end_to_end_use)},
          {"max_abs", Number(f.max_abs)},
          {"max_abs_at", At(f.worst_abs, false)},
          {"rms", Number(f.rms)},
          {"bias", Number(f.bias)}};
}

Json ToJson(const verify::LogitFigures& f) {
  return {{"rows", f.rows},
          {"nonfinite_rows", f.nonfinite_rows},
          {"elements", f.elements},
          {"max_abs", Number(f.max_abs)},
          {"rms", Number(f.rms)},
          {"argmax_equal", f.argmax_equal},
          {"first_flip", f.first_flip},
          {"flipped_margin", Number(f.flipped_margin)},
          {"top5_overlap", Number(f.top_overlap)},
          {"top5_log_probability", Number(f.top_log_probability)},
          {"kl_mean", Number(f.kl_mean)},
          {"kl_max", Number(f.kl_max)}};
}

Json ToJson(const RunData& run, const CaseFigures& c) {
  Json stages = Json::object();
  for (const verify::Stage stage : verify::kStages) {
    if (c.at(stage).ran()) {
      stages[std::string(verify::ToString(stage))] = ToJson(c.at(stage));
    }
  }
  return {{"index", c.number},
          {"descriptor", c.descriptor},
          {"verdict", verify::ToString(c.verdict)},
          {"reason", c.reason},
          {"reproduction", run.Reproduction(c.descriptor)},
          {"tokens", c.tokens},
          {"w13", c.w13},
          {"w2", c.w2},
          {"findings", c.findings},
          {"stages", stages},
          {"logits", c.logits.rows == 0 ? Json() : ToJson(c.logits)}};
}

Json ToJson(const FindingEntry& f) {
  const auto dim = [](const kernels::Dim3& d) { return Json{d.x, d.y, d.z}; };
  return {{"case", f.case_number},         {"checker", f.finding.checker},
          {"kernel", f.finding.kernel},    {"message", f.finding.message},
          {"file", f.finding.file},        {"line", f.finding.line},
          {"source", f.finding.source},    {"source_text", f.source_text},
          {"block", dim(f.finding.block)}, {"thread", dim(f.finding.thread)},
          {"address", f.finding.address}};
}

Json ToJson(const verify::PropertyRecord& p) {
  return {{"property", p.property}, {"descriptor", p.descriptor},
          {"draw", p.draw},         {"verdict", verify::ToString(p.verdict)},
          {"reason", p.reason},     {"reproduction", p.reproduction},
          {"drawn", p.drawn}};
}

Json ToJson(const MutantEntry& m) {
  return {{"id", m.id},         {"operator", m.op},     {"kernel", m.kernel},
          {"line", m.line},     {"change", m.change},   {"fate", m.fate},
          {"reason", m.reason}, {"case", m.case_index}, {"cases_run", m.cases_run}};
}

Json SummaryJson(const RunData& run, const RunSummary& summary) {
  const verify::Summary& v = summary.verdicts;
  Json verdicts = Json::object();
  for (std::size_t i = 0; i < verify::kVerdicts; ++i) {
    const auto verdict = static_cast<verify::Verdict>(i);
    verdicts[std::string(verify::ToString(verdict))] = v.count(verdict);
  }
  Json stages = Json::object();
  for (std::size_t s = 0; s < summary.stages.size(); ++s) {
    const StageSummary& t = summary.stages[s];
    if (t.cases > 0) {
      const auto worst = [&run](const WorstFigure& f) {
        return f.case_index < 0
                   ? Json()
                   : Json{{"value", Number(f.value)},
                          {"case", run.cases.key(static_cast<std::size_t>(f.case_index)).number}};
      };
      stages[std::string(verify::ToString(verify::kStages[s]))] = {
          {"cases", t.cases},
          {"elements", t.elements},
          {"nonfinite", t.nonfinite},
          {"over_budget", t.over_budget},
          {"bits_compared", t.bits_compared},
          {"bits_differing", t.bits_differing},
          {"rms", Number(t.rms)},
          {"own_use", worst(t.own_use)},
          {"end_to_end_use", worst(t.end_to_end_use)},
          {"max_abs", worst(t.max_abs)}};
    }
  }
  Json nan = Json::array();
  for (const NanColumn& column : run.nan_columns) {
    nan.push_back(
        {{"column", column.name}, {"cases", column.count}, {"first_case", column.first_case}});
  }
  return {{"cases", v.cases},
          {"passed_all", summary.outcome == Outcome::kPassed},
          {"verdicts", verdicts},
          {"allowed_skips", v.allowed_skips},
          {"reasons", summary.reasons},
          {"notes", summary.notes},
          {"nan", nan},
          {"stages", stages},
          {"properties",
           {{"held", summary.properties_held},
            {"broken", summary.properties_broken},
            {"skipped", summary.properties_skipped}}},
          {"mutants",
           {{"caught", summary.mutants_caught},
            {"survived", summary.mutants_survived},
            {"other", summary.mutants_other}}}};
}

template <typename Items>
void WriteArray(const char* name, const Items& items, const auto& turn, const Sink& sink) {
  sink(std::string(",\n\"").append(name).append("\": ["));
  const char* before = "\n";
  for (const auto& item : items) {
    sink(before + Dump(turn(item)));
    before = ",\n";
  }
  sink("]");
}

}  // namespace

void RenderJson(const RunData& run, const Sink& sink) {
  const RunSummary summary = Summarise(run);
  sink("{\"schema\": \"voltcheck.report/1\",\n\"outcome\": " +
       Dump(Json(ToString(summary.outcome))) + ",\n\"headline\": " + Dump(Json(summary.headline)) +
       ",\n\"run\": " + Dump(Json(run.attributes)) + ",\n\"complete\": " +
       (run.complete ? "true" : "false") + ",\n\"summary\": " + Dump(SummaryJson(run, summary)));
  const auto turn = [](const auto& item) { return ToJson(item); };
  WriteArray(
      "cases", run.cases, [&run](const CaseFigures& c) { return ToJson(run, c); }, sink);
  WriteArray("findings", run.findings, turn, sink);
  WriteArray("properties", run.properties, turn, sink);
  WriteArray("mutants", run.mutants, turn, sink);
  sink("}\n");
}

}  // namespace voltcheck::report
