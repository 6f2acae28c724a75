#include "verify/journal/recorded_run.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "verify/filter.h"

namespace voltcheck::verify {
namespace {

// Hands records on in ascending order: those that come, and before each those of the journal.
class InOrder {
 public:
  InOrder(const RecordedRun& run, const std::vector<std::string>& allowed_skips)
      : run_(run), allowed_skips_(allowed_skips), ascending_(run.order) {
    std::sort(ascending_.begin(), ascending_.end());
  }

  void Take(const CaseRecord& record) {
    CatchUpTo(record.index);
    Consume(record);
    ++next_;
  }

  // Everything in the journal that is not handed on yet, read by several threads.
  void CatchUp(std::size_t threads) {
    std::vector<std::size_t> held;
    for (; next_ < ascending_.size(); ++next_) {
      if (run_.journal != nullptr && run_.journal->Holds(ascending_[next_])) {
        held.push_back(ascending_[next_]);
      }
    }
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                            threads);
    using Record = std::shared_ptr<CaseRecord>;
    std::size_t fed = 0;
    const auto feed = [&](oneapi::tbb::flow_control& control) -> std::size_t {
      if (fed == held.size()) {
        control.stop();
        return 0;
      }
      return held[fed++];
    };
    const auto read = [&](std::size_t number) -> Record {
      return std::make_shared<CaseRecord>(run_.journal->Read(number));
    };
    const auto hand_on = [&](const Record& record) { Consume(*record); };
    using oneapi::tbb::filter_mode;
    oneapi::tbb::parallel_pipeline(
        2 * threads,
        oneapi::tbb::make_filter<void, std::size_t>(filter_mode::serial_in_order, feed) &
            oneapi::tbb::make_filter<std::size_t, Record>(filter_mode::parallel, read) &
            oneapi::tbb::make_filter<Record, void>(filter_mode::serial_in_order, hand_on));
  }

  // Everything in the journal below `end`.
  void CatchUpTo(std::size_t end) {
    for (; next_ < ascending_.size() && ascending_[next_] < end; ++next_) {
      if (run_.journal != nullptr && run_.journal->Holds(ascending_[next_])) {
        Consume(run_.journal->Read(ascending_[next_]));
      }
    }
  }

  const Summary& summary() const { return summary_; }

 private:
  void Consume(const CaseRecord& record) {
    const bool allowed =
        record.verdict == Verdict::kSkipped && AllowsSkip(record.c, record.reason, allowed_skips_);
    summary_.Add(record.verdict, allowed);
    run_.consume(record);
  }

  const RecordedRun& run_;
  const std::vector<std::string>& allowed_skips_;
  std::vector<std::size_t> ascending_;
  std::size_t next_ = 0;
  Summary summary_;
};

}  // namespace

Summary RunRecorded(const std::vector<Case>& cases, const ProblemSource& source,
                    SweepOptions options, const RecordedRun& run,
                    const std::function<bool()>& stop) {
  const std::vector<std::string> allowed_skips = options.allowed_skips;
  InOrder in_order(run, allowed_skips);
  std::vector<std::size_t> open;
  std::copy_if(run.order.begin(), run.order.end(), std::back_inserter(open),
               [&](std::size_t i) { return run.journal == nullptr || !run.journal->Holds(i); });
  options.in_order = std::is_sorted(run.order.begin(), run.order.end());
  if (run.journal != nullptr) {
    options.finished = [&](const CaseRecord& record, double) { run.journal->Append(record); };
  }
  const auto sink = [&](const CaseRecord& record) {
    if (options.in_order) {
      in_order.Take(record);
    }
    if (run.progress) {
      run.progress(record);
    }
  };
  RunCases(cases, source, options, sink, stop, open);
  in_order.CatchUp(static_cast<std::size_t>(
      options.jobs > 0 ? options.jobs : oneapi::tbb::info::default_concurrency()));
  return in_order.summary();
}

void RemoveTornFiles(const std::string& out) {
  namespace fs = std::filesystem;
  const fs::path target(out);
  const fs::path folder = target.parent_path().empty() ? fs::path(".") : target.parent_path();
  const std::string prefix = "." + target.filename().string() + ".tmp-";
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder, ignored)) {
    const std::string name = file.path().filename().string();
    if (name != prefix + std::to_string(getpid()) && name.starts_with(prefix) &&
        name.size() > prefix.size() &&
        name.find_first_not_of("0123456789", prefix.size()) == name.npos) {
      fs::remove(file.path(), ignored);
    }
  }
}

}  // namespace voltcheck::verify
