#include "kernels/runtime_shim/core/runtime_folder.h"

#include <filesystem>

#include "fixtures/case/error.h"

namespace voltcheck::shim {

std::string RuntimeFolder() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  for (const fs::path& root : {binary.parent_path().parent_path(), binary.parent_path()}) {
    for (const char* lib : {"lib", "lib64", "lib/x86_64-linux-gnu"}) {
      const fs::path folder = root / lib / "voltcheck" / "runtime";
      if (fs::exists(folder / "libcudart.so.11.0", error)) {
        return folder.string();
      }
    }
  }
  throw Error(ExitStatus::kUnavailable, binary.string() +
                                            ": lib/voltcheck/runtime is not beside it; install "
                                            "with 'cmake --install' or build every target");
}

}  // namespace voltcheck::shim
