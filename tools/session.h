#ifndef VOLTCHECK_TOOLS_SESSION_H_
#define VOLTCHECK_TOOLS_SESSION_H_

#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case/case.h"
#include "tools/arguments.h"
#include "tools/command.h"
#include "tools/property_report.h"
#include "verify/device_options.h"
#include "verify/judge_options.h"
#include "verify/problem_source.h"

namespace voltcheck::tools {

/// What the commands that run cases have in common.
struct SessionOptions {
  verify::DeviceOptions device;
  std::string fixtures;  ///< folder
  int jobs = 0;
  verify::JudgeOptions judge;
  PropertyOptions properties;               ///< asked after the cases
  std::vector<std::string> allowed_skips;   ///< filters of skips that pass
  std::vector<std::string> allowed_unused;  ///< entries of --kernels that need not run
  std::string out;                          ///< run file; empty: none
  bool json = false;
  bool quiet = false;
  std::string title;      ///< "suite smoke"
  std::string arguments;  ///< canonical, for the record
  std::string schema;     ///< of the JSON
  std::uint64_t seed = 0;
  std::string suffix;  ///< see SummaryTable::Print
};

/// Adds the options that these commands share: --device, --schedule, --kernels, --fixtures, --jobs,
/// --json, --quiet and those of judging.
void AddSessionOptions(Arguments& arguments);
/// Reads them. `command` starts the canonical arguments.
SessionOptions ReadSessionOptions(const Arguments& arguments, const std::string& command);

/// Where fixtures lie when none are named: beside an installed binary, else in the source tree.
std::string DefaultFixturesFolder();

/// Opens the device and the run file first, so that neither is missing after an hour's work, then
/// runs the cases, writes the record, prints table or JSON, and says how it went.
ExitStatus RunSession(const std::vector<Case>& cases, verify::ProblemSource& source,
                      const SessionOptions& options);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_SESSION_H_
