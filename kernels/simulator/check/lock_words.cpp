#include "kernels/simulator/check/lock_words.h"

#include <cstring>
#include <string>

#include "kernels/simulator/check/findings.h"
#include "kernels/simulator/memory/address_space.h"
#include "kernels/simulator/memory/block_log.h"
#include "kernels/simulator/schedule/block.h"

namespace voltcheck::simulator {

void LockWords::Add(const BlockResult& block) {
  for (const auto& [address, use] : block.locks) {
    const auto [known, added] = words_.try_emplace(address, Use{use, block.index});
    if (!added && block.index < known->second.block) {
      known->second = {use, block.index};
    }
  }
}

void LockWords::Report(const LaunchState& launch, BatchMemory& memory,
                       FindingList& findings) const {
  for (const auto& [address, use] : words_) {
    Allocation* allocation = launch.global->Find(address);
    const std::uint64_t offset = address - allocation->base;
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    std::memcpy(&before, memory.UndoOf(*allocation).Old(offset), use.first.bytes);
    std::memcpy(&after, allocation->host + offset, use.first.bytes);
    if (before != after) {
      findings.Add(launch, use.block, use.first.thread, "lock",
                   "waits for a word of `" + allocation->name + "` at offset " +
                       std::to_string(offset) + " that the launch leaves dirty: it was " +
                       std::to_string(before) + " before and is " + std::to_string(after),
                   use.first.pc, address);
    }
  }
}

}  // namespace voltcheck::simulator
