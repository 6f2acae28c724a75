#include "verify/properties/property_table.h"

#include "verify/h5.h"
#include "verify/h5_table.h"

namespace voltcheck::properties {
namespace {

struct Row {
  std::uint64_t index;
  const verify::PropertyRecord* record;
};

}  // namespace

void WriteProperties(hid_t file, const std::vector<verify::PropertyRecord>& records) {
  using verify::PropertyRecord;
  verify::h5::Handle group = verify::h5::CreateGroup(file, "properties");
  verify::h5::Table<Row> table;
  const hid_t id = group.get();
  table.AddNumber<std::uint64_t>(id, {"check", "1", "number of the row"},
                                 [](const Row& row) { return row.index; });
  const auto text = [&](const char* name, const char* what, std::string PropertyRecord::*member) {
    table.AddText(id, {name, "", what}, [member](const Row& row) { return row.record->*member; });
  };
  const auto number = [&](const char* name, const char* what,
                          std::uint64_t PropertyRecord::*member) {
    table.AddNumber<std::uint64_t>(id, {name, "1", what},
                                   [member](const Row& row) { return row.record->*member; });
  };
  text("property", "name of the property", &PropertyRecord::property);
  text("descriptor", "the case; the smallest that breaks it when it is broken",
       &PropertyRecord::descriptor);
  number("seed", "seed of the draws", &PropertyRecord::seed);
  number("draw", "number of the draw", &PropertyRecord::draw);
  table.AddNumber<std::uint32_t>(id, {"regression", "1", "1: from the file of counterexamples"},
                                 [](const Row& row) { return row.record->regression ? 1 : 0; });
  table.AddText(id, {"verdict", "", "passed, failed or skipped"},
                [](const Row& row) { return std::string(verify::ToString(row.record->verdict)); });
  text("reason", "why it is broken or was skipped", &PropertyRecord::reason);
  text("reproduction", "command that repeats it", &PropertyRecord::reproduction);
  text("drawn", "failed: the case as it was drawn", &PropertyRecord::drawn);
  number("shrinks", "failed: steps from the drawn case to the smallest", &PropertyRecord::shrinks);
  text("tensor", "failed: where", &PropertyRecord::tensor);
  table.AddNumber<std::int32_t>(id, {"row", "1", "failed: slot or token"},
                                [](const Row& row) { return row.record->row; });
  table.AddNumber<std::int32_t>(id, {"col", "1", "failed: column"},
                                [](const Row& row) { return row.record->col; });
  table.AddNumber<double>(id, {"got", "1", "failed: value of the device"},
                          [](const Row& row) { return row.record->got; });
  table.AddNumber<double>(id, {"want", "1", "failed: value that it must have"},
                          [](const Row& row) { return row.record->want; });
  for (std::size_t i = 0; i < records.size(); ++i) {
    table.Append({i, &records[i]});
  }
  table.Close();
  verify::h5::Check(group.Reset() ? 0 : -1);
}

}  // namespace voltcheck::properties
