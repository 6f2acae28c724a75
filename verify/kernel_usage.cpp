#include "verify/kernel_usage.h"

#include <algorithm>

#include "kernels/kernel_set.h"

namespace voltcheck::verify {

UnusedKernels FindUnused(const std::vector<kernels::ModuleImage>& overrides,
                         const std::set<std::string>& used,
                         const std::vector<std::string>& allowed) {
  const auto is_allowed = [&](const std::string& entry) {
    return std::find(allowed.begin(), allowed.end(), entry) != allowed.end();
  };
  UnusedKernels unused;
  std::set<std::string> replaced;  // by a file behind the one that is looked at
  for (std::size_t i = overrides.size(); i-- > 0;) {
    const std::vector<std::string> entries = kernels::EntryNames(overrides[i].ptx);
    std::vector<std::string> lines;
    bool any_ran = false;
    for (const std::string& entry : entries) {
      // Plans of plugins and recipes name the module, too.
      const bool ran = used.contains(overrides[i].name + "#" + entry) ||
                       (used.contains(entry) && !replaced.contains(entry));
      any_ran = any_ran || ran || is_allowed(entry);
      if (!ran && !is_allowed(entry)) {
        lines.push_back(
            overrides[i].name + ": " + entry +
            (replaced.contains(entry) ? " is replaced by a later file" : " was run by no case"));
      }
    }
    unused.whole_file = unused.whole_file || !any_ran;
    unused.lines.insert(unused.lines.begin(), lines.begin(), lines.end());
    replaced.insert(entries.begin(), entries.end());
  }
  return unused;
}

}  // namespace voltcheck::verify
