#ifndef VOLTCHECK_VERIFY_STOPWATCH_H_
#define VOLTCHECK_VERIFY_STOPWATCH_H_

#include <chrono>

namespace voltcheck::verify {

/// Seconds of wall time since it was made. For figures that are shown and forecasts, never for
/// what a result depends on.
class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_STOPWATCH_H_
