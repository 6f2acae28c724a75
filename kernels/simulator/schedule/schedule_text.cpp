#include <algorithm>
#include <charconv>
#include <string_view>

#include "fixtures/case/error.h"
#include "kernels/simulator/simulator.h"

namespace voltcheck::simulator {

std::vector<ScheduleStep> ParseSteps(const std::string& where, const std::string& text) {
  constexpr std::string_view kPrefix = "steps:";
  std::vector<ScheduleStep> steps;
  const char* at = text.data() + std::min(kPrefix.size(), text.size());
  const char* const end = text.data() + text.size();
  bool good = text.starts_with(kPrefix);
  while (good && at != end) {
    ScheduleStep step;
    auto read = std::from_chars(at, end, step.thread);
    good = read.ec == std::errc();
    if (good && read.ptr != end && *read.ptr == 'x') {
      read = std::from_chars(read.ptr + 1, end, step.count);
      good = read.ec == std::errc() && step.count != 0;
    }
    at = read.ptr;
    good = good && (at == end || (*at == ',' && at + 1 != end));
    at += at != end ? 1 : 0;
    steps.push_back(step);
  }
  if (!good) {
    throw BadInput(where + " " + text, "is no order of threads",
                   "write steps:THREAD[xCOUNT],... as a finding prints it");
  }
  return steps;
}

}  // namespace voltcheck::simulator
