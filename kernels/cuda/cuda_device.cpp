#include "kernels/cuda/cuda_device.h"

#include <algorithm>
#include <utility>

#include "fixtures/case/error.h"
#include "kernels/cuda/cuda_context.h"
#include "kernels/cuda/cuda_graph.h"
#include "kernels/cuda/cuda_library.h"
#include "kernels/cuda/cuda_module.h"
#include "kernels/simulator/ptx/launch_arguments.h"

namespace voltcheck::cuda {
namespace {

using kernels::DeviceAddress;
using kernels::KernelHandle;
using kernels::Launch;

/// Every launch is waited for, so that a fault names the kernel that caused it.
class CudaDevice : public kernels::Device {
 public:
  CudaDevice(const std::string& library, int ordinal) : context_(library, ordinal) {}

  kernels::DeviceDescription Describe() const override {
    kernels::DeviceDescription description;
    description.kind = "cuda";
    description.name = context_.gpu_name();
    description.driver = context_.driver_version();
    // What m8n8k4 is on this chip: on sm_80 and newer the driver replaces it by a routine of FMAs.
    description.numerics = context_.major() >= 8   ? "sm80-software"
                           : context_.minor() == 5 ? "sm75"
                                                   : "v100";
    const bool cubins = !modules_.empty() &&
                        std::all_of(modules_.begin(), modules_.end(),
                                    [](const CudaModule& module) { return module.from_cubin(); });
    description.code = cubins ? "sm70 cubin" : "ptx";
    return description;
  }

  DeviceAddress Allocate(std::size_t bytes, std::string_view name) override {
    context_.Enter();
    RequireAlive("allocation of '" + std::string(name) + "'");
    CuDevicePointer address = 0;
    // The driver refuses an allocation of nothing; one byte gives it an address of its own.
    context_.Survives(
        context_.api().MemoryAllocate(&address, std::max<std::size_t>(bytes, 1)),
        "allocation of " + std::to_string(bytes) + " bytes for '" + std::string(name) + "'", "");
    RequireAlive("allocation of '" + std::string(name) + "'");
    return address;
  }

  void Free(DeviceAddress address) override {
    context_.Enter();
    context_.Survives(context_.api().MemoryFree(address), "free of an address", "");
  }

  void CopyToDevice(DeviceAddress to, std::span<const std::byte> from) override {
    if (from.empty() || context_.faulted()) {
      return;
    }
    context_.Enter();
    context_.Survives(context_.api().CopyToDevice(to, from.data(), from.size()),
                      "copy of " + std::to_string(from.size()) + " bytes to the device", "");
  }

  void CopyFromDevice(std::span<std::byte> to, DeviceAddress from) override {
    if (to.empty() || context_.faulted()) {
      return;
    }
    context_.Enter();
    context_.Survives(context_.api().CopyFromDevice(to.data(), from, to.size()),
                      "copy of " + std::to_string(to.size()) + " bytes from the device", "");
  }

  void Fill(DeviceAddress to, std::byte value, std::size_t bytes) override {
    if (bytes == 0 || context_.faulted()) {
      return;
    }
    context_.Enter();
    const std::string what = "fill of " + std::to_string(bytes) + " bytes";
    // The fill runs on the default stream, which ours does not wait for by itself.
    if (context_.Survives(context_.api().SetBytes(to, static_cast<unsigned char>(value), bytes),
                          what, "")) {
      context_.Survives(context_.api().StreamSynchronize(nullptr), what, "");
    }
  }

  std::uint32_t LoadModule(const kernels::ModuleImage& image) override {
    context_.Enter();
    modules_.emplace_back(context_, image);
    return static_cast<std::uint32_t>(modules_.size() - 1);
  }

  KernelHandle FindKernel(std::uint32_t module, std::string_view name) override {
    return {module, modules_.at(module).FindKernel(name)};
  }

  std::vector<std::string> KernelNames(std::uint32_t module) const override {
    return modules_.at(module).KernelNames();
  }

  std::vector<kernels::KernelParameter> Parameters(KernelHandle kernel) const override {
    std::vector<kernels::KernelParameter> parameters;
    for (const auto& parameter : modules_.at(kernel.module).Entry(kernel.kernel).parameters) {
      parameters.push_back({static_cast<std::uint32_t>(parameter.bytes()), parameter.alignment});
    }
    return parameters;
  }

  void Run(const Launch& launch) override {
    Check(launch);
    if (context_.faulted()) {
      return;
    }
    context_.Enter();
    const std::string& name = NameOf(launch);
    if (Issue(launch)) {
      context_.Survives(context_.api().StreamSynchronize(context_.stream()), "run of " + name,
                        name);
    }
  }

  std::unique_ptr<kernels::LaunchSequence> Capture(std::span<const Launch> launches) override {
    std::string names;
    for (const Launch& launch : launches) {
      Check(launch);
      names += (names.empty() ? "" : ", ") + NameOf(launch);
    }
    return std::make_unique<CudaGraph>(context_, names, [&] {
      for (const Launch& launch : launches) {
        Issue(launch);
      }
    });
  }

  void Synchronize() override {
    if (!context_.faulted()) {
      context_.Enter();
      context_.Survives(context_.api().StreamSynchronize(context_.stream()), "wait for the device",
                        "");
    }
  }

  bool faulted() const override { return context_.faulted(); }
  std::vector<kernels::Finding> TakeFindings() override { return context_.TakeFindings(); }
  kernels::Counters TakeCounters() override { return {}; }

 private:
  const std::string& NameOf(const Launch& launch) const {
    return modules_.at(launch.kernel.module).Entry(launch.kernel.kernel).name;
  }

  void Check(const Launch& launch) const {
    const CudaModule& module = modules_.at(launch.kernel.module);
    simulator::ptx::CheckArguments(module.name(), module.Entry(launch.kernel.kernel),
                                   launch.arguments);
  }

  void RequireAlive(const std::string& what) const {
    if (context_.faulted()) {
      throw Error(ExitStatus::kUnavailable,
                  what + ": " + context_.gpu_name() + " faulted earlier; start a new process");
    }
  }

  /// Puts a launch on the stream. False when the device has faulted.
  bool Issue(const Launch& launch) {
    CuFunction function = modules_[launch.kernel.module].Function(launch.kernel.kernel);
    const std::string& name = NameOf(launch);
    const std::string what = "launch of " + name;
    const unsigned shared = launch.dynamic_shared_bytes;
    if (!context_.Survives(context_.api().FunctionSetAttribute(
                               function, kFunctionMaxDynamicSharedBytes, static_cast<int>(shared)),
                           what + " with " + std::to_string(shared) + " bytes of shared memory",
                           name)) {
      return false;
    }
    std::vector<void*> parameters;
    for (const std::vector<std::byte>& argument : launch.arguments) {
      parameters.push_back(const_cast<std::byte*>(argument.data()));  // the driver only reads them
    }
    return context_.Survives(
        context_.api().LaunchKernel(function, launch.grid.x, launch.grid.y, launch.grid.z,
                                    launch.block.x, launch.block.y, launch.block.z, shared,
                                    context_.stream(), parameters.data(), nullptr),
        what, name);
  }

  CudaContext context_;
  std::vector<CudaModule> modules_;
};

}  // namespace

std::unique_ptr<kernels::Device> MakeCudaDeviceFrom(const std::string& library, int ordinal) {
  return std::make_unique<CudaDevice>(library, ordinal);
}

std::unique_ptr<kernels::Device> MakeCudaDevice(int ordinal) {
  return MakeCudaDeviceFrom("libcuda.so.1", ordinal);
}

}  // namespace voltcheck::cuda
