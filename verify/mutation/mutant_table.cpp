#include "verify/mutation/mutant_table.h"

#include <cstdint>

#include "verify/h5_table.h"

namespace voltcheck::mutation {
namespace {

namespace h5 = verify::h5;

struct Row {
  std::uint64_t index;
  std::int32_t case_index;
  const MutantResult* result;
};

// A policy's name as a column: "rejected_by_atol_2e_2".
std::string ColumnOf(std::string_view policy) {
  std::string name = "rejected_by_";
  for (const char c : policy) {
    name += c == '=' || c == '-' ? '_' : c;
  }
  return name;
}

void DeclareColumns(hid_t group, h5::Table<Row>& table) {
  table.AddNumber<std::uint64_t>(group, {"mutant", "1", "place in the sample"},
                                 [](const Row& r) { return r.index; });
  const auto text = [&](const char* name, const char* meaning, auto get) {
    table.AddText(group, {name, "", meaning}, [get](const Row& r) { return get(*r.result); });
  };
  text("id", "operator, kernel and place", [](const MutantResult& r) { return r.mutant.id; });
  text("operator", "kind of fault", [](const MutantResult& r) { return r.mutant.op; });
  text("kernel", "entry, empty for faults in plans and data",
       [](const MutantResult& r) { return r.mutant.kernel; });
  table.AddNumber<std::uint32_t>(group, {"line", "1", "line of the PTX file, 0: none"},
                                 [](const Row& r) { return r.result->mutant.line; });
  text("change", "what was changed", [](const MutantResult& r) { return r.mutant.what; });
  text("fate", "discarded, equivalent, caught or survived",
       [](const MutantResult& r) { return ToString(r.fate); });
  text("reason", "why that", [](const MutantResult& r) { return r.reason; });
  table.AddNumber<std::int32_t>(group, {"case", "1", "row of /cases that caught it, -1: none"},
                                [](const Row& r) { return r.case_index; });
  table.AddNumber<std::uint64_t>(group, {"schedule", "1", "schedule of that case"},
                                 [](const Row& r) { return r.result->schedule; });
  table.AddNumber<std::uint64_t>(group, {"cases_run", "1", "cases that it was shown"},
                                 [](const Row& r) { return r.result->cases; });
  table.AddNumber<std::uint32_t>(group, {"deep", "1", "1: the second set of cases was needed"},
                                 [](const Row& r) { return r.result->deep ? 1U : 0U; });
  for (std::size_t i = 0; i < kPolicies; ++i) {
    const TolerancePolicy& policy = TolerancePolicies()[i];
    table.AddNumber<std::uint32_t>(
        group, {ColumnOf(policy.name), "1", "1: rejected by " + std::string(policy.rule)},
        [i](const Row& r) { return r.result->rejected[i] ? 1U : 0U; });
  }
}

void WriteMutants(hid_t file, const Campaign& campaign) {
  const h5::Handle group = h5::CreateGroup(file, "mutants");
  h5::SetNumber(group.get(), "honest_cases", campaign.honest.cases);
  h5::SetNumber(group.get(), "honest_alarms", campaign.honest.alarms);
  for (std::size_t i = 0; i < kPolicies; ++i) {
    const std::string name =
        "honest_" + ColumnOf(TolerancePolicies()[i].name);  // "honest_rejected_by_atol_2e_2"
    h5::SetNumber(group.get(), name.c_str(), campaign.honest.policy_alarms[i]);
  }
  h5::Table<Row> table;
  DeclareColumns(group.get(), table);
  std::int32_t next_case = 0;
  for (std::size_t i = 0; i < campaign.results.size(); ++i) {
    const MutantResult& result = campaign.results[i];
    const bool caught = result.fate == Fate::kCaught;
    table.Append({i, caught ? next_case++ : -1, &result});
  }
  table.Close();
}

}  // namespace

void WriteCampaign(const std::string& path, const verify::RunProvenance& provenance,
                   const Campaign& campaign) {
  verify::RunFileWriter writer(path, provenance);
  for (const MutantResult& result : campaign.results) {
    if (result.fate == Fate::kCaught) {
      writer.Append(result.killer);
    }
  }
  writer.Finish(campaign.complete, [&](hid_t file) { WriteMutants(file, campaign); });
}

}  // namespace voltcheck::mutation
