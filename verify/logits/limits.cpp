#include "verify/logits/limits.h"

#include <limits>

namespace voltcheck::logits {
namespace {

using F = verify::LogitFigures;

double NoError(const F& /*figures*/) { return 0; }

template <double F::*kMember>
double Get(const F& f) {
  return f.*kMember;
}

double Agreement(const F& f) {
  const std::uint64_t finite = f.rows - f.nonfinite_rows;
  return finite == 0 ? std::numeric_limits<double>::quiet_NaN()
                     : static_cast<double>(f.argmax_equal) / static_cast<double>(finite);
}

double NonfiniteRows(const F& f) { return static_cast<double>(f.nonfinite_rows); }
double Differing(const F& f) { return static_cast<double>(f.differing); }

}  // namespace

const std::vector<LimitedFigure>& LimitedFigures() {
  static const std::vector<LimitedFigure> kFigures{
      {"max-abs", "largest |difference|", false, Get<&F::max_abs>, NoError},
      {"rms", "RMS of the differences", false, Get<&F::rms>, Get<&F::rms_error>},
      {"argmax-agreement", "share of rows with the same greedy token", true, Agreement,
       Get<&F::argmax_error>},
      {"flipped-margin", "largest margin of a greedy token that flipped", false,
       Get<&F::flipped_margin>, NoError},
      {"top5-overlap", "mean share of the five likeliest tokens in common", true,
       Get<&F::top_overlap>, Get<&F::top_overlap_error>},
      {"top5-log-probability", "largest difference in log-probability of base's five", false,
       Get<&F::top_log_probability>, NoError},
      {"kl-mean", "mean KL divergence", false, Get<&F::kl_mean>, Get<&F::kl_mean_error>},
      {"kl-median", "median of it", false, Get<&F::kl_median>, Get<&F::kl_median_error>},
      {"kl-p99", "99th percentile of it", false, Get<&F::kl_p99>, Get<&F::kl_p99_error>},
      {"kl-max", "largest", false, Get<&F::kl_max>, NoError},
      {"differing", "logits that are not equal", false, Differing, NoError},
      {"nonfinite-rows", "rows with a NaN or an infinity", false, NonfiniteRows, NoError},
  };
  return kFigures;
}

std::vector<LimitResult> CheckLimits(const std::vector<Limit>& limits, const F& figures) {
  const bool no_row = figures.rows == figures.nonfinite_rows;
  std::vector<LimitResult> results;
  for (const Limit& limit : limits) {
    LimitResult r{limit, limit.figure->value(figures), limit.figure->error(figures), false};
    const bool counts = limit.figure->value == NonfiniteRows;
    r.kept = (limit.figure->at_least ? r.value >= limit.value : r.value <= limit.value) &&
             (counts || !no_row);
    results.push_back(r);
  }
  return results;
}

}  // namespace voltcheck::logits
