#include <nlohmann/json.hpp>

#include "verify/explain/write.h"

namespace voltcheck::explain {
namespace {

using Json = nlohmann::ordered_json;

Json OrNull(const std::optional<double>& x) { return x ? Json(*x) : Json(); }

Json Of(const Sides& s) {
  return {
      {"device", OrNull(s.device)}, {"model", OrNull(s.model)}, {"fp32", s.fp32}, {"fp64", s.fp64}};
}

Json Of(const RowRoute& r) {
  return {{"row", r.row},         {"slot", r.slot},
          {"token", r.token},     {"route", r.route},
          {"expert", r.expert},   {"router_weight", r.router_weight},
          {"segment", r.segment}, {"segment_rows", {r.segment_begin, r.segment_end}}};
}

Json Of(const Step& s) {
  Json json = {{"label", s.label}, {"split", s.split}, {"k", s.k}};
  json.update(Of(s.sum));
  json["model_half"] = OrNull(s.model_half);
  json["differs"] = s.differs;
  return json;
}

Json Of(const Factor& f) {
  Json json = {{"k", f.k}, {"activation", f.activation}, {"weight", f.weight}};
  if (f.nibble >= 0) {
    json.update({{"nibble", f.nibble},
                 {"zero", f.zero},
                 {"scale", f.scale},
                 {"group", f.group},
                 {"word", f.word},
                 {"place", f.place}});
  }
  return json;
}

template <typename T>
Json List(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) {
    list.push_back(Of(item));
  }
  return list;
}

}  // namespace

std::string ToJson(const Explanation& e) {
  const Json json = {{"schema", "voltcheck.explain/1"},
                     {"case", e.descriptor},
                     {"stage", verify::ToString(e.stage)},
                     {"row", e.row},
                     {"col", e.col},
                     {"what", e.what},
                     {"tactic", e.tactic},
                     {"notes", e.notes},
                     {"routes", List(e.routes)},
                     {"result", Of(e.result)},
                     {"budget", OrNull(e.budget)},
                     {"departure", e.departure < 0 ? Json() : Json(e.departure)},
                     {"steps", List(e.steps)},
                     {"factors", List(e.factors)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace voltcheck::explain
