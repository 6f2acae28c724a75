// What changed between two runs, as JSON.
#include <algorithm>
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

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The members of an object and the entries of its lists, a line each, as they come.
class Writer {
 public:
  explicit Writer(const Sink& sink) : sink_(sink) { sink_("{\n"); }
  void Member(const char* name, const Json& value) { sink_(Begin(name) + Dump(value)); }
  /// `each` is called with what appends an entry.
  template <typename Each>
  void List(const char* name, Each each) {
    sink_(Begin(name) + "[");
    bool first = true;
    each([&](const Json& entry) {
      sink_((first ? "\n  " : ",\n  ") + Dump(entry));
      first = false;
    });
    sink_(first ? "]" : "\n ]");
  }
  void End() { sink_("\n}\n"); }

 private:
  std::string Begin(const char* name) {
    const std::string comma = first_ ? "" : ",\n";
    first_ = false;
    return comma + " \"" + name + "\": ";
  }

  const Sink& sink_;
  bool first_ = true;
};

template <typename Append>
void Only(const RunData& run, const std::vector<std::size_t>& cases, Append append) {
  for (const std::size_t i : cases) {
    const CaseFigures& c = run.cases[i];
    append(Json{{"index", c.number},
                {"descriptor", c.descriptor},
                {"verdict", verify::ToString(c.verdict)}});
  }
}

Json Change(const DiffInput& in, const CasePair& p) {
  const CaseFigures& c = in.head.cases[p.head];
  return {{"descriptor", c.descriptor},
          {"reproduction", in.head.Reproduction(c.descriptor)},
          {"worse", p.worse},
          {"base", Side(in.base, p.base, p.base_use)},
          {"head", Side(in.head, p.head, p.head_use)},
          {"bits_changed", Names(p.bits_changed)},
          {"bits_unknown", Names(p.bits_unknown)},
          {"stages_changed", Names(p.stages_changed)}};
}

// Worst first, though the cases are read in the order of the file: so many at a time.
constexpr std::size_t kBlock = 10'000;

template <typename Append>
void Changes(const DiffInput& in, Append append) {
  const std::vector<const CasePair*> changed = WorstChangesFirst(in.diff, in.head);
  for (std::size_t first = 0; first < changed.size(); first += kBlock) {
    const auto block = std::span(changed).subspan(first, std::min(kBlock, changed.size() - first));
    PinPairs(in, block);
    for (const CasePair* pair : block) {
      append(Change(in, *pair));
    }
  }
  PinPairs(in, {});
}

Json NanList(const RunData& run) {
  Json list = Json::array();
  for (const NanColumn& nan : run.nan_columns) {
    list.push_back({{"column", nan.name}, {"cases", nan.count}, {"first_case", nan.first_case}});
  }
  return list;
}

}  // namespace

void DiffJson(const DiffInput& in, const Sink& sink) {
  const RunDiff& d = in.diff;
  Json attributes = Json::object();
  for (const std::string& name : d.attributes) {
    attributes[name] = {{"base", in.base.Attribute(name)}, {"head", in.head.Attribute(name)}};
  }
  Writer json(sink);
  json.Member("schema", "voltcheck.diff/1");
  json.Member("headline", DiffHeadline(in));
  json.Member("same_setup", d.same_setup);
  json.Member("bit_equal", d.bit_equal());
  json.Member("regressed", d.regressed());
  json.Member("summary", {{"in_both", d.pairs.size()},
                          {"worse", d.worse},
                          {"better", d.better},
                          {"bits_changed", d.bits_changed},
                          {"bits_unknown", d.bits_unknown},
                          {"stages_changed", d.stages_changed},
                          {"tactic_changed", d.tactic_changed},
                          {"use_changed", d.use_changed},
                          {"new", d.only_head.size()},
                          {"new_not_passed", d.new_not_passed},
                          {"gone", d.only_base.size()}});
  json.Member("attributes", attributes);
  json.Member("nan", {{"base", NanList(in.base)}, {"head", NanList(in.head)}});
  json.List("changes", [&](const auto& append) { Changes(in, append); });
  json.List("properties", [&](const auto& append) {
    for (const PropertyChange& p : d.properties) {
      append(Json{{"property", p.property},
                  {"broken_in_base", p.broken_in_base},
                  {"broken_in_head", p.broken_in_head},
                  {"reason", p.reason},
                  {"reproduction", p.reproduction}});
    }
  });
  json.List("new", [&](const auto& append) { Only(in.head, d.only_head, append); });
  json.List("gone", [&](const auto& append) { Only(in.base, d.only_base, append); });
  json.End();
}

std::string DiffJson(const DiffInput& in) {
  std::string text;
  DiffJson(in, [&text](std::string_view part) { text += part; });
  return text;
}

}  // namespace voltcheck::report
