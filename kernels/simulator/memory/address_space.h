#ifndef VOLTCHECK_KERNELS_SIMULATOR_MEMORY_ADDRESS_SPACE_H_
#define VOLTCHECK_KERNELS_SIMULATOR_MEMORY_ADDRESS_SPACE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kernels/simulator/memory/shadow.h"

namespace voltcheck::simulator {

class AllocationUndo;

/// Where an allocation's bytes on the host come from.
enum class Backing {
  kMapped,  ///< pages of their own, which cost nothing until they are touched
  kHeap,    ///< small ones: mapping and unmapping makes all threads of a process wait
  kHost,    ///< the host program's
};

/// One piece of global memory, exactly as large as it was asked for.
struct Allocation {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::byte* host = nullptr;
  std::string name;
  bool read_only = false;
  Backing backing = Backing::kMapped;
  std::unique_ptr<ByteSet> written;  ///< which bytes were ever written; null: all, or nobody asks
  std::atomic<AllocationUndo*> undo{nullptr};  ///< while blocks run side by side
};

/// Global memory: allocations at addresses that depend on nothing but their sizes and order. Gaps
/// lie between them and addresses are never used twice, so a stray or stale pointer hits nothing.
class AddressSpace {
 public:
  AddressSpace() = default;
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;
  ~AddressSpace();

  /// Zero-filled on the host, marked never-written when `track_writes`. Throws Error (status 2)
  /// when the machine has not enough memory.
  Allocation* Allocate(std::uint64_t bytes, std::string_view name, bool track_writes);
  /// Memory that the host sees at the very address the device uses (managed and pinned memory);
  /// never tracked, because the host writes it unseen. Throws like Allocate.
  Allocation* AllocateShared(std::uint64_t bytes, std::string_view name);
  /// Makes the host's own memory visible to the device at its host address. Error (status 2) when
  /// part of it is an allocation already.
  Allocation* Adopt(void* host, std::uint64_t bytes, std::string_view name);
  /// `address` must be the base of an allocation: Error (status 2) otherwise.
  void Free(std::uint64_t address);
  /// The allocation that holds `address`, or null.
  Allocation* Find(std::uint64_t address) const;
  /// The allocation that holds [address, address + bytes). Error (status 2), naming `action`,
  /// otherwise.
  Allocation* Require(std::uint64_t address, std::uint64_t bytes, std::string_view action) const;
  /// What an access of `bytes` at `address` missed: "4 bytes past the end of `x` (1024 bytes at
  /// 0x...)".
  std::string DescribeMiss(std::uint64_t address, std::uint64_t bytes) const;
  /// By base address.
  const std::map<std::uint64_t, std::unique_ptr<Allocation>>& allocations() const { return live_; }

 private:
  Allocation* Add(std::uint64_t base, std::uint64_t bytes, void* host, Backing backing,
                  std::string_view name);
  bool Fits(std::uint64_t bytes) const;
  struct Freed {
    std::uint64_t bytes;
    std::string name;
  };
  std::map<std::uint64_t, std::unique_ptr<Allocation>> live_;
  std::map<std::uint64_t, Freed> freed_;
  std::uint64_t next_ = 0;  ///< 0: kGlobalBase, which this header does not know
};

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_MEMORY_ADDRESS_SPACE_H_
