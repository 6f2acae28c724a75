#include "verify/device_options.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fixtures/case/error.h"
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
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    if (!in || std::filesystem::is_directory(path) || !(text << in.rdbuf())) {
      throw BadInput(path, std::string("cannot be read (") + std::strerror(errno) + ")",
                     "give --kernels a PTX file");
    }
    images.push_back({std::filesystem::path(path).filename().string(), text.str(), {}});
  }
  return images;
}

}  // namespace voltcheck::verify
