#ifndef VOLTCHECK_VERIFY_RUN_COLUMNS_H_
#define VOLTCHECK_VERIFY_RUN_COLUMNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "verify/h5_table.h"
#include "verify/record.h"

namespace voltcheck::verify {

/// A row of the table of cases.
struct CaseRow {
  std::uint64_t index = 0;
  const CaseRecord* record = nullptr;
};

/// A row of the table of findings.
struct FindingRow {
  std::uint64_t index = 0;
  std::uint64_t case_index = 0;
  const kernels::Finding* finding = nullptr;
  std::string source_text = {};  ///< the line that the finding's source names
};

/// Declares every column that has one row per case: `/case`, `/cases`, `/counters`, `/metrics/...`
/// and
/// `/histograms`. docs/run-file.md lists them. Groups that must outlive the table are put into
/// `groups`.
void DeclareCaseColumns(hid_t file, h5::Table<CaseRow>& table, std::vector<h5::Handle>& groups);

/// Declares `/findings`, one row per finding.
void DeclareFindingColumns(hid_t file, h5::Table<FindingRow>& table,
                           std::vector<h5::Handle>& groups);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_RUN_COLUMNS_H_
