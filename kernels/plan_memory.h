#ifndef VOLTCHECK_KERNELS_PLAN_MEMORY_H_
#define VOLTCHECK_KERNELS_PLAN_MEMORY_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device.h"
#include "kernels/kernel_set.h"
#include "kernels/plan.h"

namespace voltcheck::kernels {

/// NaN as two halves and as a float, and a large integer.
inline constexpr std::uint32_t kNanPattern = 0x7fff7fffU;
inline constexpr std::uint32_t kOnesPattern = 0xffffffffU;

/// The buffers of a plan on a device, at fixed addresses for as long as this lives.
class PlanMemory {
 public:
  /// Allocates every buffer, exactly, or with `guard_bytes` of canary before and behind it.
  PlanMemory(Device& device, const Plan& plan, int guard_bytes);
  ~PlanMemory();
  PlanMemory(const PlanMemory&) = delete;
  PlanMemory& operator=(const PlanMemory&) = delete;

  /// Uploads contents with their pointers filled in, and clears locks.
  void Upload();
  /// Uploads other contents of equal size into an input buffer, at the same address.
  void Replace(std::string_view buffer, std::vector<std::byte> contents);
  /// Writes a repeated 32-bit pattern over every buffer that has no contents and is no lock.
  void Poison(std::uint32_t pattern);

  /// Throws std::out_of_range for a buffer that the plan does not have.
  DeviceAddress AddressOf(const BufferArgument& argument) const;
  std::vector<std::byte> Download(std::string_view buffer) const;

  /// The launch with its kernel found and its addresses filled in.
  Launch Bind(const PlanLaunch& launch, KernelSet& kernels) const;

  /// One sentence for each canary, input and lock that is not as it must be after the launches.
  std::vector<std::string> BrokenPromises() const;

 private:
  struct Placed {
    const BufferSpec* spec;
    DeviceAddress allocation;
    DeviceAddress address;
    std::vector<std::byte> own;           ///< contents with pointers filled in, or replaced
    std::span<const std::byte> uploaded;  ///< `own`, or the plan's contents
  };
  const Placed& Find(std::string_view buffer) const;
  /// Offset of the first byte at `address` that is not as in `expected`; its size: there is none.
  std::size_t FirstChange(DeviceAddress address, std::span<const std::byte> expected) const;

  Device& device_;
  std::size_t guard_bytes_;
  std::vector<Placed> placed_;
  std::map<std::string, std::size_t, std::less<>> index_;
  const Plan& plan_;
};

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_PLAN_MEMORY_H_
