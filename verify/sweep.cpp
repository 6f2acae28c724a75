#include "verify/sweep.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include <atomic>
#include <exception>
#include <memory>

#include "verify/case_runner.h"

namespace voltcheck::verify {
namespace {

// What travels through the pipeline: a case on its way in, a record or what went wrong on its way
// out.
struct Item {
  const Case* c = nullptr;
  CaseRecord record;
  std::exception_ptr error;
};
using ItemPointer = std::shared_ptr<Item>;

}  // namespace

Summary RunCases(const std::vector<Case>& cases, const ProblemSource& source,
                 const DeviceOptions& device, int jobs,
                 const std::function<void(const CaseRecord&)>& sink,
                 const std::function<bool()>& stop) {
  const auto threads =
      static_cast<std::size_t>(jobs > 0 ? jobs : oneapi::tbb::info::default_concurrency());
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          threads);
  Summary summary;
  std::size_t next = 0;
  std::atomic<bool> failed = false;  // set by the last filter, read by the first
  std::exception_ptr first_error;

  const auto feed = [&](oneapi::tbb::flow_control& control) -> ItemPointer {
    if (failed || next == cases.size() || stop()) {
      control.stop();
      return nullptr;
    }
    auto item = std::make_shared<Item>();
    item->c = &cases[next++];
    return item;
  };
  // An exception must not reach the pipeline, which would drop finished cases that wait for their
  // turn.
  const auto run = [&](const ItemPointer& item) {
    try {
      item->record = RunCase(source.Make(*item->c), device);
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
      summary.Add(item->record.verdict);
      sink(item->record);
    } catch (...) {
      first_error = std::current_exception();
      failed = true;
    }
  };
  using oneapi::tbb::filter_mode;
  // One case more than threads, so that a thread finds work while an earlier case is waited for.
  oneapi::tbb::parallel_pipeline(
      threads + 1,
      oneapi::tbb::make_filter<void, ItemPointer>(filter_mode::serial_in_order, feed) &
          oneapi::tbb::make_filter<ItemPointer, ItemPointer>(filter_mode::parallel, run) &
          oneapi::tbb::make_filter<ItemPointer, void>(filter_mode::serial_in_order, drain));
  if (first_error) {
    std::rethrow_exception(first_error);
  }
  return summary;
}

}  // namespace voltcheck::verify
