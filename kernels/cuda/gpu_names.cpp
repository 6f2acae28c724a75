#include "kernels/cuda/gpu_names.h"

#include <array>

#include "fixtures/case/error.h"
#include "kernels/cuda/driver_api.h"

namespace voltcheck::cuda {

std::vector<std::string> GpuNames(const std::string& library) {
  const DriverApi api = LoadDriverApi(library);
  int count = 0;
  if (api.Init(0) != kSuccess || api.DeviceGetCount(&count) != kSuccess) {
    throw Error(
        ExitStatus::kUnavailable,
        "the NVIDIA driver does not start on this machine; see what nvidia-smi says, or use "
        "--device simulator");
  }
  std::vector<std::string> names;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CuDevice device = 0;
    std::array<char, 256> name{};
    if (api.DeviceGet(&device, ordinal) != kSuccess ||
        api.DeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device) != kSuccess) {
      throw Error(ExitStatus::kUnavailable, "GPU " + std::to_string(ordinal) +
                                                ": the NVIDIA driver does not name it; see what "
                                                "nvidia-smi says, or leave it out with --gpus");
    }
    names.emplace_back(name.data());
  }
  return names;
}

}  // namespace voltcheck::cuda
