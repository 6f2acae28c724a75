#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_SETTINGS_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_SETTINGS_H_

#include <cstdint>
#include <string>

#include "kernels/simulator/simulator.h"

namespace voltcheck::shim {

/// How a program's device behaves: what `voltcheck run` sets in the program's environment.
struct Settings {
  simulator::Options simulator;
  std::string findings;     ///< file that findings are appended to (findings_file.h); empty: stderr
  bool reassemble = false;  ///< assemble every module again, to compare with its SASS
  bool verbose = false;     ///< a line on stderr for each call that fails
  std::uint64_t memory = std::uint64_t{16} << 30;  ///< of the device, bytes
  int multiprocessors = 80;
};

/// Names of the environment's variables.
inline constexpr const char* kCheckVariable = "VOLTCHECK_CHECK";
inline constexpr const char* kScheduleVariable = "VOLTCHECK_SCHEDULE";
inline constexpr const char* kNumericsVariable = "VOLTCHECK_NUMERICS";
inline constexpr const char* kJobsVariable = "VOLTCHECK_JOBS";
inline constexpr const char* kLimitVariable = "VOLTCHECK_INSTRUCTION_LIMIT";
inline constexpr const char* kFindingsVariable = "VOLTCHECK_FINDINGS";
inline constexpr const char* kVerboseVariable = "VOLTCHECK_VERBOSE";
inline constexpr const char* kSassVariable = "VOLTCHECK_SASS";
inline constexpr const char* kMemoryVariable = "VOLTCHECK_DEVICE_MEMORY";
inline constexpr const char* kMultiprocessorsVariable = "VOLTCHECK_DEVICE_SMS";

/// Reads `all`, `none`, or a list of checkers separated by commas. Throws Error (status 2).
simulator::Checks ParseChecks(const std::string& text);

/// Settings from the environment; what is not set takes its default, checkers none. Throws Error
/// (status 2) naming the variable.
Settings SettingsFromEnvironment();

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_SETTINGS_H_
