#ifndef VOLTCHECK_VERIFY_KERNEL_USAGE_H_
#define VOLTCHECK_VERIFY_KERNEL_USAGE_H_

#include <set>
#include <string>
#include <vector>

#include "kernels/device.h"

namespace voltcheck::verify {

/// Entries of `--kernels` files that a run never launched: a gate proves nothing about them.
struct UnusedKernels {
  std::vector<std::string> lines;  ///< "FILE: ENTRY was run by no case", in the order of the files
  bool whole_file = false;         ///< some file has not one entry that ran
};

/// `used` holds the names that plans launched; `allowed` those that need not run. An entry that a
/// later file replaces counts as not run.
UnusedKernels FindUnused(const std::vector<kernels::ModuleImage>& overrides,
                         const std::set<std::string>& used,
                         const std::vector<std::string>& allowed);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_KERNEL_USAGE_H_
