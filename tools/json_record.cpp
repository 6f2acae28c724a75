#include "tools/json_record.h"

#include <cmath>
#include <string>

namespace voltcheck::tools {

using Json = nlohmann::ordered_json;
using verify::ComparisonFigures;
using verify::Extremum;
using verify::StageRecord;

namespace {

Json ToJson(const Extremum& x) {
  if (x.row < 0) {
    return nullptr;
  }
  return {{"row", x.row},   {"col", x.col},       {"got", x.got},
          {"want", x.want}, {"budget", x.budget}, {"value", x.magnitude}};
}

Json ToJson(const ComparisonFigures& f, bool has_budget) {
  Json json = {{"elements", f.elements},
               {"differing", f.differing},
               {"nonfinite_got", f.nonfinite_got},
               {"nonfinite_want", f.nonfinite_want},
               {"max_abs", ToJson(f.max_abs)},
               {"rms", f.rms},
               {"bias", f.bias},
               {"rms_want", f.rms_want},
               {"cosine", f.cosine}};
  if (has_budget) {
    json["over_budget"] = f.over_budget;
    json["max_use"] = ToJson(f.max_use);
    json["use_p999"] = f.use_p999;
    json["use_p99"] = f.use_p99;
    json["use_p50"] = f.use_p50;
    json["use_rms"] = f.use_rms;
    json["use_mean"] = f.use_mean;
    json["budget_rms_relative"] = f.budget_rms_relative;
  }
  json["ulp_histogram"] = f.ulp_histogram;
  return json;
}

Json ToJson(const verify::Departure& d) {
  if (d.k < 0) {
    return nullptr;
  }
  return {{"row", d.row}, {"col", d.col}, {"split", d.split},
          {"k", d.k},     {"got", d.got}, {"want", d.want}};
}

Json ToJson(const verify::PartFigures& f) {
  return {{"index", f.index},      {"elements", f.elements}, {"nonfinite", f.nonfinite},
          {"rms", f.rms},          {"max_abs", f.max_abs},   {"bias", f.bias},
          {"rms_want", f.rms_want}};
}

Json WorstParts(const StageRecord& s) {
  Json parts = Json::object();
  for (const verify::Part part : verify::kParts) {
    const verify::PartFigures& f = s.worst_part[static_cast<std::size_t>(part)];
    if (f.index >= 0) {
      parts[std::string(verify::ToString(part))] = ToJson(f);
    }
  }
  return parts;
}

}  // namespace

Json ToJson(const verify::LogitFigures& f) {
  return {{"rows", f.rows},
          {"nonfinite_rows", f.nonfinite_rows},
          {"elements", f.elements},
          {"max_abs", f.max_abs},
          {"max_abs_row", f.max_abs_row},
          {"max_abs_column", f.max_abs_column},
          {"differing", f.differing},
          {"rms", f.rms},
          {"rms_error", f.rms_error},
          {"bias", f.bias},
          {"bias_error", f.bias_error},
          {"argmax_equal", f.argmax_equal},
          {"argmax_error", f.argmax_error},
          {"flipped_margin", f.flipped_margin},
          {"top5_overlap", f.top_overlap},
          {"top5_overlap_error", f.top_overlap_error},
          {"top5_log_probability", f.top_log_probability},
          {"top5_log_probability_mean", f.top_log_probability_mean},
          {"top5_log_probability_error", f.top_log_probability_error},
          {"kl_mean", f.kl_mean},
          {"kl_mean_error", f.kl_mean_error},
          {"kl_median", f.kl_median},
          {"kl_median_error", f.kl_median_error},
          {"kl_p99", f.kl_p99},
          {"kl_p99_error", f.kl_p99_error},
          {"kl_max", f.kl_max},
          {"first_flip", f.first_flip},
          {"first_flip_base", f.first_flip_base},
          {"first_flip_other", f.first_flip_other}};
}

namespace {

Json ToJson(const StageRecord& s) {
  return {{"verdict", verify::ToString(s.verdict)},
          {"reason", s.reason},
          {"own", ToJson(s.own, true)},
          {"posterior", s.posterior.elements == 0 ? Json() : ToJson(s.posterior, true)},
          {"end_to_end", ToJson(s.end_to_end, true)},
          {"reference", ToJson(s.reference, false)},
          {"reference_over", s.reference_over},
          {"hidden", s.hidden},
          {"worst", WorstParts(s)},
          {"departure", ToJson(s.departure)},
          {"bits",
           {{"compared", s.bits_compared},
            {"differing", s.bits_differing},
            {"open", s.bits_open},
            {"first", ToJson(s.first_difference)},
            {"exact", s.exact},
            {"exact_differing", s.exact_differing}}}};
}

Json ToJson(const kernels::Dim3& d) { return {d.x, d.y, d.z}; }

}  // namespace

Json ToJson(const kernels::Finding& f) {
  return {{"checker", f.checker},     {"kernel", f.kernel},
          {"message", f.message},     {"file", f.file},
          {"line", f.line},           {"source", f.source},
          {"block", ToJson(f.block)}, {"thread", ToJson(f.thread)},
          {"address", f.address}};
}

Json ToJson(const kernels::Counters& c) {
  return {{"lane_instructions", c.lane_instructions},
          {"warp_instructions", c.warp_instructions},
          {"mma", c.mma},
          {"mma_zero_rows", c.mma_zero_rows},
          {"bank_conflicts", c.bank_conflicts},
          {"global_sectors", c.global_sectors}};
}

Json ToJson(const verify::CaseRecord& record) {
  Json stages = Json::object();
  for (const verify::Stage stage : verify::kStages) {
    if (record.at(stage).present) {
      stages[std::string(verify::ToString(stage))] = ToJson(record.at(stage));
    }
  }
  Json findings = Json::array();
  for (const kernels::Finding& finding : record.findings) {
    findings.push_back(ToJson(finding));
  }
  return {{"index", record.index},
          {"descriptor", record.descriptor},
          {"verdict", verify::ToString(record.verdict)},
          {"reason", record.reason},
          {"reproduction", record.reproduction},
          {"tokens", record.c.shape.tokens},
          {"slots", record.c.shape.slots()},
          {"active_experts", record.active_experts},
          {"w13", ToString(record.c.w13)},
          {"w2", ToString(record.c.w2)},
          {"stages", stages},
          {"logits", record.logits.rows == 0 ? Json() : ToJson(record.logits)},
          {"findings", findings},
          {"counters", ToJson(record.counters)},
          {"seconds",
           {{"reference", record.seconds.reference},
            {"oracle", record.seconds.oracle},
            {"prepare", record.seconds.prepare},
            {"device", record.seconds.device},
            {"model", record.seconds.model}}}};
}

Json ToJson(const verify::Summary& summary) {
  Json json = {{"cases", summary.cases}, {"passed_all", summary.passed()}};
  for (std::size_t v = 0; v < verify::kVerdicts; ++v) {
    const auto verdict = static_cast<verify::Verdict>(v);
    json[std::string(verify::ToString(verdict))] = summary.count(verdict);
  }
  json["allowed_skips"] = summary.allowed_skips;
  return json;
}

JsonStream::JsonStream(std::FILE* out, std::string_view schema) : out_(out) {
  std::fprintf(out_, "{\"schema\": %s,\n\"cases\": [", Json(schema).dump().c_str());
}

void JsonStream::Append(const verify::CaseRecord& record) {
  const std::string text =
      ToJson(record).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::fprintf(out_, "%s\n%s", first_ ? "" : ",", text.c_str());
  first_ = false;
}

void JsonStream::Finish(Json summary) {
  std::fprintf(out_, "],\n\"summary\": %s}\n", summary.dump().c_str());
}

}  // namespace voltcheck::tools
