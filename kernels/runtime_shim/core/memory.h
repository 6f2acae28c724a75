#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_MEMORY_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_MEMORY_H_

#include <cstdint>
#include <map>

#include "kernels/runtime_shim/core/machine.h"

namespace voltcheck::shim {

/// What a piece of memory is: numbers of cudaMemoryType.
enum class MemoryKind { kHost = 1, kDevice = 2, kManaged = 3 };

struct MemoryBlock {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  MemoryKind kind = MemoryKind::kDevice;
  bool registered = false;  ///< the program's own memory
  unsigned flags = 0;       ///< of cudaHostAlloc, cudaHostRegister
};

/// Which way a copy goes: numbers of cudaMemcpyKind.
enum class Direction { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kDefault };

/// A copy of `depth` slices of `height` rows of `width` bytes.
struct CopyWork {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t from_pitch = 0;
  std::uint64_t to_pitch = 0;
  std::uint64_t from_slice = 0;  ///< bytes from slice to slice
  std::uint64_t to_slice = 0;
  std::uint64_t width = 0;
  std::uint64_t height = 1;
  std::uint64_t depth = 1;
  Direction direction = Direction::kDefault;
  bool operator==(const CopyWork&) const = default;
};

/// A fill of `depth` slices of `height` rows of `width` elements of 1, 2 or 4 bytes.
struct FillWork {
  std::uint64_t to = 0;
  std::uint64_t pitch = 0;
  std::uint64_t slice = 0;
  std::uint32_t value = 0;
  std::uint32_t element = 1;
  std::uint64_t width = 0;
  std::uint64_t height = 1;
  std::uint64_t depth = 1;
};

/// The memory that the program asked for.
class Memory {
 public:
  explicit Memory(Machine& machine) : machine_(machine) {}

  /// Throws Refusal (kOutOfMemory) when the device's memory would not hold it. 0 bytes give 0.
  std::uint64_t Allocate(std::uint64_t bytes, MemoryKind kind, unsigned flags = 0);
  void Free(std::uint64_t address, MemoryKind kind);
  void Register(void* host, std::uint64_t bytes, unsigned flags);
  void Unregister(void* host);
  /// The block that holds `address`; null: none, as for variables of modules.
  const MemoryBlock* Find(std::uint64_t address) const;
  std::uint64_t free_bytes() const;

  /// Both throw Refusal (kInvalidValue) when a range is not what it should be, and return the
  /// microseconds of the cost model.
  double Copy(const CopyWork& work);
  double Fill(const FillWork& work);

  void Clear() {
    blocks_.clear();
    device_bytes_ = 0;
  }

 private:
  bool OnDevice(std::uint64_t address) const;
  /// Device memory that the host cannot touch.
  bool HiddenFromHost(std::uint64_t address) const;
  Direction Resolve(const CopyWork& work) const;
  void CopyRow(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, Direction direction);

  Machine& machine_;
  std::map<std::uint64_t, MemoryBlock> blocks_;
  std::uint64_t device_bytes_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_MEMORY_H_
