#ifndef VOLTCHECK_TOOLS_SESSION_H_
#define VOLTCHECK_TOOLS_SESSION_H_

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case/case.h"
#include "kernels/recipe/recipe.h"
#include "tools/arguments.h"
#include "tools/command.h"
#include "tools/property_report.h"
#include "verify/device_options.h"
#include "verify/judge_options.h"
#include "verify/problem_source.h"
#include "verify/record.h"
#include "verify/run_file.h"
#include "verify/scale/ranks.h"
#include "verify/scale/shards.h"
#include "verify/sweep.h"

namespace voltcheck::tools {

/// What a command adds to a session: it sees every record and has a word in the end.
class SessionExtra {
 public:
  virtual ~SessionExtra() = default;
  virtual void Add(const verify::CaseRecord& record) = 0;
  /// After the last case.
  virtual void Finish() = 0;
  virtual bool Passed() const = 0;
  virtual void Print(std::FILE* out, bool colour) const = 0;
  /// What it adds to the JSON's summary: the text of an object, whose members are taken over.
  virtual std::string Json() const = 0;
};

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
  bool json_progress = false;  ///< a line of JSON a second on standard error
  std::string title;           ///< "suite smoke"
  std::string arguments;       ///< canonical, for the record
  std::string replay;          ///< those of them that a replay of single cases takes
  std::string schema;          ///< of the JSON
  std::uint64_t seed = 0;
  recipe::RecipeFiles recipe;     ///< of --recipe, for the record; else without a name
  bool may_leave_unused = false;  ///< entries of --kernels that do not run are no failure
  bool resume = false;  ///< take up what an interrupted run of the same arguments has finished
  /// Cases to run, in the order in which they shall start; empty: all, as they stand.
  std::vector<std::size_t> order;
  std::vector<std::uint64_t> costs;  ///< predicted, by case; with `ranks`
  verify::Ranks* ranks = nullptr;    ///< processes that share the work; null: this one alone
  double silence_seconds = 30;       ///< after which a rank is given up
  verify::Shard shard;               ///< of which `order` holds the cases
  std::string suffix;                ///< see SummaryTable::Print
  SessionExtra* extra = nullptr;
};

/// Adds the options that these commands share: --device, --schedule, --kernels, --fixtures, --jobs,
/// --json, --quiet and those of judging.
void AddSessionOptions(Arguments& arguments);
/// Reads them. `command` starts the canonical arguments.
SessionOptions ReadSessionOptions(const Arguments& arguments, const std::string& command);

/// Where fixtures lie when none are named: beside an installed binary, else in the source tree.
std::string DefaultFixturesFolder();

/// How a run of these options runs its cases, and what its run file says of it. Provenance opens
/// the device: Error (status 3) when there is none.
verify::SweepOptions HowToRun(const SessionOptions& options);
verify::RunProvenance Provenance(const std::vector<Case>& cases, const SessionOptions& options,
                                 const verify::ProblemSource& source);

/// Opens the device and the run file first, so that neither is missing after an hour's work, then
/// runs the cases, writes the record, prints table or JSON, and says how it went.
ExitStatus RunSession(const std::vector<Case>& cases, verify::ProblemSource& source,
                      const SessionOptions& options);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_SESSION_H_
