#include "verify/scale/forecast.h"

#include <oneapi/tbb/info.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "verify/journal/record_codec.h"
#include "verify/scale/cost_model.h"

namespace voltcheck::verify {
namespace {

// Enough for an error of a few percent, few enough for a short wait: the strata have equal cost, so
// even a cheap probe stands for a known share of the whole.
constexpr std::size_t kProbes = 12;
constexpr std::size_t kProbesPerJob = 4;
// Bytes of a run file: measured (docs/scale.md has the command).
constexpr std::uint64_t kFixedFileBytes = 824'000;
constexpr std::uint64_t kFileBytesPerCase = 750;

}  // namespace

Forecast MakeForecast(const std::vector<Case>& cases, const std::vector<std::uint64_t>& costs,
                      const std::vector<std::size_t>& order, const ProblemSource& source,
                      SweepOptions options, const std::function<bool()>& stop) {
  Forecast forecast;
  forecast.cases = order.size();
  forecast.jobs = options.jobs > 0 ? options.jobs : oneapi::tbb::info::default_concurrency();
  std::vector<std::uint64_t> mine;
  mine.reserve(order.size());
  for (const std::size_t index : order) {
    mine.push_back(costs[index]);
  }
  const std::size_t count =
      std::max(kProbes, kProbesPerJob * static_cast<std::size_t>(forecast.jobs));
  const std::vector<Probe> probes = ChooseProbes(mine, count);
  // The costliest first, as in the sweep, so that all cores are busy to the end.
  std::vector<std::size_t> selected;
  for (auto it = probes.rbegin(); it != probes.rend(); ++it) {
    selected.push_back(order[it->index]);
  }
  std::mutex mutex;
  std::map<std::size_t, double> seconds;
  std::uint64_t bytes = 0;
  options.in_order = false;
  options.finished = [&](const CaseRecord& record, double taken) {
    const std::uint64_t size = EncodeRecord(record).size();
    const std::scoped_lock lock(mutex);
    seconds[record.index] = taken;
    bytes += size;
  };
  RunCases(
      cases, source, options, [](const CaseRecord&) {}, stop, selected);
  if (seconds.size() < selected.size()) {
    return forecast;
  }
  std::vector<double> taken;
  taken.reserve(probes.size());
  for (const Probe& probe : probes) {
    taken.push_back(seconds.at(order[probe.index]));
  }
  forecast.probes = probes.size();
  forecast.core_seconds = ExtrapolateSeconds(probes, mine, taken);
  const Probe& last = probes.back();
  forecast.longest_seconds = taken.back() *
                             static_cast<double>(*std::max_element(mine.begin(), mine.end())) /
                             static_cast<double>(mine[last.index]);
  forecast.wall_seconds =
      WallSeconds(forecast.core_seconds, forecast.longest_seconds, forecast.jobs);
  forecast.run_file_bytes = kFixedFileBytes + kFileBytesPerCase * forecast.cases;
  forecast.journal_bytes = bytes / probes.size() * forecast.cases;
  return forecast;
}

}  // namespace voltcheck::verify
