#include "verify/scale/forecast.h"

#include <oneapi/tbb/info.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>
#include <numeric>
#include <queue>
#include <span>
#include <string>
#include <tuple>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"
#include "fixtures/case/temporary_folder.h"
#include "verify/journal/record_codec.h"
#include "verify/scale/cost_model.h"
#include "verify/stopwatch.h"

namespace voltcheck::verify {
namespace {

constexpr double kEnoughSeconds = 3;  // after which a good estimate suffices
constexpr double kMostSeconds = 8;    // after which no further probe starts
constexpr double kGoodError = 0.03;
constexpr std::size_t kFewestProbes = 24;
constexpr std::size_t kMostProbes = 8192;
constexpr std::uint64_t kLongProbe = 1'500'000;  // predicted microseconds
constexpr double kMostFirstUseSeconds = 3;
constexpr std::size_t kKeptRecords = 256;  // for the run file that is measured
constexpr std::size_t kFileRows = 512;
// A run file's bytes for one case more, where too few records are there to measure it:
// docs/run-file.md.
constexpr double kFileBytesPerCase = 730;
constexpr std::size_t kRecordsForBytes = 48;

// A case that takes less and stands for `c`: with fewer tokens, by what the model says of both.
Case Shortened(const Case& c) {
  Case shorter = c;
  while (shorter.shape.tokens > 1 && PredictedCost(shorter) > kLongProbe) {
    Case next = shorter;
    next.shape.tokens /= 2;
    try {
      ValidateCase(next);
    } catch (const Error&) {
      break;
    }
    shorter = next;
  }
  return shorter;
}

// Everything that is run for the calibration: cases, and what they took.
class Calibration {
 public:
  Calibration(const ForecastTask& task, const ProblemSource& source, SweepOptions options,
              const std::function<bool()>& stop)
      : task_(task), source_(source), options_(std::move(options)), stop_(stop) {
    options_.in_order = false;
    jobs_ = static_cast<std::size_t>(options_.jobs > 0 ? options_.jobs
                                                       : oneapi::tbb::info::default_concurrency());
    mine_.reserve(task.order.size());
    for (const std::size_t index : task.order) {
      mine_.push_back((*task.costs)[index]);
    }
  }

  Forecast Run() {
    Forecast forecast;
    forecast.cases = task_.order.size();
    forecast.once_seconds = FirstUse();
    RunProbes();
    if (stop_() || counted_ == 0) {
      return forecast;
    }
    forecast.probes = seconds_.size();
    forecast.seconds_per_cost = ratio();
    forecast.error = RelativeError();
    const double total = std::accumulate(mine_.begin(), mine_.end(), 0.0);
    forecast.core_seconds = ratio() * total;
    forecast.longest_seconds =
        ratio() * static_cast<double>(*std::max_element(mine_.begin(), mine_.end()));
    MeasureFile(forecast);
    forecast.calibration_seconds = watch_.Seconds();
    return forecast;
  }

 private:
  // Runs cases that use every combination of tiles, twice: the first time costs more by what a
  // process does once.
  double FirstUse() {
    std::map<std::tuple<std::string, std::string, int>, std::size_t> cheapest;
    for (auto it = task_.order.rbegin(); it != task_.order.rend(); ++it) {
      const Case& c = (*task_.cases)[*it];
      cheapest.emplace(std::tuple(ToString(c.w13.tile), ToString(c.w2.tile), c.shape.group), *it);
    }
    std::vector<Case> cases;
    for (const auto& [key, index] : cheapest) {
      cases.push_back(Shortened((*task_.cases)[index]));
    }
    const Stopwatch first;
    std::atomic<std::size_t> ran = 0;
    SweepOptions options = options_;
    options.finished = [&](const CaseRecord&, double) { ++ran; };
    RunCases(
        cases, source_, options, [](const CaseRecord&) {},
        [&] { return stop_() || first.Seconds() > kMostFirstUseSeconds; });
    const double once = first.Seconds();
    if (stop_() || ran == 0) {
      return 0;
    }
    cases.resize(ran);
    const Stopwatch second;
    options.finished = nullptr;
    RunCases(
        cases, source_, options, [](const CaseRecord&) {}, stop_);
    return std::max(0.0, once - second.Seconds()) * static_cast<double>(cheapest.size()) /
           static_cast<double>(cases.size());
  }

  void RunProbes() {
    const std::vector<std::size_t> draws = ChooseProbes(mine_, kMostProbes);
    std::vector<std::size_t> selected;  // each once, as it is first drawn
    std::vector<Case> cases;
    std::vector<std::uint64_t> costs;
    std::map<std::size_t, std::size_t> place;
    const double total = std::accumulate(mine_.begin(), mine_.end(), 0.0);
    const bool may_shorten = total * 1e-6 > kMostSeconds * static_cast<double>(jobs_);
    for (const std::size_t draw : draws) {
      if (place.emplace(draw, cases.size()).second) {
        const Case& c = (*task_.cases)[task_.order[draw]];
        cases.push_back(may_shorten ? Shortened(c) : c);
        costs.push_back(PredictedCost(cases.back()));
      }
    }
    const Stopwatch watch;
    SweepOptions options = options_;
    options.finished = [&](const CaseRecord& record, double taken) {
      const Stopwatch encoding;
      std::string bytes = EncodeRecord(record);
      const double seconds = taken + encoding.Seconds();
      const std::scoped_lock lock(mutex_);
      seconds_[record.index] = seconds;
      journal_bytes_ += static_cast<double>(bytes.size());
      if (records_.size() < kKeptRecords) {
        records_.push_back(std::move(bytes));
      }
      Count(draws, place, costs);
    };
    const auto enough = [&] {
      const std::scoped_lock lock(mutex_);
      const double seconds = watch.Seconds();
      return seconds > kMostSeconds || (seconds > kEnoughSeconds && counted_ >= kFewestProbes &&
                                        RelativeError() < kGoodError);
    };
    RunCases(
        cases, source_, options, [](const CaseRecord&) {}, [&] { return stop_() || enough(); });
    if (seconds_.size() == mine_.size() && !may_shorten) {  // all of them: nothing is drawn
      counted_ = 1;
      squares_ = 0;
      sum_ = 0;
      for (const auto& [index, seconds] : seconds_) {
        sum_ += seconds;
      }
      sum_ /= total;
      squares_ = sum_ * sum_;
    }
  }

  // Takes up the draws whose cases are finished, in their order.
  void Count(const std::vector<std::size_t>& draws, const std::map<std::size_t, std::size_t>& place,
             const std::vector<std::uint64_t>& costs) {
    for (; counted_ < draws.size(); ++counted_) {
      const std::size_t at = place.at(draws[counted_]);
      const auto found = seconds_.find(at);
      if (found == seconds_.end()) {
        return;
      }
      const double ratio = found->second / static_cast<double>(costs[at]);
      sum_ += ratio;
      squares_ += ratio * ratio;
    }
  }

  double ratio() const { return sum_ / static_cast<double>(counted_); }
  // Of the mean ratio, relative to it.
  double RelativeError() const {
    const auto n = static_cast<double>(counted_);
    return counted_ < 2 ? 0
                        : std::sqrt(std::max(0.0, squares_ / n - ratio() * ratio()) / n) / ratio();
  }

  // Writes run files of few and of more rows, for what each case adds in time and room.
  void MeasureFile(Forecast& forecast) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.h5";
    const auto write = [&](std::size_t rows) {
      const Stopwatch watch;
      RunFileWriter writer(path, task_.provenance);
      for (std::size_t row = 0; row < rows; ++row) {
        const std::string& bytes = records_[row % records_.size()];
        writer.Append(DecodeRecord(path, std::as_bytes(std::span(bytes))), row);
      }
      writer.Finish(true);
      return std::pair(watch.Seconds(), static_cast<double>(std::filesystem::file_size(path)));
    };
    const auto [first_seconds, first_bytes] = write(1);
    const double some_bytes = write(records_.size()).second;
    const double more_seconds = write(kFileRows).first;
    const auto cases = static_cast<double>(forecast.cases);
    const double each = std::max(0.0, more_seconds - first_seconds) / (kFileRows - 1);
    forecast.finish_seconds = first_seconds + each * cases;
    const double each_bytes =
        records_.size() < kRecordsForBytes && records_.size() < forecast.cases
            ? kFileBytesPerCase
            : (some_bytes - first_bytes) / std::max(1.0, static_cast<double>(records_.size()) - 1);
    forecast.run_file_bytes = static_cast<std::uint64_t>(first_bytes + each_bytes * (cases - 1));
    forecast.journal_bytes =
        static_cast<std::uint64_t>(journal_bytes_ / static_cast<double>(seconds_.size()) * cases);
  }

  const ForecastTask& task_;
  const ProblemSource& source_;
  SweepOptions options_;
  const std::function<bool()>& stop_;
  std::size_t jobs_ = 1;
  std::vector<std::uint64_t> mine_;  // costs by place in the task's order
  Stopwatch watch_;
  std::mutex mutex_;
  std::map<std::size_t, double> seconds_;  // by place in the list of probes
  std::vector<std::string> records_;
  double journal_bytes_ = 0;
  std::size_t counted_ = 0;  // draws, and the sums over their ratios of seconds to cost
  double sum_ = 0;
  double squares_ = 0;
};

}  // namespace

Forecast MakeForecast(const ForecastTask& task, const ProblemSource& source, SweepOptions options,
                      const std::function<bool()>& stop) {
  return Calibration(task, source, std::move(options), stop).Run();
}

double CasesSeconds(const Forecast& forecast, const ForecastTask& task, std::size_t jobs) {
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> free_at;
  for (std::size_t job = 0; job < jobs; ++job) {
    free_at.push(0);
  }
  std::uint64_t end = 0;
  for (const std::size_t index : task.order) {
    const std::uint64_t done = free_at.top() + (*task.costs)[index];
    free_at.pop();
    free_at.push(done);
    end = std::max(end, done);
  }
  return static_cast<double>(end) * forecast.seconds_per_cost;
}

}  // namespace voltcheck::verify
