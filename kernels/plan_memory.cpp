#include "kernels/plan_memory.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace voltcheck::kernels {
namespace {

constexpr std::byte kCanary{0xc5};
constexpr std::size_t kAlignment = 256;  // what Device::Allocate promises

constexpr std::size_t kPieceBytes = 256 * 1024;  // stays in a core's cache

}  // namespace

PlanMemory::PlanMemory(Device& device, const Plan& plan, int guard_bytes)
    : device_(device),
      guard_bytes_((static_cast<std::size_t>(guard_bytes) + kAlignment - 1) / kAlignment *
                   kAlignment),
      plan_(plan) {
  placed_.reserve(plan.buffers.size());
  try {
    for (const BufferSpec& spec : plan.buffers) {
      const DeviceAddress allocation =
          device.Allocate(guard_bytes_ + spec.bytes + guard_bytes_, spec.name);
      placed_.push_back({&spec, allocation, allocation + guard_bytes_, {}, {}});
      index_.emplace(spec.name, placed_.size() - 1);
      if (guard_bytes_ > 0) {
        device.Fill(allocation, kCanary, guard_bytes_);
        device.Fill(allocation + guard_bytes_ + spec.bytes, kCanary, guard_bytes_);
      }
    }
  } catch (...) {
    for (const Placed& placed : placed_) {
      device.Free(placed.allocation);
    }
    throw;
  }
}

PlanMemory::~PlanMemory() {
  for (const Placed& placed : placed_) {
    try {
      device_.Free(placed.allocation);
    } catch (const std::exception&) {
      // A GPU that has faulted refuses every call; its memory goes with the context.
    }
  }
}

const PlanMemory::Placed& PlanMemory::Find(std::string_view buffer) const {
  const auto found = index_.find(buffer);
  if (found == index_.end()) {
    throw std::out_of_range("plan has no buffer " + std::string(buffer));
  }
  return placed_[found->second];
}

void PlanMemory::Upload() {
  for (Placed& placed : placed_) {
    placed.own.clear();
    placed.uploaded = placed.spec->contents;
  }
  for (const PointerFixup& fixup : plan_.fixups) {
    Placed& table = placed_[index_.find(fixup.table)->second];
    if (table.own.empty()) {
      table.own = table.spec->contents;
      table.uploaded = table.own;
    }
    const DeviceAddress target = AddressOf(fixup.target);
    std::memcpy(table.own.data() + fixup.offset, &target, sizeof(target));
  }
  for (const Placed& placed : placed_) {
    if (placed.spec->role == BufferSpec::Role::kLock) {
      device_.Fill(placed.address, std::byte{0}, placed.spec->bytes);
    } else if (!placed.uploaded.empty()) {
      device_.CopyToDevice(placed.address, placed.uploaded);
    }
  }
}

void PlanMemory::Replace(std::string_view buffer, std::vector<std::byte> contents) {
  Placed& placed = placed_[index_.find(buffer)->second];
  if (contents.size() != placed.spec->bytes) {
    throw std::invalid_argument("contents of another size for " + placed.spec->name);
  }
  placed.own = std::move(contents);
  placed.uploaded = placed.own;
  device_.CopyToDevice(placed.address, placed.uploaded);
}

void PlanMemory::Poison(std::uint32_t pattern) {
  for (const Placed& placed : placed_) {
    if (placed.spec->role == BufferSpec::Role::kLock || !placed.spec->contents.empty()) {
      continue;
    }
    std::vector<std::byte> bytes(placed.spec->bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::byte>(pattern >> (8 * (i % sizeof(pattern))));
    }
    device_.CopyToDevice(placed.address, bytes);
  }
}

DeviceAddress PlanMemory::AddressOf(const BufferArgument& argument) const {
  return Find(argument.buffer).address + argument.offset;
}

std::vector<std::byte> PlanMemory::Download(std::string_view buffer) const {
  const Placed& placed = Find(buffer);
  std::vector<std::byte> bytes(placed.spec->bytes);
  device_.CopyFromDevice(bytes, placed.address);
  return bytes;
}

Launch PlanMemory::Bind(const PlanLaunch& launch, KernelSet& kernels) const {
  Launch bound{kernels.Find(launch.kernel), launch.grid, launch.block, launch.shared_bytes, {}};
  for (const PlanArgument& argument : launch.arguments) {
    if (const auto* buffer = std::get_if<BufferArgument>(&argument)) {
      bound.arguments.push_back(ArgumentBytes(AddressOf(*buffer)));
    } else if (const auto* fields = std::get_if<StructArgument>(&argument)) {
      std::vector<std::byte> bytes = fields->bytes;
      for (const StructArgument::Pointer& pointer : fields->pointers) {
        const DeviceAddress target = AddressOf(pointer.target);
        std::memcpy(bytes.data() + pointer.offset, &target, sizeof(target));
      }
      bound.arguments.push_back(std::move(bytes));
    } else {
      std::visit(
          [&](const auto& value) {
            if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) {
              bound.arguments.push_back(ArgumentBytes(value));
            }
          },
          argument);
    }
  }
  return bound;
}

std::size_t PlanMemory::FirstChange(DeviceAddress address,
                                    std::span<const std::byte> expected) const {
  std::vector<std::byte> piece;
  for (std::size_t begin = 0; begin < expected.size(); begin += piece.size()) {
    piece.resize(std::min(kPieceBytes, expected.size() - begin));
    device_.CopyFromDevice(piece, address + begin);
    if (std::memcmp(piece.data(), expected.data() + begin, piece.size()) != 0) {
      const auto change = std::mismatch(piece.begin(), piece.end(), expected.begin() + begin);
      return begin + static_cast<std::size_t>(change.first - piece.begin());
    }
  }
  return expected.size();
}

std::vector<std::string> PlanMemory::BrokenPromises() const {
  std::vector<std::string> broken;
  const std::vector<std::byte> canary(guard_bytes_, kCanary);
  for (const Placed& placed : placed_) {
    const std::string& name = placed.spec->name;
    if (placed.spec->role == BufferSpec::Role::kInput) {
      const std::size_t at = FirstChange(placed.address, placed.uploaded);
      if (at != placed.uploaded.size()) {
        broken.push_back("input " + name + " was changed at byte " + std::to_string(at));
      }
    } else if (placed.spec->role == BufferSpec::Role::kLock) {
      const std::vector<std::byte> clean(placed.spec->bytes);
      const std::size_t at = FirstChange(placed.address, clean);
      if (at != clean.size()) {
        broken.push_back("lock " + std::to_string(at / sizeof(std::int32_t)) + " of " + name +
                         " was left dirty");
      }
    }
    const std::size_t before = FirstChange(placed.allocation, canary);
    if (before != canary.size()) {
      broken.push_back("canary " + std::to_string(guard_bytes_ - before) + " bytes before " + name +
                       " was overwritten");
    }
    const std::size_t behind = FirstChange(placed.address + placed.spec->bytes, canary);
    if (behind != canary.size()) {
      broken.push_back("canary " + std::to_string(behind) + " bytes behind the end of " + name +
                       " was overwritten");
    }
  }
  return broken;
}

}  // namespace voltcheck::kernels
