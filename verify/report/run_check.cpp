#include "verify/report/run_check.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "fixtures/case/error.h"
#include "verify/record.h"
#include "verify/report/text.h"
#include "verify/run_file.h"
#include "verify/run_reader.h"

namespace voltcheck::report {
namespace {

using verify::h5::Check;
using verify::h5::Handle;

// The column that says in which rows a figure is absent, and so NaN by right: where it is not
// above `least`. No name: in none.
struct Presence {
  std::string column;
  double least = 0;
};
constexpr double kCount = 0;     // a number of things that were measured
constexpr double kIndex = -0.5;  // a place, -1 for none

class Scan {
 public:
  Scan(const Columns& columns, std::string path, RunCheck& check)
      : columns_(columns), path_(std::move(path)), check_(check) {}

  // Every column of floats in `group`, which has `rows` rows.
  void Group(const std::string& group, std::uint64_t rows, bool of_cases,
             const std::function<Presence(const std::string& name)>& presence) {
    if (!columns_.Has(group)) {
      return;
    }
    for (const std::string& name : columns_.Names(group)) {
      const std::string column = group + "/" + name;
      const Columns::Kind kind = columns_.KindOf(column);
      if (kind.extent.rows != rows || kind.extent.cols != 1) {
        throw BadInput(path_,
                       "/" + column + " has " + std::to_string(kind.extent.rows) + " rows where " +
                           std::to_string(rows) + " are needed",
                       "make the run file again");
      }
      if (kind.floats) {
        Presence by = presence(name);
        by.column = by.column.empty() ? "" : group + "/" + by.column;
        Column(column, rows, of_cases, by);
      }
    }
  }

 private:
  void Column(const std::string& name, std::uint64_t rows, bool of_cases, const Presence& by) {
    constexpr std::uint64_t kRows = 65536;  // read at a time
    std::uint64_t due = 0;
    NanColumn nan;
    for (std::uint64_t first = 0; first < rows; first += kRows) {
      const std::uint64_t count = std::min(kRows, rows - first);
      const auto values = columns_.Numbers<float>(name, first, count);
      if (by.column != there_of_ || first != there_first_) {
        there_ = by.column.empty() ? std::vector<double>(count, 1)
                                   : columns_.Numbers<double>(by.column, first, count);
        there_of_ = by.column;
        there_first_ = first;
      }
      for (std::uint64_t i = 0; i < count; ++i) {
        if (!(there_[i] > by.least)) {
          continue;
        }
        ++due;
        if (std::isnan(values[i])) {
          const std::uint64_t row = first + i;
          nan.first_case = nan.count++ == 0 ? row : nan.first_case;
          if (of_cases) {
            check_.nan_rows[row] = true;
          }
        }
      }
    }
    if (nan.count == 0) {
      return;
    }
    if (nan.count == due) {
      throw BadInput(
          path_,
          "/" + name + " is NaN in every " + (of_cases ? "case" : "row") + " that has that figure",
          "make the run file again: nothing can be said of such a column");
    }
    nan.name = name;
    nan.first_case =
        of_cases ? columns_.Numbers<std::uint64_t>("case", nan.first_case, 1)[0] : nan.first_case;
    check_.nan_columns.push_back(nan);
  }

  const Columns& columns_;
  std::string path_;
  RunCheck& check_;
  std::vector<double> there_;  // the last `by`, which many columns share
  std::string there_of_ = "?";
  std::uint64_t there_first_ = 0;
};

}  // namespace

std::string NanNote(const NanColumn& nan) {
  return "/" + nan.name + " is NaN in " + Count(nan.count, "case") + ", first in case " +
         std::to_string(nan.first_case) + "; these enter no maximum and no mean";
}

Handle OpenRunFile(const std::string& path) {
  if (!verify::IsHdf5(path)) {
    throw BadInput(path, "is no HDF5 file", "name a run file, as 'voltcheck gate' writes it");
  }
  verify::h5::Quiet();
  H5PLset_loading_state(0);  // no code that a file asks for
  return {Check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)), H5Fclose};
}

void RequireRunSchema(const Columns& columns, const std::string& path) {
  const std::string schema = columns.Attribute("schema");
  if (schema == verify::kRunSchema) {
    return;
  }
  if (schema.empty()) {
    throw BadInput(path, "has no schema", "name a run file, as 'voltcheck gate' writes it");
  }
  const bool is_run = schema.starts_with("voltcheck.run/");
  throw BadInput(path, "has the schema " + Quote(schema),
                 is_run ? "read it with the version of voltcheck that wrote it: this one reads " +
                              std::string(verify::kRunSchema)
                        : "name a run file, " + std::string(verify::kRunSchema));
}

RunCheck CheckRun(const Columns& columns, const std::string& path) {
  RequireRunSchema(columns, path);
  RunCheck check;
  check.cases = columns.Size("case").rows;
  check.has_mutants = columns.Has("mutants");
  check.has_logit_rows = columns.Has("logit_rows");
  check.nan_rows.resize(check.cases);
  Scan scan(columns, path, check);
  for (const verify::Stage stage : verify::kStages) {
    const std::string metrics = "metrics/" + std::string(verify::ToString(stage)) + "/";
    for (const char* comparison : {"own", "posterior", "end_to_end", "reference"}) {
      scan.Group(metrics + comparison, check.cases, true, [](const std::string& name) {
        return name.starts_with("max_abs")   ? Presence{"max_abs_row", kIndex}
               : name.starts_with("max_use") ? Presence{"max_use_row", kIndex}
                                             : Presence{"elements", kCount};
      });
    }
    scan.Group(metrics + "parts", check.cases, true, [](const std::string& name) {
      return Presence{name.substr(0, name.find('_')), kIndex};
    });
    for (const char* part : {"expert", "tile"}) {
      const std::string group = "totals/" + std::string(verify::ToString(stage)) + "/" + part;
      if (columns.Has(group + "/" + part)) {
        scan.Group(group, columns.Size(group + "/" + part).rows, false,
                   [](const std::string&) { return Presence(); });
      }
    }
  }
  columns.Size("cases/descriptor");
  for (const char* group : {"cases", "counters"}) {  // of equal length; they hold no floats
    scan.Group(group, check.cases, true, [](const std::string&) { return Presence(); });
  }
  scan.Group("logits", check.cases, true, [](const std::string&) {
    return Presence{"rows", kCount};
  });
  if (check.has_logit_rows) {
    scan.Group("logit_rows", columns.Size("logit_rows/logit_row").rows, false,
               [](const std::string& name) {
                 const bool of_pairs = name == "max_abs" || name == "rms" || name == "bias";
                 return of_pairs ? Presence{"compared", kCount} : Presence{"base_argmax", kIndex};
               });
  }
  return check;
}

RunCheck CheckRunFile(const std::string& path, bool may_be_empty) {
  return WithRunFile(path, [&](const Handle& file) {
    const RunCheck check = CheckRun(Columns(file.get(), path), path);
    if (check.cases == 0 && !check.has_mutants && !check.has_logit_rows && !may_be_empty) {
      throw BadInput(path, "holds no case", "a run without cases proves nothing; run some");
    }
    return check;
  });
}

}  // namespace voltcheck::report
