#ifndef VOLTCHECK_KERNELS_DEVICE_H_
#define VOLTCHECK_KERNELS_DEVICE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace voltcheck::kernels {

/// An address in a device's global memory; 0 is no address.
using DeviceAddress = std::uint64_t;

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

/// A kernel in a loaded module; valid for the device that made it, as long as that device lives.
struct KernelHandle {
  std::uint32_t module = 0;
  std::uint32_t kernel = 0;
};

/// One parameter of a kernel as the PTX entry declares it.
struct KernelParameter {
  std::uint32_t bytes = 0;
  std::uint32_t alignment = 1;
};

/// One kernel launch. `arguments` holds the bytes of each parameter in the order of the PTX entry.
struct Launch {
  KernelHandle kernel;
  Dim3 grid;
  Dim3 block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::vector<std::byte>> arguments;
};

/// The code of one module: PTX always, a cubin for SM70 where the build made one.
struct ModuleImage {
  std::string name;  ///< file name for messages, e.g. "grouped_gemm.ptx"
  std::string ptx;
  std::span<const std::byte> sm70_cubin;
};

/// What the device is, for the record.
struct DeviceDescription {
  std::string kind;      ///< "simulator" or "cuda"
  std::string name;      ///< "simulated V100 (SM70)" or the GPU's name
  std::string driver;    ///< driver version, empty on the simulator
  std::string numerics;  ///< "v100", "sm80-software", ...
  std::string code;      ///< what runs: "ptx" or "sm70 cubin"
  std::string tables;    ///< chip on which approximate units were measured; empty on a GPU
};

/// Something a checker found. Everything is deterministic for (PTX, inputs, schedule).
struct Finding {
  std::string checker;  ///< "bounds", "uninitialised", "race", "barrier", "deadlock", "limit", ...
  std::string kernel;
  std::string message;     ///< one sentence with address, allocation and what it missed
  std::string file;        ///< PTX file name
  std::uint32_t line = 0;  ///< PTX line
  std::string source;      ///< "grouped_gemm.cu:120" when the PTX has line information
  Dim3 block{0, 0, 0};
  Dim3 thread{0, 0, 0};
  std::uint64_t address = 0;
};

/// Work done since the counters were last taken. Zero on a GPU.
struct Counters {
  std::uint64_t lane_instructions = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t mma = 0;  ///< warp-wide matrix instructions
  /// Rows of A, of the eight of each m8n8k4, that were zeros and took the exact short cut.
  std::uint64_t mma_zero_rows = 0;
  std::uint64_t bank_conflicts = 0;  ///< extra shared-memory cycles
  std::uint64_t global_sectors = 0;  ///< 32-byte sectors requested

  Counters& operator+=(const Counters& other) {
    lane_instructions += other.lane_instructions;
    warp_instructions += other.warp_instructions;
    mma += other.mma;
    mma_zero_rows += other.mma_zero_rows;
    bank_conflicts += other.bank_conflicts;
    global_sectors += other.global_sectors;
    return *this;
  }
};

/// A captured sequence of launches, replayed with the same addresses.
class LaunchSequence {
 public:
  virtual ~LaunchSequence() = default;
  virtual void Replay() = 0;
};

/// A device that runs SM70 kernels: the simulator, or a GPU through the driver API.
///
/// Every call may throw Error: status 3 when the device is not available, status 2 for a module
/// that does not load (the line names file, line and instruction) or a launch that does not fit the
/// kernel. A fault inside a kernel does not throw: it becomes a Finding, and `faulted()` is true
/// from then on.
class Device {
 public:
  virtual ~Device() = default;

  virtual DeviceDescription Describe() const = 0;

  /// `name` appears in findings. Contents are undefined: the simulator marks them never-written.
  /// Alignment is 256 bytes, the size exact.
  virtual DeviceAddress Allocate(std::size_t bytes, std::string_view name) = 0;
  virtual void Free(DeviceAddress address) = 0;
  virtual void CopyToDevice(DeviceAddress to, std::span<const std::byte> from) = 0;
  virtual void CopyFromDevice(std::span<std::byte> to, DeviceAddress from) = 0;
  /// Writes a repeated byte; counts as initialised.
  virtual void Fill(DeviceAddress to, std::byte value, std::size_t bytes) = 0;

  /// Loads and checks a module. Returns its index.
  virtual std::uint32_t LoadModule(const ModuleImage& image) = 0;
  /// Throws Error (status 2) when the module has no such entry.
  virtual KernelHandle FindKernel(std::uint32_t module, std::string_view name) = 0;
  virtual std::vector<std::string> KernelNames(std::uint32_t module) const = 0;
  virtual std::vector<KernelParameter> Parameters(KernelHandle kernel) const = 0;

  virtual void Run(const Launch& launch) = 0;
  /// Records the launches without running them. A real CUDA graph on a GPU.
  virtual std::unique_ptr<LaunchSequence> Capture(std::span<const Launch> launches) = 0;
  virtual void Synchronize() = 0;

  virtual bool faulted() const = 0;
  /// Findings and counters since the last call, in launch order.
  virtual std::vector<Finding> TakeFindings() = 0;
  virtual Counters TakeCounters() = 0;
};

/// The bytes of a scalar kernel argument.
template <typename T>
std::vector<std::byte> ArgumentBytes(const T& value) {
  const auto bytes = std::as_bytes(std::span<const T, 1>(&value, 1));
  return {bytes.begin(), bytes.end()};
}

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_DEVICE_H_
