#ifndef VOLTCHECK_VERIFY_LOGITS_LIMITS_H_
#define VOLTCHECK_VERIFY_LOGITS_LIMITS_H_

#include <string>
#include <string_view>
#include <vector>

#include "verify/logit_figures.h"

namespace voltcheck::logits {

/// One figure that a limit can be set on.
struct LimitedFigure {
  const char* name;  ///< as an option, "kl-mean"
  const char* help;
  bool at_least;  ///< the limit is a lower one
  double (*value)(const verify::LogitFigures& figures);
  double (*error)(const verify::LogitFigures& figures);  ///< standard error, 0 where it has none
};
const std::vector<LimitedFigure>& LimitedFigures();

/// A limit that the user set.
struct Limit {
  const LimitedFigure* figure = nullptr;
  double value = 0;
};

/// How one limit was kept.
struct LimitResult {
  Limit limit;
  double value = 0;
  double error = 0;
  bool kept = false;  ///< false also for a figure that is not a number
};

/// Every limit against the figures. Where no row is finite, limits on figures over finite rows are
/// not kept.
std::vector<LimitResult> CheckLimits(const std::vector<Limit>& limits,
                                     const verify::LogitFigures& figures);

}  // namespace voltcheck::logits

#endif  // VOLTCHECK_VERIFY_LOGITS_LIMITS_H_
