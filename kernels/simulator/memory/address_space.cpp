#include "kernels/simulator/memory/address_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fixtures/case/error.h"
#include "kernels/simulator/program/rows.h"

namespace voltcheck::simulator {
namespace {

/// Between allocations: wide enough that a miss by a row or a tile still lands in no other buffer.
constexpr std::uint64_t kGap = std::uint64_t{1} << 20;
constexpr std::uint64_t kAlignment = 256;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMostHeapBytes = std::uint64_t{1} << 22;
/// Page-granular and lazily backed: weights of experts that nobody touches cost nothing.
std::uint64_t MappedBytes(std::uint64_t bytes) { return (bytes + kPage) / kPage * kPage; }

std::string Hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%" PRIx64, value);
  return text;
}

void* FromHeap(std::uint64_t bytes) {
  const std::uint64_t rounded = (bytes + kAlignment) / kAlignment * kAlignment;
  void* host = std::aligned_alloc(kAlignment, rounded);
  if (host != nullptr) {
    std::memset(host, 0, rounded);
  }
  return host;
}

void GiveBack(const Allocation& allocation) {
  if (allocation.backing == Backing::kMapped) {
    munmap(allocation.host, MappedBytes(allocation.bytes));
  } else if (allocation.backing == Backing::kHeap) {
    std::free(allocation.host);
  }
}

std::string Bytes(std::uint64_t n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); }

}  // namespace

AddressSpace::~AddressSpace() {
  for (const auto& [base, allocation] : live_) {
    GiveBack(*allocation);
  }
}

bool AddressSpace::Fits(std::uint64_t bytes) const {
  constexpr std::uint64_t kLimit = kSharedWindow - kGlobalBase;
  return bytes < kLimit && next_ - kGlobalBase < kLimit - bytes;
}

Allocation* AddressSpace::Add(std::uint64_t base, std::uint64_t bytes, void* host, Backing backing,
                              std::string_view name) {
  auto allocation = std::make_unique<Allocation>();
  allocation->base = base;
  allocation->bytes = bytes;
  allocation->host = static_cast<std::byte*>(host);
  allocation->backing = backing;
  allocation->name = name;
  Allocation* result = allocation.get();
  live_[base] = std::move(allocation);
  return result;
}

Allocation* AddressSpace::Allocate(std::uint64_t bytes, std::string_view name, bool track_writes) {
  next_ = std::max(next_, kGlobalBase);
  const Backing backing = bytes <= kMostHeapBytes ? Backing::kHeap : Backing::kMapped;
  void* host = nullptr;
  if (Fits(bytes)) {
    host = backing == Backing::kHeap ? FromHeap(bytes)
                                     : mmap(nullptr, MappedBytes(bytes), PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  if (host == nullptr || host == MAP_FAILED) {
    throw BadInput(std::string(name), "the simulator cannot allocate " + Bytes(bytes),
                   "use a smaller case or a machine with more memory");
  }
  Allocation* result = Add(next_, bytes, host, backing, name);
  if (track_writes) {
    result->written = std::make_unique<ByteSet>(bytes);
  }
  next_ = (next_ + bytes + kGap + kAlignment - 1) / kAlignment * kAlignment;
  return result;
}

Allocation* AddressSpace::AllocateShared(std::uint64_t bytes, std::string_view name) {
  next_ = (std::max(next_, kGlobalBase) + kPage - 1) / kPage * kPage;
  void* host = MAP_FAILED;
  if (Fits(bytes)) {
    // The address is a number first and a place second: that is what makes it the same on both
    // sides. Nobody else maps here, and where somebody does this fails rather than overwrite it.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    host = mmap(reinterpret_cast<void*>(next_), MappedBytes(bytes), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  }
  if (host == MAP_FAILED) {
    throw BadInput(std::string(name), "cannot map " + Bytes(bytes) + " at " + Hex(next_),
                   "use a smaller case or a machine with more memory");
  }
  Allocation* result = Add(next_, bytes, host, Backing::kMapped, name);
  next_ = (next_ + bytes + kGap + kAlignment - 1) / kAlignment * kAlignment;
  return result;
}

Allocation* AddressSpace::Adopt(void* host, std::uint64_t bytes, std::string_view name) {
  const auto base = reinterpret_cast<std::uint64_t>(host);
  const auto after = live_.lower_bound(base);
  if (bytes == 0 || Find(base) != nullptr ||
      (after != live_.end() && after->first < base + bytes)) {
    throw BadInput(std::string(name),
                   Bytes(bytes) + " at " + Hex(base) + " are the device's already",
                   "register memory once");
  }
  Allocation* result = Add(base, bytes, host, Backing::kHost, name);
  freed_.erase(freed_.lower_bound(base), freed_.lower_bound(base + bytes));
  return result;
}

void AddressSpace::Free(std::uint64_t address) {
  const auto found = live_.find(address);
  if (found == live_.end()) {
    throw BadInput(Hex(address), "is no allocation that could be freed", "free each buffer once");
  }
  freed_[address] = {found->second->bytes, found->second->name};
  GiveBack(*found->second);
  live_.erase(found);
}

Allocation* AddressSpace::Find(std::uint64_t address) const {
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) {
    return nullptr;
  }
  Allocation* candidate = std::prev(after)->second.get();
  return address - candidate->base < candidate->bytes ? candidate : nullptr;
}

Allocation* AddressSpace::Require(std::uint64_t address, std::uint64_t bytes,
                                  std::string_view action) const {
  Allocation* allocation = Find(address);
  if (allocation == nullptr || bytes > allocation->bytes - (address - allocation->base)) {
    throw BadInput(std::string(action) + " of " + Bytes(bytes) + " at " + Hex(address),
                   "is " + DescribeMiss(address, bytes), "check the buffer's size");
  }
  return allocation;
}

std::string AddressSpace::DescribeMiss(std::uint64_t address, std::uint64_t bytes) const {
  const auto place = [](const std::string& name, std::uint64_t base, std::uint64_t size) {
    return "`" + name + "` (" + Bytes(size) + " at " + Hex(base) + ")";
  };
  // Stale pointers first: an address that once was somebody's.
  if (const auto after = freed_.upper_bound(address); after != freed_.begin()) {
    const auto& [base, freed] = *std::prev(after);
    if (address - base < freed.bytes) {
      return "inside " + place(freed.name, base, freed.bytes) + ", which was freed";
    }
  }
  const auto after = live_.upper_bound(address);
  const Allocation* below = after == live_.begin() ? nullptr : std::prev(after)->second.get();
  const Allocation* above = after == live_.end() ? nullptr : after->second.get();
  const std::uint64_t past =
      below == nullptr ? ~std::uint64_t{0} : address + bytes - (below->base + below->bytes);
  const std::uint64_t before = above == nullptr ? ~std::uint64_t{0} : above->base - address;
  if (below == nullptr && above == nullptr) {
    return "in no allocation: there is none";
  }
  if (past <= before) {
    return Bytes(past) + " past the end of " + place(below->name, below->base, below->bytes);
  }
  return Bytes(before) + " before the beginning of " +
         place(above->name, above->base, above->bytes);
}

}  // namespace voltcheck::simulator
