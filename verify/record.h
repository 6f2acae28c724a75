#ifndef VOLTCHECK_VERIFY_RECORD_H_
#define VOLTCHECK_VERIFY_RECORD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case/case.h"
#include "kernels/device.h"
#include "verify/comparison.h"

namespace voltcheck::verify {

enum class Verdict {
  kPassed,
  kFailed,            ///< over budget, different bits, or a broken promise
  kNondeterministic,  ///< repeats or schedules differ
  kMistrusted,        ///< the check could prove little
  kChecker,           ///< a memory or race finding
  kCrashed,           ///< the device faulted
  kSkipped,           ///< with its reason
  kUntested,
};
inline constexpr std::size_t kVerdicts = 8;
std::string_view ToString(Verdict verdict);

enum class Stage { kW13, kSilu, kW2, kOutput };
inline constexpr std::array<Stage, 4> kStages{Stage::kW13, Stage::kSilu, Stage::kW2,
                                              Stage::kOutput};
std::string_view ToString(Stage stage);

/// How one stage did. Figures are over the rows that the contract computes (reference
/// Permutation::rows).
struct StageRecord {
  bool present = false;
  Verdict verdict = Verdict::kUntested;
  std::string reason;            ///< one line; empty when passed
  ComparisonFigures own;         ///< against the fp64 oracle on the device's own input of the stage
  ComparisonFigures end_to_end;  ///< against the fp64 oracle from the case's inputs
  ComparisonFigures reference;   ///< against the FP32 Eigen reference from the case's inputs
  std::uint64_t bits_compared = 0;  ///< elements compared with the order-faithful model
  std::uint64_t bits_differing = 0;
  Extremum first_difference;  ///< first element (row-major) whose bits differ from the model
  /// Elements whose inputs make every partial sum exact (verify/exactness.h): tolerance 0.
  std::uint64_t exact = 0;
  std::uint64_t exact_differing = 0;
};

/// Values around a failing element, kept for the run file.
struct FailureArrays {
  Stage stage = Stage::kW13;
  int rows = 0, cols = 0;  ///< at most 64 x 64 around the worst element
  int first_row = 0, first_col = 0;
  std::vector<std::uint16_t> got;
  std::vector<double> want;
  std::vector<double> budget;
};

/// The result of one case: everything that the run file, the table and the reports show.
struct CaseRecord {
  std::string descriptor;
  Case c;
  int active_experts = 0;
  Verdict verdict = Verdict::kUntested;
  std::string reason;        ///< one line; empty when passed
  std::string reproduction;  ///< the command line that repeats it
  std::array<StageRecord, kStages.size()> stages;
  /// What checkers found, and broken promises (canaries, inputs, locks, indices) as checker
  /// "promise".
  std::vector<kernels::Finding> findings;
  std::vector<FailureArrays> failures;
  kernels::Counters counters;
  kernels::DeviceDescription device;
  double reference_seconds = 0;  ///< only reported with --timing or --json, never in /cases
  double device_seconds = 0;

  const StageRecord& at(Stage stage) const { return stages[static_cast<std::size_t>(stage)]; }
  /// The largest budget use over all stages on their own input: what tables sort by.
  double WorstUse() const;
};

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_RECORD_H_
