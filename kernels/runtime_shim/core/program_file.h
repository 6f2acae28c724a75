#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_PROGRAM_FILE_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_PROGRAM_FILE_H_

#include <string>
#include <vector>

#include "kernels/runtime_shim/core/fat_binary.h"

namespace voltcheck::shim {

/// What a program's file says about how it uses CUDA.
struct ProgramFile {
  bool script = false;              ///< starts with "#!": what it calls is looked at when it loads
  std::vector<std::string> needed;  ///< shared libraries it is linked with
  std::vector<FatImage> images;     ///< device code in its .nv_fatbin section
  bool has_device_code = false;
  bool uses_runtime = false;  ///< a shared libcudart
  bool uses_driver = false;   ///< libcuda.so.1
};

/// Reads an ELF file or a script. Throws Error (status 2) for anything that is no 64-bit x86-64
/// program.
ProgramFile ReadProgramFile(const std::string& path);

/// Throws Error (status 2), one line that says what to rebuild and with which flags, where the
/// program cannot run here: device code without PTX up to compute_70, or the CUDA runtime linked in
/// statically.
void RequireRunnable(const std::string& path, const ProgramFile& program);

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_PROGRAM_FILE_H_
