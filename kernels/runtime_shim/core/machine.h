#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_MACHINE_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_MACHINE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kernels/runtime_shim/core/fat_binary.h"
#include "kernels/runtime_shim/core/findings_file.h"
#include "kernels/runtime_shim/core/hosted.h"
#include "kernels/runtime_shim/core/settings.h"
#include "kernels/runtime_shim/core/status.h"
#include "kernels/simulator/simulator.h"

namespace voltcheck::shim {

/// Shared memory of a block without asking for more, and the most one can ask for.
inline constexpr std::uint32_t kSharedDefault = 48 * 1024;
inline constexpr std::uint32_t kSharedMost = 96 * 1024;

struct LoadedImage;

/// A kernel of a loaded module.
struct Function {
  std::string name;
  LoadedImage* image = nullptr;
  kernels::KernelHandle handle;
  std::vector<kernels::KernelParameter> parameters;
  simulator::KernelNeeds needs;
  std::uint32_t most_dynamic_shared = 0;  ///< what a launch may ask for
  int carveout = -1;
  int registers = 0;  ///< of a thread; 0: not asked yet (registers.h)
};

/// A module in the simulator and what came with it.
struct LoadedImage {
  std::uint32_t module = 0;
  std::string name;
  std::string ptx;   ///< as it was handed over
  std::string sass;  ///< the cubin for sm_70 beside it; empty: none
  bool reads_environment = false;
  std::map<std::string, std::unique_ptr<Function>> functions;
};

/// A launch as a stream or graph holds it.
struct KernelWork {
  Function* function = nullptr;
  const void* symbol = nullptr;  ///< what the program named it by
  kernels::Dim3 grid;
  kernels::Dim3 block;
  std::uint32_t shared = 0;
  bool cooperative = false;
  std::vector<std::vector<std::byte>> arguments;
};

/// The simulated GPU of this process: one device, its modules, its fault. Every call of the
/// runtime or the driver holds `mutex` while it works here.
class Machine {
 public:
  static Machine& Get();
  std::mutex mutex;

  const Settings& settings() const { return settings_; }
  /// The device, made on first use. Throws Refusal when the environment's settings are wrong.
  simulator::SimulatorDevice& device();
  FindingsFile& findings() { return *findings_; }
  /// Uses the host's device from now on, and tells it what happens.
  void Borrow(const Host* host);

  /// Loads the PTX among `images`. Throws Refusal (kNoBinaryForGpu, kInvalidPtx) after handing the
  /// reason to the findings file.
  LoadedImage* Load(const std::string& name, const std::vector<FatImage>& images);
  void Unload(LoadedImage* image);
  /// Null when there is none of that name.
  Function* FindFunction(LoadedImage& image, const std::string& name);
  std::optional<simulator::ModuleVariable> FindVariable(const LoadedImage& image,
                                                        const std::string& name);

  /// Throws Refusal when the launch does not fit the kernel or the device.
  void Check(const KernelWork& work) const;
  /// Runs a launch. Returns how long a V100 would take by the cost model (cost_model.h), in
  /// microseconds. A fault becomes the machine's fault.
  double Run(const KernelWork& work);

  /// The status that every call returns from the first fault on; kSuccess: none.
  Status fault() const { return fault_; }
  /// Prints what kernels printed since the last time, as CUDA does when the host synchronises.
  void FlushOutput();
  /// Forgets modules, memory and fault: cudaDeviceReset.
  void Reset();
  /// Grows with every Reset.
  std::uint64_t generation() const { return generation_; }

 private:
  Machine();
  ~Machine();
  void Prepare(const KernelWork& work);
  void TakeFindings();
  void TakeOutput(const LoadedImage& image);

  Settings settings_;
  std::string bad_settings_;
  std::unique_ptr<FindingsFile> findings_;
  std::unique_ptr<simulator::SimulatorDevice> device_;
  const Host* host_ = nullptr;
  std::vector<std::unique_ptr<LoadedImage>> images_;
  kernels::DeviceAddress workspace_ = 0;  ///< of cooperative launches
  Status fault_ = kSuccess;
  bool assert_failed_ = false;
  std::string printed_;
  std::string failed_;
  std::map<std::string, std::uint64_t> launches_;
  kernels::Counters counters_;
  std::uint64_t generation_ = 0;
};

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_MACHINE_H_
