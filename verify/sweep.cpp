#include "verify/sweep.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <numeric>

#include "verify/case_runner.h"
#include "verify/filter.h"
#include "verify/stopwatch.h"

namespace voltcheck::verify {
namespace {

// What travels through the pipeline: a case on its way in, a record or what went wrong on its way
// out.
struct Item {
  std::size_t index = 0;
  bool is_last = false;  // one of those at the end, when there are more threads than cases
  CaseRecord record;
  std::exception_ptr error;
};
using ItemPointer = std::shared_ptr<Item>;

bool IsAllowedSkip(const CaseRecord& record, const std::vector<std::string>& filters) {
  return record.verdict == Verdict::kSkipped && AllowsSkip(record.c, record.reason, filters);
}

}  // namespace

Summary RunCases(const std::vector<Case>& cases, const ProblemSource& source,
                 const SweepOptions& options, const std::function<void(const CaseRecord&)>& sink,
                 const std::function<bool()>& stop, std::span<const std::size_t> selected) {
  const auto threads = static_cast<std::size_t>(
      options.jobs > 0 ? options.jobs : oneapi::tbb::info::default_concurrency());
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          threads);
  // While there is a case for each thread, threads inside a device would only be in the way.
  DeviceOptions one_thread = options.device;
  one_thread.jobs = 1;
  Summary summary;
  std::size_t next = 0;
  std::atomic<bool> failed = false;  // set by the last filter, read by the first
  std::exception_ptr first_error;

  const auto feed = [&](oneapi::tbb::flow_control& control) -> ItemPointer {
    if (failed || next == selected.size() || stop()) {
      control.stop();
      return nullptr;
    }
    auto item = std::make_shared<Item>();
    item->index = selected[next++];
    item->is_last = selected.size() - next < threads;
    return item;
  };
  // An exception must not reach the pipeline, which would drop finished cases that wait for their
  // turn.
  const auto run = [&](const ItemPointer& item) {
    try {
      const Stopwatch watch;
      item->record = RunCase(source.Make(cases[item->index]),
                             item->is_last ? options.device : one_thread, options.judge);
      item->record.index = item->index;
      if (options.finished) {
        options.finished(item->record, watch.Seconds());
      }
    } catch (...) {
      item->error = std::current_exception();
    }
    return item;
  };
  const auto drain = [&](const ItemPointer& item) {
    if (first_error) {
      return;
    }
    try {
      if (item->error) {
        std::rethrow_exception(item->error);
      }
      summary.Add(item->record.verdict, IsAllowedSkip(item->record, options.allowed_skips));
      sink(item->record);
    } catch (...) {
      first_error = std::current_exception();
      failed = true;
    }
  };
  using oneapi::tbb::filter_mode;
  const filter_mode drained =
      options.in_order ? filter_mode::serial_in_order : filter_mode::serial_out_of_order;
  // One case more than threads, so that a thread finds work while an earlier case is waited for.
  oneapi::tbb::parallel_pipeline(
      threads + 1,
      oneapi::tbb::make_filter<void, ItemPointer>(filter_mode::serial_in_order, feed) &
          oneapi::tbb::make_filter<ItemPointer, ItemPointer>(filter_mode::parallel, run) &
          oneapi::tbb::make_filter<ItemPointer, void>(drained, drain));
  if (first_error) {
    std::rethrow_exception(first_error);
  }
  return summary;
}

Summary RunCases(const std::vector<Case>& cases, const ProblemSource& source,
                 const SweepOptions& options, const std::function<void(const CaseRecord&)>& sink,
                 const std::function<bool()>& stop) {
  std::vector<std::size_t> all(cases.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return RunCases(cases, source, options, sink, stop, all);
}

Summary RunCases(const std::vector<Case>& cases, const ProblemSource& source,
                 const DeviceOptions& device, int jobs,
                 const std::function<void(const CaseRecord&)>& sink,
                 const std::function<bool()>& stop) {
  SweepOptions options;
  options.device = device;
  options.jobs = jobs;
  return RunCases(cases, source, options, sink, stop);
}

}  // namespace voltcheck::verify
