#include "verify/device_options.h"

#include <filesystem>
#include <set>
#include <utility>

#include "fixtures/case/error.h"
#include "fixtures/mapped_file.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/kernel_set.h"
#include "kernels/simulator/simulator.h"

namespace voltcheck::verify {

std::unique_ptr<kernels::Device> MakeDevice(const DeviceOptions& options, Numerics numerics) {
  if (options.kind == "simulator") {
    simulator::Options simulated;
    simulated.numerics = numerics;
    simulated.schedule = options.schedule;
    simulated.jobs = options.jobs;
    if (options.all_checks) {
      simulated.checks = simulator::Checks::All();
    }
    return simulator::MakeSimulator(simulated);
  }
  if (options.kind == "cuda") {
    return cuda::MakeCudaDevice(0);
  }
  throw BadInput("--device " + options.kind, "no such device", "use simulator or cuda");
}

std::vector<kernels::ModuleImage> ReadOverrides(const std::vector<std::string>& paths) {
  std::vector<kernels::ModuleImage> images;
  for (const std::string& path : paths) {
    const fixtures::MappedFile file(path);
    std::string text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    images.push_back({std::filesystem::path(path).filename().string(), std::move(text), {}});
  }
  return images;
}

void CheckOverrides(kernels::Device& device, const std::vector<kernels::ModuleImage>& overrides) {
  if (overrides.empty()) {
    return;
  }
  std::set<std::string> replaceable;
  for (const kernels::ModuleImage& image : kernels::BuiltInModules()) {
    for (const std::string& name : device.KernelNames(device.LoadModule(image))) {
      replaceable.insert(name);
    }
  }
  for (const kernels::ModuleImage& image : overrides) {
    const std::vector<std::string> names = device.KernelNames(device.LoadModule(image));
    std::string listed;
    bool replaces = false;
    for (const std::string& name : names) {
      listed.append(listed.empty() ? "" : ", ").append(name);
      replaces = replaces || replaceable.contains(name);
    }
    if (!replaces) {
      throw BadInput(image.name,
                     listed.empty() ? "replaces no kernel, it has no entry"
                                    : "replaces no kernel, its entries are " + listed,
                     "name entries as 'voltcheck list kernels' does");
    }
  }
}

}  // namespace voltcheck::verify
