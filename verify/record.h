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
#include "verify/breakdown.h"
#include "verify/comparison.h"
#include "verify/logit_figures.h"
#include "verify/stage_profile.h"

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

/// What is judged: the four stages that run on the device, and the logits that follow from the
/// output in a case with a head.
enum class Stage { kW13, kSilu, kW2, kOutput, kLogits };
inline constexpr std::array<Stage, 5> kStages{Stage::kW13, Stage::kSilu, Stage::kW2, Stage::kOutput,
                                              Stage::kLogits};
std::string_view ToString(Stage stage);

/// The k-step at which the accumulation of a differing element first leaves the model. Found by
/// running the device again on inputs that are zero from some k on.
struct Departure {
  int row = -1;  ///< -1: not looked for
  int col = -1;
  int split = -1;   ///< the split that owns the step; -1: the shortened sums all agree
  int k = -1;       ///< first of the step's four rows of K
  double got = 0;   ///< the device's result of the sum through that step, rounded to half
  double want = 0;  ///< the model's
};

/// How one stage did. Figures are over the rows that the contract computes (reference
/// Permutation::rows).
struct StageRecord {
  bool present = false;
  Verdict verdict = Verdict::kUntested;
  std::string reason;     ///< one line; empty when passed
  ComparisonFigures own;  ///< against the fp64 oracle on the device's own input of the stage
  /// Like `own`, under the a-posteriori budget of a GEMM whose order is declared; elements is 0
  /// otherwise. Both budgets are proven, so an element beyond either one is over the smaller.
  ComparisonFigures posterior;
  ComparisonFigures end_to_end;     ///< against the fp64 oracle from the case's inputs
  ComparisonFigures reference;      ///< against the FP32 Eigen reference from the case's inputs
  std::uint64_t bits_compared = 0;  ///< elements compared with the order-faithful model
  std::uint64_t bits_differing = 0;
  /// Elements that differ from the model where the documented bound of exp leaves both values open
  /// (SiLU on a chip whose table is not known): accepted, and not in bits_differing.
  std::uint64_t bits_open = 0;
  Extremum first_difference;  ///< first element (row-major) whose bits differ from the model
  Departure departure;        ///< of that element, where it was looked for
  /// Elements whose inputs make every partial sum exact (verify/exactness.h): tolerance 0.
  std::uint64_t exact = 0;
  std::uint64_t exact_differing = 0;
  /// Elements that a kernel writing zeros would get right: the oracle's value is not larger than
  /// the budget that judges.
  std::uint64_t hidden = 0;
  /// Elements farther from the FP32 reference than the end-to-end budget and the reference's own
  /// distance to the oracle allow.
  std::uint64_t reference_over = 0;
  /// The token, expert and 32-column tile with the largest RMS difference to the FP32 reference.
  std::array<PartFigures, kParts.size()> worst_part;
  Breakdown breakdown;  ///< all parts; empty unless the stage failed or it was asked for
  /// HashOutput of the rows that were judged: equal outputs, equal hashes; 0 where nothing ran.
  /// That of `logits`, which the host computes, depends on its vector width.
  std::uint64_t hash = 0;
  StageProfile profile;
};

/// Values around a failing element, kept for the run file.
struct FailureArrays {
  Stage stage = Stage::kW13;
  int rows = 0, cols = 0;  ///< at most 64 x 64 around the worst element
  int first_row = 0, first_col = 0;
  std::vector<std::uint16_t> got;  ///< fp16 bits; empty for logits
  std::vector<double> want;
  std::vector<double> budget;
  std::vector<float> got_logits = {};  ///< of logits, in the place of `got`
};

/// The result of one case: everything that the run file, the table and the reports show.
/// Wall times of a case, which are only shown (--json), never in the run file.
struct Seconds {
  double reference = 0;  ///< the FP32 Eigen stage, permutation included
  double oracle = 0;     ///< the FP64 oracle with its budgets
  double prepare = 0;    ///< loading modules, uploading, repacking the weights
  double device = 0;     ///< the stage's launches, permutation to reduction
  double model = 0;      ///< the order-faithful model, all stages
};

struct CaseRecord {
  std::uint64_t index = 0;  ///< in the list of cases that the run was given
  std::string descriptor;
  Case c;
  int active_experts = 0;
  Verdict verdict = Verdict::kUntested;
  std::string reason;        ///< one line; empty when passed
  std::string reproduction;  ///< the command line that repeats it
  std::array<StageRecord, kStages.size()> stages;
  LogitFigures logits;  ///< device (other) against FP32 reference (base); rows is 0 without a head
  /// Entry names that the case's plan launches, each once, ascending.
  std::vector<std::string> kernels;
  /// What checkers found, and broken promises (canaries, inputs, locks, indices) as checker
  /// "promise".
  std::vector<kernels::Finding> findings;
  std::vector<FailureArrays> failures;
  kernels::Counters counters;
  kernels::DeviceDescription device;
  Seconds seconds;

  const StageRecord& at(Stage stage) const { return stages[static_cast<std::size_t>(stage)]; }
  /// The largest budget use over all stages on their own input: what tables sort by.
  double WorstUse() const;
};

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_RECORD_H_
