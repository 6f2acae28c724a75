// What changed between two runs, as JSON.
#include <cmath>
#include <nlohmann/json.hpp>

#include "verify/report/diff.h"
#include "verify/report/text.h"

namespace voltcheck::report {
namespace {

using Json = nlohmann::ordered_json;

Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(Figure(value)); }

Json Names(const std::vector<verify::Stage>& stages) {
  Json names = Json::array();
  for (const verify::Stage stage : stages) {
    names.push_back(verify::ToString(stage));
  }
  return names;
}

Json Side(const RunData& run, std::size_t index, double use) {
  const CaseFigures& c = run.cases[index];
  return {{"index", c.number},  {"verdict", verify::ToString(c.verdict)},
          {"reason", c.reason}, {"use", Number(use)},
          {"w13", c.w13},       {"w2", c.w2}};
}

Json Only(const RunData& run, const std::vector<std::size_t>& cases) {
  Json list = Json::array();
  for (const std::size_t i : cases) {
    list.push_back({{"index", run.cases.key(i).number},
                    {"descriptor", run.cases[i].descriptor},
                    {"verdict", verify::ToString(run.cases[i].verdict)}});
  }
  return list;
}

}  // namespace

std::string DiffJson(const DiffInput& in) {
  const RunDiff& d = in.diff;
  Json attributes = Json::object();
  for (const std::string& name : d.attributes) {
    attributes[name] = {{"base", in.base.Attribute(name)}, {"head", in.head.Attribute(name)}};
  }
  Json changes = Json::array();
  for (const CasePair* p : WorstChangesFirst(d, in.head)) {
    const CaseFigures& c = in.head.cases[p->head];
    changes.push_back({{"descriptor", c.descriptor},
                       {"reproduction", in.head.Reproduction(c.descriptor)},
                       {"worse", p->worse},
                       {"base", Side(in.base, p->base, p->base_use)},
                       {"head", Side(in.head, p->head, p->head_use)},
                       {"bits_changed", Names(p->bits_changed)},
                       {"bits_unknown", Names(p->bits_unknown)},
                       {"stages_changed", Names(p->stages_changed)}});
  }
  Json properties = Json::array();
  for (const PropertyChange& p : d.properties) {
    properties.push_back({{"property", p.property},
                          {"broken_in_base", p.broken_in_base},
                          {"broken_in_head", p.broken_in_head},
                          {"reason", p.reason},
                          {"reproduction", p.reproduction}});
  }
  const Json json = {{"schema", "voltcheck.diff/1"},
                     {"headline", DiffHeadline(in)},
                     {"same_setup", d.same_setup},
                     {"bit_equal", d.bit_equal()},
                     {"regressed", d.regressed()},
                     {"summary",
                      {{"in_both", d.pairs.size()},
                       {"worse", d.worse},
                       {"better", d.better},
                       {"bits_changed", d.bits_changed},
                       {"bits_unknown", d.bits_unknown},
                       {"stages_changed", d.stages_changed},
                       {"tactic_changed", d.tactic_changed},
                       {"use_changed", d.use_changed},
                       {"new", d.only_head.size()},
                       {"new_not_passed", d.new_not_passed},
                       {"gone", d.only_base.size()}}},
                     {"attributes", attributes},
                     {"changes", changes},
                     {"properties", properties},
                     {"new", Only(in.head, d.only_head)},
                     {"gone", Only(in.base, d.only_base)}};
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace voltcheck::report
