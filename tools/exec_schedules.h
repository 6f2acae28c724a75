#ifndef VOLTCHECK_TOOLS_EXEC_SCHEDULES_H_
#define VOLTCHECK_TOOLS_EXEC_SCHEDULES_H_

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "kernels/simulator/simulator.h"
#include "tools/arguments.h"
#include "tools/exec_contraction.h"

namespace voltcheck::tools {

/// Adds --schedule, --schedules, --interleavings and --limit.
void AddScheduleOptions(Arguments& arguments);

/// Reads them into the simulator's options. Throws Error (status 2) for what does not fit together.
void ReadSchedule(const Arguments& arguments, simulator::Options& options);

/// How many seeds --schedules asks for: 0 to N - 1. At least 1.
std::uint64_t ScheduleCount(const Arguments& arguments);

/// The first run of `launch`, which takes a seed, with a "nondeterministic" finding if one of the
/// other `count - 1` seeds gives other buffers or other kinds of findings.
ExecRun RunSchedules(std::uint64_t first, std::uint64_t count, const std::string& kernel,
                     const std::function<ExecRun(std::uint64_t seed)>& launch);

/// "ran 6 interleavings of 18 operations (2 more given up as repetitions): all that can differ".
std::string ExplorationText(const simulator::Exploration& exploration);
nlohmann::ordered_json ExplorationJson(const simulator::Exploration& exploration);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_EXEC_SCHEDULES_H_
