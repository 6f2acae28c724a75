#ifndef VOLTCHECK_VERIFY_REPORT_SUMMARY_H_
#define VOLTCHECK_VERIFY_REPORT_SUMMARY_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "verify/report/run_data.h"
#include "verify/sweep.h"

namespace voltcheck::report {

/// A figure with the case that holds it; case -1: none does.
struct WorstFigure {
  double value = 0;
  std::int64_t case_index = -1;
  void Raise(double candidate, std::size_t index) {
    if (case_index < 0 || candidate > value) {
      value = candidate;
      case_index = static_cast<std::int64_t>(index);
    }
  }
};

/// One stage over all cases. A NaN enters nothing here: RunData::nan_columns counts it.
struct StageSummary {
  std::uint64_t cases = 0;  ///< that ran the stage
  std::uint64_t elements = 0;
  std::uint64_t nonfinite = 0;  ///< elements of the device that are NaN or infinite
  std::uint64_t over_budget = 0;
  std::uint64_t bits_compared = 0;
  std::uint64_t bits_differing = 0;
  double rms = 0;  ///< of the differences to the FP32 reference, over all elements
  WorstFigure own_use;
  WorstFigure end_to_end_use;
  WorstFigure max_abs;
};

/// How the gravest case of a run is called, for the whole run.
enum class Outcome { kPassed, kFailed, kIncomplete };

/// What a reader wants to know first.
struct RunSummary {
  Outcome outcome = Outcome::kFailed;
  std::string headline;              ///< "3 of 122 cases did not pass: 2 failed, 1 checker"
  std::vector<std::string> reasons;  ///< why it did not pass, one line each; empty when it did
  std::vector<std::string> notes;    ///< what else to know: NaN columns, an interruption
  verify::Summary verdicts;
  std::vector<bool> allowed_skip;  ///< by case: skipped, and the run's --allow-skip names it
  std::array<StageSummary, verify::kStages.size()> stages;
  WorstFigure worst_use;
  std::uint64_t properties_held = 0, properties_broken = 0, properties_skipped = 0;
  std::uint64_t mutants_caught = 0, mutants_survived = 0, mutants_other = 0;
};
std::string_view ToString(Outcome outcome);  ///< "PASSED", "FAILED", "INCOMPLETE"

/// The outcome is what the exit status of the run said, as far as the file can tell: skips that
/// `--allow-skip` named pass, broken properties fail, survivors fail a run of mutants.
RunSummary Summarise(const RunData& run);

/// "122 passed, 2 failed": verdicts that occur, in the order of their gravity.
std::string VerdictCounts(const verify::Summary& verdicts);
/// "suite smoke": what the run's arguments say that it ran.
std::string Title(const RunData& run);
/// What is missing of a run that was interrupted: "the run was interrupted: 44 of its 48 cases did
/// not run".
std::string Interruption(const RunData& run);
/// "simulated V100 (SM70), numerics v100".
std::string RanOn(const RunData& run);
/// "a.ptx, b.ptx": the `--kernels` files that ran, the first three by name; empty for built-in
/// ones.
std::string KernelFiles(const RunData& run);

}  // namespace voltcheck::report

#endif  // VOLTCHECK_VERIFY_REPORT_SUMMARY_H_
