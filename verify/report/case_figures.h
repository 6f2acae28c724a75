#ifndef VOLTCHECK_VERIFY_REPORT_CASE_FIGURES_H_
#define VOLTCHECK_VERIFY_REPORT_CASE_FIGURES_H_

#include <array>
#include <cstdint>
#include <string>

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
  std::uint64_t number = 0;  ///< in the whole run: what `replay --from RUN.h5 --index` takes
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

/// How grave a verdict is; larger comes first, 0 for passed.
int Gravity(verify::Verdict verdict);

}  // namespace voltcheck::report

#endif  // VOLTCHECK_VERIFY_REPORT_CASE_FIGURES_H_
