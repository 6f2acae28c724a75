#ifndef VOLTCHECK_VERIFY_BUILD_INFO_H_
#define VOLTCHECK_VERIFY_BUILD_INFO_H_

#include <string_view>

namespace voltcheck::verify {

/// What made this binary, as the record tells it.
struct BuildInfo {
  std::string_view version;   ///< of the project
  std::string_view commit;    ///< at configure time; "unknown" outside a repository
  std::string_view toolkit;   ///< CUDA Toolkit release that compiled the kernels
  std::string_view compiler;  ///< host compiler and its version
};
const BuildInfo& ThisBuild();

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_BUILD_INFO_H_
