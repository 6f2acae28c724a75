#ifndef VOLTCHECK_VERIFY_RUN_READER_H_
#define VOLTCHECK_VERIFY_RUN_READER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "verify/sweep.h"

namespace voltcheck::verify {

/// What a run file says about itself.
struct RunOverview {
  std::vector<std::pair<std::string, std::string>> attributes;  ///< of the root, ordered by name
  Summary summary;                                              ///< from /cases/verdict
  bool complete = false;
  std::vector<std::pair<std::string, std::string>> datasets;  ///< path, "float32 [100, 18]"
};

/// Whether the file starts as an HDF5 file does. Throws Error (status 2) when it cannot be read.
bool IsHdf5(const std::string& path);

/// The root attribute `schema` of an HDF5 file, empty when it has none. Throws Error (status 2) for
/// a file that the library cannot open.
std::string ReadSchema(const std::string& path);

/// Throws Error (status 2) for a file that is truncated, or no `voltcheck.run/1`.
RunOverview ReadRunOverview(const std::string& path);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_RUN_READER_H_
