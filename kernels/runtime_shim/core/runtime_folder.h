#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_RUNTIME_FOLDER_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_RUNTIME_FOLDER_H_

#include <string>

namespace voltcheck::shim {

/// Where the stand-ins lie: lib/voltcheck/runtime beside the running binary's folder, in the build
/// beside the binary's parent. Throws Error (status 3) when they are not there.
std::string RuntimeFolder();

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_RUNTIME_FOLDER_H_
