#include "verify/device_options.h"

#include <filesystem>
#include <utility>

#include "fixtures/case/error.h"
#include "fixtures/mapped_file.h"
#include "kernels/cuda/cuda_device.h"
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

}  // namespace voltcheck::verify
