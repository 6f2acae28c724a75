#ifndef VOLTCHECK_VERIFY_REPORT_RUN_DATA_H_
#define VOLTCHECK_VERIFY_REPORT_RUN_DATA_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device.h"
#include "verify/property_record.h"
#include "verify/record.h"
#include "verify/report/case_list.h"
#include "verify/report/run_check.h"

namespace voltcheck::report {

struct FindingEntry {
  std::uint64_t case_number = 0;  ///< in the whole run
  kernels::Finding finding;
  std::string source_text;  ///< the line that Finding::source names; empty where it was not at hand
};

struct MutantEntry {
  std::string id, op, kernel, change, fate, reason;
  std::uint64_t line = 0;
  std::int64_t case_index = -1;
  std::uint64_t cases_run = 0;
};

/// The values around the worst element of a failed stage.
struct FailureWindow {
  std::uint64_t case_index = 0;
  verify::Stage stage = verify::Stage::kW13;
  int first_row = 0, first_col = 0, rows = 0, cols = 0;
  int worst_row = 0, worst_col = 0;  ///< in the stage's whole output
  std::vector<double> got, want, budget;
};

/// Sums and maxima of one stage over all cases.
struct StageTotals {
  std::array<std::uint64_t, verify::kUlpBins> ulp_own{};
  std::array<std::uint64_t, verify::kUlpBins> ulp_reference{};
  std::vector<std::uint64_t> density;  ///< [kMagnitudeBins, kMagnitudeBins], or empty
  std::vector<verify::PartMaximum> experts;
  std::vector<verify::PartMaximum> tiles;
};

/// Everything that reports show of a run file. All text is clean (text.h).
struct RunData {
  std::map<std::string, std::string> attributes;
  bool complete = false;
  CaseList cases;
  std::vector<FindingEntry> findings;
  std::uint64_t findings_in_file = 0;  ///< more than `findings` when there are very many
  std::vector<verify::PropertyRecord> properties;
  std::vector<MutantEntry> mutants;
  bool has_mutants = false;  ///< the run measured the gate: its cases are those that caught one
  std::vector<FailureWindow> windows;
  std::array<StageTotals, verify::kStages.size()> totals;
  std::vector<std::string> kernel_files;  ///< names of the --kernels files that ran
  std::vector<NanColumn> nan_columns;

  std::string Attribute(const std::string& name) const;
  /// The line that repeats a case, with the device and options of the run. Files are named without
  /// their folders, which the run file does not know.
  std::string Reproduction(const std::string& descriptor) const;
};

/// What to read beside the cases.
struct ReadOptions {
  std::size_t most_windows = 60;  ///< failed cases whose values are read, gravest first
  std::size_t most_findings = 20000;
};

/// Reads a run file. Throws Error (status 2), one line, for a file that is none, truncated,
/// damaged, of another schema, without cases or with a column that is NaN throughout. A crafted
/// file may still crash the library: call it, and read the cases, in a child (verify/in_child.h).
/// All cases are read once to see that they are in order, and again when they are asked for.
RunData ReadRun(const std::string& path, const ReadOptions& options = {});

}  // namespace voltcheck::report

#endif  // VOLTCHECK_VERIFY_REPORT_RUN_DATA_H_
