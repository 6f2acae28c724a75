#include "kernels/plugin/runtime_host.h"

#include <dlfcn.h>

#include "fixtures/case/error.h"
#include "kernels/runtime_shim/core/hosted.h"
#include "kernels/runtime_shim/core/program_file.h"
#include "kernels/runtime_shim/core/runtime_folder.h"

namespace voltcheck::plugin {
namespace {

constexpr const char* kCore = "/libvoltcheck_device.so";

RuntimeEvents& EventsOf(void* context) { return *static_cast<RuntimeEvents*>(context); }

}  // namespace

bool LoadRuntime(const std::string& path) {
  const shim::ProgramFile library = shim::ReadProgramFile(path);
  if (library.script) {
    throw BadInput(path, "is a script", "name a shared library");
  }
  shim::RequireRunnable(path, library);
  if (!library.uses_runtime && !library.uses_driver) {
    return false;
  }
  // The loader takes what is loaded already for a library of the same name.
  const std::string folder = shim::RuntimeFolder();
  for (const char* name : {kCore, "/libcudart.so.11.0", "/libcudart.so.12", "/libcuda.so.1"}) {
    if (dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
      throw Error(ExitStatus::kUnavailable,
                  std::string("the stand-ins for CUDA do not load: ") + dlerror());
    }
  }
  return true;
}

void HostRuntime(simulator::SimulatorDevice& device, RuntimeEvents& events) {
  void* core = dlopen((shim::RuntimeFolder() + kCore).c_str(), RTLD_NOW | RTLD_NOLOAD);
  const auto lend = core == nullptr
                        ? nullptr
                        : reinterpret_cast<shim::HostFunction>(dlsym(core, shim::kHostFunction));
  if (lend == nullptr) {
    throw Error(ExitStatus::kUnavailable, "the stand-ins for CUDA are of another version");
  }
  static shim::Host host;
  host.device = &device;
  host.context = &events;
  host.finding = [](void* context, const kernels::Finding& finding) {
    EventsOf(context).findings.push_back(finding);
  };
  host.refusal = [](void* context, const char* line) {
    kernels::Finding finding;
    finding.checker = "runtime";
    finding.message = line;
    EventsOf(context).findings.push_back(finding);
  };
  host.counters = [](void* context, const kernels::Counters& counters) {
    EventsOf(context).counters += counters;
  };
  lend(&host);
}

}  // namespace voltcheck::plugin
