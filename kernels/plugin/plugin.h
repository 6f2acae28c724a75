#ifndef VOLTCHECK_KERNELS_PLUGIN_PLUGIN_H_
#define VOLTCHECK_KERNELS_PLUGIN_PLUGIN_H_

#include <memory>
#include <string>

#include "kernels/implementation.h"

namespace voltcheck::plugin {

/// Loads a plugin (kernels/voltcheck_kernel.h) for a device of this kind, "simulator" or "cuda".
/// Its steps run in a child process for each device, so that one that crashes or faults is a
/// verdict and not the end; what it says of itself is asked here.
///
/// Throws Error (status 2), one line that names the file, for one that does not load, exports no
/// plugin of this version, or contradicts itself; on the simulator also for device code that cannot
/// run there.
std::shared_ptr<const kernels::Implementation> LoadPlugin(const std::string& path,
                                                          const std::string& device_kind);

}  // namespace voltcheck::plugin

#endif  // VOLTCHECK_KERNELS_PLUGIN_PLUGIN_H_
