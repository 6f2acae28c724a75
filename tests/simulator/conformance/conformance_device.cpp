#include "conformance_device.h"

#include <utility>

#include "fixtures/case/error.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/simulator/simulator.h"

namespace voltcheck::conformance {

DeviceSource::DeviceSource(std::string kind) : kind_(std::move(kind)) {
  if (kind_ != "cuda" && kind_ != "simulator") {
    throw BadInput(kind_, "is no device", "write cuda or simulator");
  }
}

kernels::Device& DeviceSource::Get(std::string_view instruction) {
  if (kind_ == "cuda") {
    if (device_ == nullptr) {
      device_ = cuda::MakeCudaDevice(0);
    }
    return *device_;
  }
  simulator::Options options;
  options.numerics = instruction.substr(0, 4) == "wmma" ? Numerics::kSm90 : Numerics::kSm80Software;
  options.jobs = 1;
  device_ = simulator::MakeSimulator(options);
  return *device_;
}

}  // namespace voltcheck::conformance
