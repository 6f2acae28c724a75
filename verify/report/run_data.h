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

namespace voltcheck::report {

/// Where a figure was found, and the values there; row -1: nowhere.
struct Place {
  int row = -1;
  int col = -1;
  float got = 0;
  float want = 0;
  float budget = 0;
};

/// One stage of one case, as the run file has it. Figures may be NaN where the file says so.
struct StageFigures {
  verify::Verdict verdict = verify::Verdict::kUntested;
  std::uint64_t elements = 0;  ///< 0: the stage did not run
  std::uint64_t over_budget = 0;
  std::uint64_t nonfinite_got = 0;
  std::uint64_t nonfinite_want = 0;
  std::uint64_t bits_compared = 0;
  std::uint64_t bits_differing = 0;
  std::uint64_t bits_open = 0;
  std::uint64_t hash = 0;  ///< of the output; 0: not recorded
  float own_use = 0;       ///< largest, on the stage's own input
  float own_use_p99 = 0;
  float posterior_use = 0;
  float end_to_end_use = 0;
  float max_abs = 0;  ///< largest difference to the FP32 reference
  float rms = 0;      ///< of the differences to it
  float bias = 0;
  Place worst_use;  ///< of own_use
  Place worst_abs;  ///< of max_abs

  bool ran() const { return elements > 0; }
  /// The largest use of either budget on the stage's own input; NaN is left out.
  double Use() const;
};

struct CaseFigures {
  std::string descriptor;
  verify::Verdict verdict = verify::Verdict::kUntested;
  std::string reason;
  std::string data;
  std::string routing;
  std::string w13;  ///< tactic, "8x128x64/1"
  std::string w2;
  std::uint64_t tokens = 0;
  std::uint64_t findings = 0;
  bool has_nan = false;  ///< a figure is NaN though its stage ran
  std::array<StageFigures, verify::kStages.size()> stages;
  verify::LogitFigures logits;

  const StageFigures& at(verify::Stage stage) const {
    return stages[static_cast<std::size_t>(stage)];
  }
  double WorstUse() const;
  double WorstEndToEndUse() const;
  double MaxAbs() const;  ///< to the FP32 reference, over all stages
  std::uint64_t BitsDiffering() const;
};

struct FindingEntry {
  std::uint64_t case_index = 0;
  kernels::Finding finding;
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

/// A column with NaN where its stage ran.
struct NanColumn {
  std::string name;  ///< "metrics/w2/own/rms"
  std::uint64_t count = 0;
  std::uint64_t first_case = 0;
};

/// Everything that reports show of a run file. All text is clean (text.h).
struct RunData {
  std::map<std::string, std::string> attributes;
  bool complete = false;
  std::vector<CaseFigures> cases;
  std::vector<FindingEntry> findings;
  std::uint64_t findings_in_file = 0;  ///< more than `findings` when there are very many
  std::vector<verify::PropertyRecord> properties;
  std::vector<MutantEntry> mutants;
  bool has_mutants = false;  ///< the run measured the gate: its cases are those that caught one
  std::vector<FailureWindow> windows;
  std::array<StageTotals, verify::kStages.size()> totals;
  std::vector<NanColumn> nan_columns;

  std::string Attribute(const std::string& name) const;
  /// The line that repeats a case, with the device and options of the run.
  std::string Reproduction(const std::string& descriptor) const;
};

/// What to read beside the cases.
struct ReadOptions {
  std::size_t most_windows = 200;  ///< failed cases whose values are read, gravest first
  std::size_t most_findings = 20000;
};

/// Reads a run file. Throws Error (status 2), one line, for a file that is none, truncated,
/// damaged, of another schema, without cases or with a column that is NaN throughout. A crafted
/// file may still crash the library: call it in a child (verify/in_child.h).
RunData ReadRun(const std::string& path, const ReadOptions& options = {});

/// How grave a verdict is; larger comes first, 0 for passed.
int Gravity(verify::Verdict verdict);
/// Indices of the cases, gravest verdict first, then largest budget use, then as they ran.
std::vector<std::size_t> WorstFirst(const std::vector<CaseFigures>& cases);

}  // namespace voltcheck::report

#endif  // VOLTCHECK_VERIFY_REPORT_RUN_DATA_H_
