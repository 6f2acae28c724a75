#include "kernels/runtime_shim/core/memory.h"

#include <cstring>
#include <iterator>
#include <span>
#include <vector>

#include "fixtures/case/error.h"
#include "kernels/runtime_shim/core/cost_model.h"

namespace voltcheck::shim {
namespace {

std::byte* HostPointer(std::uint64_t address) { return reinterpret_cast<std::byte*>(address); }

}  // namespace

std::uint64_t Memory::Allocate(std::uint64_t bytes, MemoryKind kind, unsigned flags) {
  if (bytes == 0) {
    return 0;
  }
  const bool device = kind != MemoryKind::kHost;
  Require(!device || bytes <= free_bytes(), kOutOfMemory, "the device's memory is full");
  const std::string name = "allocation " + std::to_string(count_++);
  MemoryBlock block{0, bytes, kind, false, flags};
  try {
    block.base = kind == MemoryKind::kDevice ? machine_.device().Allocate(bytes, name)
                                             : machine_.device().AllocateShared(bytes, name);
  } catch (const Error& error) {
    throw Refusal(kOutOfMemory, error.what());
  }
  device_bytes_ += device ? bytes : 0;
  blocks_[block.base] = block;
  return block.base;
}

void Memory::Free(std::uint64_t address, MemoryKind kind) {
  if (address == 0) {
    return;
  }
  const auto found = blocks_.find(address);
  Require(found != blocks_.end() && !found->second.registered &&
              (found->second.kind == MemoryKind::kHost) == (kind == MemoryKind::kHost),
          kInvalidValue, "no allocation begins here");
  device_bytes_ -= kind == MemoryKind::kHost ? 0 : found->second.bytes;
  machine_.device().Free(address);
  blocks_.erase(found);
}

void Memory::Register(void* host, std::uint64_t bytes, unsigned flags) {
  Require(host != nullptr && bytes != 0);
  try {
    machine_.device().Adopt(host, bytes, "registered memory " + std::to_string(count_++));
  } catch (const Error& error) {
    throw Refusal(kAlreadyRegistered, error.what());
  }
  const auto base = reinterpret_cast<std::uint64_t>(host);
  blocks_[base] = {base, bytes, MemoryKind::kHost, true, flags};
}

void Memory::Unregister(void* host) {
  const auto found = blocks_.find(reinterpret_cast<std::uint64_t>(host));
  Require(found != blocks_.end() && found->second.registered, kNotRegistered);
  machine_.device().Free(found->first);
  blocks_.erase(found);
}

const MemoryBlock* Memory::Find(std::uint64_t address) const {
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) {
    return nullptr;
  }
  const MemoryBlock& block = std::prev(after)->second;
  return address - block.base < block.bytes ? &block : nullptr;
}

std::uint64_t Memory::free_bytes() const {
  const std::uint64_t all = machine_.settings().memory;
  return all - std::min(all, device_bytes_);
}

bool Memory::OnDevice(std::uint64_t address) const {
  return machine_.device().Extent(address).bytes != 0;
}

bool Memory::HiddenFromHost(std::uint64_t address) const {
  const simulator::ModuleVariable extent = machine_.device().Extent(address);
  if (extent.bytes == 0) {
    return false;
  }
  const MemoryBlock* block = Find(address);
  return block == nullptr || block->kind == MemoryKind::kDevice;
}

Direction Memory::Resolve(const CopyWork& work) const {
  const bool from_device = OnDevice(work.from);
  const bool to_device = OnDevice(work.to);
  switch (work.direction) {
    case Direction::kHostToHost:
      Require(!HiddenFromHost(work.from) && !HiddenFromHost(work.to), kInvalidValue,
              "a device address in a copy from host to host");
      return work.direction;
    case Direction::kHostToDevice:
      Require(to_device && !HiddenFromHost(work.from), kInvalidValue,
              "a copy from host to device with other addresses");
      return work.direction;
    case Direction::kDeviceToHost:
      Require(from_device && !HiddenFromHost(work.to), kInvalidValue,
              "a copy from device to host with other addresses");
      return work.direction;
    case Direction::kDeviceToDevice:
      Require(from_device && to_device, kInvalidValue, "a copy on the device with other addresses");
      return work.direction;
    case Direction::kDefault:
      return from_device ? (to_device ? Direction::kDeviceToDevice : Direction::kDeviceToHost)
                         : (to_device ? Direction::kHostToDevice : Direction::kHostToHost);
  }
  throw Refusal(kInvalidCopyDirection);
}

void Memory::CopyRow(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                     Direction direction) {
  simulator::SimulatorDevice& device = machine_.device();
  switch (direction) {
    case Direction::kHostToDevice:
      device.CopyToDevice(to, std::span(HostPointer(from), bytes));
      break;
    case Direction::kDeviceToHost:
      device.CopyFromDevice(std::span(HostPointer(to), bytes), from);
      break;
    case Direction::kDeviceToDevice:
      device.CopyOnDevice(to, from, bytes);
      break;
    default:
      std::memmove(HostPointer(to), HostPointer(from), bytes);
  }
}

double Memory::Copy(const CopyWork& work) {
  const std::uint64_t bytes = work.width * work.height * work.depth;
  if (bytes == 0) {
    return 0;
  }
  Require(work.from != 0 && work.to != 0, kInvalidValue, "a null pointer");
  Require((work.height == 1 && work.depth == 1) ||
              (work.from_pitch >= work.width && work.to_pitch >= work.width),
          kInvalidPitch, "the pitch is smaller than a row");
  const Direction direction = Resolve(work);
  try {
    for (std::uint64_t z = 0; z < work.depth; ++z) {
      for (std::uint64_t y = 0; y < work.height; ++y) {
        CopyRow(work.to + z * work.to_slice + y * work.to_pitch,
                work.from + z * work.from_slice + y * work.from_pitch, work.width, direction);
      }
    }
  } catch (const Error& error) {
    throw Refusal(kInvalidValue, error.what());
  }
  return CopyMicroseconds(bytes, direction != Direction::kDeviceToDevice);
}

double Memory::Fill(const FillWork& work) {
  const std::uint64_t row = work.width * work.element;
  const std::uint64_t bytes = row * work.height * work.depth;
  if (bytes == 0) {
    return 0;
  }
  Require(OnDevice(work.to), kInvalidValue, "no device memory");
  Require(work.element == 1 || work.element == 2 || work.element == 4);
  Require(work.height == 1 || work.pitch >= row, kInvalidPitch);
  std::vector<std::byte> pattern(work.element == 1 ? 0 : row);
  for (std::uint64_t i = 0; i < pattern.size(); i += work.element) {
    std::memcpy(pattern.data() + i, &work.value, work.element);
  }
  try {
    for (std::uint64_t z = 0; z < work.depth; ++z) {
      for (std::uint64_t y = 0; y < work.height; ++y) {
        const std::uint64_t to = work.to + z * work.slice + y * work.pitch;
        if (work.element == 1) {
          machine_.device().Fill(to, static_cast<std::byte>(work.value), row);
        } else {
          machine_.device().CopyToDevice(to, pattern);
        }
      }
    }
  } catch (const Error& error) {
    throw Refusal(kInvalidValue, error.what());
  }
  return FillMicroseconds(bytes);
}

}  // namespace voltcheck::shim
