#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_FINDINGS_FILE_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_FINDINGS_FILE_H_

#include <map>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/runtime_shim/core/hosted.h"

namespace voltcheck::shim {

/// A piece of device code that a program handed over.
struct ModuleNote {
  std::string name;
  std::string ptx_sha256;
  std::string sass_sha256;  ///< of the SASS for sm_70 beside it, which does not run; empty: none
  /// Of the machine code in that SASS, and of what the assembler makes of the PTX; empty: not asked
  /// for, or there is none.
  std::string shipped_code_sha256;
  std::string assembled_code_sha256;
};

/// All that a program's run left behind.
struct ProgramRecord {
  std::vector<kernels::Finding> findings;
  std::map<std::string, std::uint64_t> launches;  ///< by kernel, of processes that ended well
  kernels::Counters counters;                     ///< likewise
  std::vector<ModuleNote> modules;
  std::vector<std::string> refusals;  ///< why device code or settings could not be used
};

/// Appends to the file between a program and `voltcheck run`, a JSON object a line. Every line is
/// one write to a file opened for appending, so what was found stands there whatever becomes of the
/// program, and its child processes may write to the same file.
class FindingsFile {
 public:
  /// An empty path: findings and refusals go to standard error as text, the rest nowhere.
  explicit FindingsFile(std::string path) : path_(std::move(path)) {}

  /// From now on to a host, and not to any file.
  void Redirect(const Host* host) { host_ = host; }

  void Write(const kernels::Finding& finding);
  void Write(const ModuleNote& module);
  void WriteRefusal(const std::string& line);
  void WriteTotals(const std::map<std::string, std::uint64_t>& launches,
                   const kernels::Counters& counters);

 private:
  void Append(const std::string& line);
  std::string path_;
  const Host* host_ = nullptr;
};

/// "bounds in copy at copy.cu:12, block (0, 0, 0), thread (4, 0, 0): read of 4 bytes ...".
std::string ToLine(const kernels::Finding& finding);

/// Reads what was written; a last line that was cut off is left out. Throws Error (status 2) for
/// text that no FindingsFile wrote.
ProgramRecord ReadFindingsFile(const std::string& path);

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_FINDINGS_FILE_H_
