#include "verify/scale/worker.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "verify/case_runner.h"

namespace voltcheck::verify {

Worker::Worker(const std::vector<Case>& cases, const ProblemSource& source,
               const SweepOptions& options, int jobs, std::function<void(const CaseRecord&)> keep)
    : cases_(cases), source_(source), options_(options), keep_(std::move(keep)) {
  options_.device.jobs = 1;  // the cases are the parallel work
  for (int i = 0; i < std::max(1, jobs); ++i) {
    threads_.emplace_back([this] { Run(); });
  }
}

Worker::~Worker() {
  {
    const std::scoped_lock lock(mutex_);
    end_ = true;
    queue_.clear();
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void Worker::Run() {
  for (;;) {
    std::uint64_t number = 0;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return end_ || (!queue_.empty() && broken_.empty()); });
      if (end_) {
        return;
      }
      number = queue_.front();
      queue_.pop_front();
      ++running_;
    }
    std::string failure;
    CaseNote note{number, 0};
    try {
      CaseRecord record = RunCase(source_.Make(cases_[number]), options_.device, options_.judge);
      record.index = number;
      keep_(record);
      note.passed = record.verdict == Verdict::kPassed ? 1 : 0;
    } catch (const std::exception& error) {
      failure = error.what();
    }
    const std::scoped_lock lock(mutex_);
    --running_;
    if (failure.empty()) {
      notes_.push_back(note);
    } else if (broken_.empty()) {
      broken_ = failure;
      queue_.clear();
    }
  }
}

void Worker::Give(const std::vector<std::uint64_t>& numbers) {
  {
    const std::scoped_lock lock(mutex_);
    queue_.insert(queue_.end(), numbers.begin(), numbers.end());
  }
  wake_.notify_all();
}

std::size_t Worker::waiting() const {
  const std::scoped_lock lock(mutex_);
  return queue_.size();
}

bool Worker::Hungry() const {
  const std::scoped_lock lock(mutex_);
  return broken_.empty() && queue_.size() < threads_.size();
}

void Worker::Drop() {
  const std::scoped_lock lock(mutex_);
  queue_.clear();
}

bool Worker::Idle() const {
  const std::scoped_lock lock(mutex_);
  return queue_.empty() && running_ == 0;
}

std::vector<CaseNote> Worker::TakeNotes() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(notes_, {});
}

std::string Worker::broken() const {
  const std::scoped_lock lock(mutex_);
  return broken_;
}

}  // namespace voltcheck::verify
