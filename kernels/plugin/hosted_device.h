#ifndef VOLTCHECK_KERNELS_PLUGIN_HOSTED_DEVICE_H_
#define VOLTCHECK_KERNELS_PLUGIN_HOSTED_DEVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/voltcheck_kernel.h"

namespace voltcheck::plugin {

/// What of a plugin's work the CUDA runtime's stand-in sees: findings and counters of launches that
/// the plugin made by itself. Functions that ask take them away.
struct RuntimeEvents {
  std::vector<kernels::Finding> findings;
  kernels::Counters counters;
};

/// The module that stands for the plugin: name of the file, a text that lists "prepare" and
/// "step0", "step1", ... as entries.
kernels::ModuleImage PluginModule(const std::string& file, const std::string& sha256,
                                  const voltcheck_plugin& plugin);

/// `inner` with the plugin's functions as kernels: launching "prepare" or "stepN" of its module
/// calls the plugin, whose own work goes to `inner`. A plugin that fails makes the device faulted,
/// with a finding of checker "plugin". `events` may be null; both it and `plugin` outlive the
/// device.
std::unique_ptr<kernels::Device> MakeHostedDevice(std::unique_ptr<kernels::Device> inner,
                                                  const voltcheck_plugin& plugin,
                                                  const kernels::ModuleImage& module,
                                                  RuntimeEvents* events);

}  // namespace voltcheck::plugin

#endif  // VOLTCHECK_KERNELS_PLUGIN_HOSTED_DEVICE_H_
