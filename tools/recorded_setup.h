#ifndef VOLTCHECK_TOOLS_RECORDED_SETUP_H_
#define VOLTCHECK_TOOLS_RECORDED_SETUP_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/recipe/recipe.h"
#include "tools/command.h"
#include "verify/device_options.h"
#include "verify/problem_source.h"
#include "verify/record.h"

namespace voltcheck::tools {

/// A case of a run file and what came out of it.
struct RecordedCase {
  std::uint64_t number = 0;
  std::string descriptor;
  std::string verdict;
  std::array<std::uint64_t, verify::kStages.size()> hashes{};  ///< of the stages' outputs
};

/// What it takes to repeat a run, from its run file alone; fixtures are found by name and hash.
struct RecordedSetup {
  Words options;  ///< as `replay` takes them
  std::string kernels_hash;
  std::vector<kernels::ModuleImage> overrides;
  recipe::RecipeFiles recipe;  ///< without a name: none
  /// Implementation::arguments() of the plugin or recipe that ran; empty: none.
  std::string implementation;
  std::string fixtures;  ///< as RunProvenance has them
  std::vector<RecordedCase> cases;

  /// The value of an option of the run, "--schedule"; empty when it was not given.
  std::string Option(const std::string& name) const;
};

/// Reads all cases, or the one of this number in the whole run, in a child process. Throws Error
/// (status 2) for a file that is no run file or has no such case.
RecordedSetup ReadRecordedSetup(const std::string& path, std::optional<std::uint64_t> number);

/// Completes `device` with the recipe that the file holds, unless one was named. Throws Error
/// (status 2) unless its plugin or recipe is then that of the recorded run.
void TakeImplementation(const std::string& path, const RecordedSetup& setup,
                        verify::DeviceOptions& device);

/// Throws Error (status 2) unless the fixtures that `source` has loaded are those of the recorded
/// run.
void RequireSameFixtures(const std::string& path, const RecordedSetup& setup,
                         const verify::ProblemSource& source);

/// Throws Error (status 2) unless `device` runs the kernels of the recorded run.
void RequireSameKernels(const std::string& path, const RecordedSetup& setup,
                        const verify::DeviceOptions& device, Numerics numerics);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_RECORDED_SETUP_H_
