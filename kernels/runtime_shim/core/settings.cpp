#include "kernels/runtime_shim/core/settings.h"

#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "fixtures/case/descriptor.h"
#include "fixtures/case/error.h"

namespace voltcheck::shim {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::uint64_t NumberOr(const char* name, std::uint64_t fallback) {
  const std::string text = Variable(name);
  if (text.empty()) {
    return fallback;
  }
  char* end = nullptr;
  errno = 0;
  const std::uint64_t number = std::strtoull(text.c_str(), &end, 0);
  if (errno != 0 || end != text.c_str() + text.size()) {
    throw BadInput(std::string(name) + "=" + text, "is no whole number", "write one, or unset it");
  }
  return number;
}

}  // namespace

simulator::Checks ParseChecks(const std::string& text) {
  using simulator::Checks;
  if (text == "all") {
    return Checks::All();
  }
  Checks checks;
  checks.barriers = false;
  if (text == "none") {
    return checks;
  }
  std::istringstream words(text);
  for (std::string name; std::getline(words, name, ',');) {
    if (name == "uninitialised") {
      checks.uninitialised = true;
    } else if (name == "shared-races") {
      checks.shared_races = true;
    } else if (name == "global-races") {
      checks.global_races = true;
    } else if (name == "barriers") {
      checks.barriers = true;
    } else if (name == "leaked-locks") {
      checks.leaked_locks = true;
    } else if (name == "counters") {
      checks.counters = true;
    } else {
      throw BadInput("--check " + name, "no such checker",
                     "use all, none, or uninitialised, shared-races, global-races, barriers, "
                     "leaked-locks, counters");
    }
  }
  return checks;
}

Settings SettingsFromEnvironment() {
  Settings settings;
  const std::string check = Variable(kCheckVariable);
  settings.simulator.checks = ParseChecks(check.empty() ? "none" : check);
  settings.simulator.schedule = NumberOr(kScheduleVariable, 0);
  const std::string numerics = Variable(kNumericsVariable);
  settings.simulator.numerics = ParseNumerics(numerics.empty() ? "v100" : numerics);
  settings.simulator.jobs = static_cast<int>(NumberOr(kJobsVariable, 0));
  settings.simulator.instruction_limit =
      NumberOr(kLimitVariable, settings.simulator.instruction_limit);
  settings.findings = Variable(kFindingsVariable);
  settings.verbose = !Variable(kVerboseVariable).empty();
  settings.reassemble = !Variable(kSassVariable).empty();
  settings.memory = NumberOr(kMemoryVariable, settings.memory);
  settings.multiprocessors = static_cast<int>(NumberOr(kMultiprocessorsVariable, 80));
  if (settings.multiprocessors < 1 || settings.multiprocessors > 1024) {
    throw BadInput(kMultiprocessorsVariable, "is not between 1 and 1024", "a V100 has 80");
  }
  return settings;
}

}  // namespace voltcheck::shim
