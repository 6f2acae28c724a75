#ifndef VOLTCHECK_VERIFY_RUN_FILE_H_
#define VOLTCHECK_VERIFY_RUN_FILE_H_

#include <hdf5.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "verify/record.h"

namespace voltcheck::verify {

inline constexpr std::string_view kRunSchema = "voltcheck.run/1";

/// What the whole run has in common: the root attributes of `voltcheck.run/1`.
struct RunProvenance {
  std::string tool_version;
  std::string commit;
  std::string arguments;  ///< canonical, only what determines results
  /// Those of them that a `replay` of single cases takes, separated by spaces.
  std::string options;
  std::uint64_t seed = 0;
  kernels::DeviceDescription device;
  std::string toolkit;   ///< CUDA Toolkit release that made the PTX
  std::string compiler;  ///< host compiler
  std::string kernels_hash;
  std::string fixtures;  ///< "name@hash name@hash"
  /// Number of cases in the whole run, finished or not; 0: as many as are written.
  std::uint64_t planned = 0;
  std::string cases_hash;  ///< SHA-256 over the descriptors of all of them; empty: not a list
  /// What replaced the built-in kernels, as it ran: written whole, so that the run can be repeated.
  std::vector<kernels::ModuleImage> overrides;
  /// A recipe that launched them, for the same reason: its file and the modules that it needs.
  /// Empty: none.
  std::string recipe_name;
  std::string recipe_text;
  std::vector<kernels::ModuleImage> recipe_modules;
};

/// Version, commit, toolkit and compiler of this build, with the arguments of a run.
RunProvenance ProvenanceOfThisBuild(std::string arguments);

/// Writes `voltcheck.run/1` (docs/run-file.md). Cases are appended in order; the file appears under
/// its final name only in Finish(), by sync and rename. Destroying an unfinished writer removes the
/// temporary file. The same provenance and records give the same bytes.
class RunFileWriter {
 public:
  /// Throws Error (status 2) when the folder cannot be written.
  RunFileWriter(const std::string& path, const RunProvenance& provenance);
  ~RunFileWriter();
  RunFileWriter(const RunFileWriter&) = delete;
  RunFileWriter& operator=(const RunFileWriter&) = delete;

  /// Throws Error (status 2) when the disk is full. Timings of the record are not written. The
  /// case's number is `number`, ascending, or the number of the row.
  void Append(const CaseRecord& record, std::uint64_t number);
  void Append(const CaseRecord& record);
  /// `complete`: every case of the run is there (false after an interruption). `extras` may write
  /// further groups into the file, last of all.
  void Finish(bool complete, const std::function<void(hid_t file)>& extras = {});

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_RUN_FILE_H_
