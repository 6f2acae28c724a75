#include "verify/record.h"

#include <algorithm>

namespace voltcheck::verify {

std::string_view ToString(Verdict verdict) {
  constexpr std::array<std::string_view, kVerdicts> kNames{
      "passed",  "failed",  "nondeterministic", "mistrusted",
      "checker", "crashed", "skipped",          "untested"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::string_view ToString(Stage stage) {
  constexpr std::array<std::string_view, kStages.size()> kNames{"w13", "silu", "w2", "output",
                                                                "logits"};
  return kNames[static_cast<std::size_t>(stage)];
}

double CaseRecord::WorstUse() const {
  double worst = 0;
  for (const StageRecord& stage : stages) {
    worst = std::max({worst, stage.own.max_use.magnitude, stage.posterior.max_use.magnitude});
  }
  return worst;
}

}  // namespace voltcheck::verify
