#ifndef VOLTCHECK_KERNELS_PLUGIN_RUNTIME_HOST_H_
#define VOLTCHECK_KERNELS_PLUGIN_RUNTIME_HOST_H_

#include <string>

#include "kernels/plugin/hosted_device.h"
#include "kernels/simulator/simulator.h"

namespace voltcheck::plugin {

/// Loads the stand-ins for CUDA's libraries into this process, where the library at `path` is
/// linked with them, so that loading it finds these and not a driver's. Throws Error: status 2 for
/// a file that is no library or whose device code cannot run on the simulator, one line that says
/// what to rebuild; status 3 when the stand-ins are missing. Gives whether they were loaded.
bool LoadRuntime(const std::string& path);

/// Lets the CUDA calls of this process land on `device`; what they lead to goes to `events`. After
/// LoadRuntime. Both live as long as the process.
void HostRuntime(simulator::SimulatorDevice& device, RuntimeEvents& events);

}  // namespace voltcheck::plugin

#endif  // VOLTCHECK_KERNELS_PLUGIN_RUNTIME_HOST_H_
