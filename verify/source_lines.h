#ifndef VOLTCHECK_VERIFY_SOURCE_LINES_H_
#define VOLTCHECK_VERIFY_SOURCE_LINES_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device.h"

namespace voltcheck::verify {

/// The text of the source lines that findings name. The built-in kernels' sources are in the
/// binary. Those of other PTX are read from the disk, where the paths that the PTX was compiled
/// with, or the folder of the PTX, still hold them; only C++ and CUDA files of 4 MiB at most.
class SourceLines {
 public:
  /// `overrides`: the modules that replaced built-in ones, with the paths that they came from.
  explicit SourceLines(const std::vector<kernels::ModuleImage>& overrides);

  /// The line that `finding.source` names, without the space around it and at most 200 bytes of it;
  /// empty where it is not at hand.
  std::string Text(const kernels::Finding& finding);

 private:
  const std::vector<std::string>& Lines(const std::string& module, const std::string& name);

  struct Module {
    std::string folder;                        // of the PTX file
    std::map<std::string, std::string> paths;  // by file name; empty for one that is not unique
  };
  std::map<std::string, Module> modules_;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> lines_;
};

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SOURCE_LINES_H_
