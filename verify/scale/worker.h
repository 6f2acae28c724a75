#ifndef VOLTCHECK_VERIFY_SCALE_WORKER_H_
#define VOLTCHECK_VERIFY_SCALE_WORKER_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "verify/sweep.h"

namespace voltcheck::verify {

/// A finished case as rank 0 hears of it.
struct CaseNote {
  std::uint64_t number = 0;
  std::uint64_t passed = 0;  ///< 1 or 0
};

/// Threads that run the cases they are given, while the thread that owns them talks to others.
class Worker {
 public:
  /// `keep` stores a record and is called from several threads; what it throws ends the worker.
  Worker(const std::vector<Case>& cases, const ProblemSource& source, const SweepOptions& options,
         int jobs, std::function<void(const CaseRecord&)> keep);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void Give(const std::vector<std::uint64_t>& numbers);
  /// Cases that wait, none of which has started.
  std::size_t waiting() const;
  /// Whether it wants more: fewer cases wait than threads may soon take.
  bool Hungry() const;
  /// Drops what waits; cases that run are finished.
  void Drop();
  /// Whether nothing waits and nothing runs.
  bool Idle() const;
  /// The cases that were finished since the last call.
  std::vector<CaseNote> TakeNotes();
  /// Why it takes no more cases; empty while it does.
  std::string broken() const;

 private:
  void Run();

  const std::vector<Case>& cases_;
  const ProblemSource& source_;
  SweepOptions options_;
  std::function<void(const CaseRecord&)> keep_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::uint64_t> queue_;
  std::vector<CaseNote> notes_;
  std::string broken_;
  int running_ = 0;
  bool end_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SCALE_WORKER_H_
