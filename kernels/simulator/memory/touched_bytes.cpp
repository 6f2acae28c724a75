#include "kernels/simulator/memory/touched_bytes.h"

#include <algorithm>

namespace voltcheck::simulator {
namespace {

constexpr std::size_t kSmallestTable = 16;

}  // namespace

std::size_t TouchedBytes::Slot(std::uintptr_t number) const {
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = static_cast<std::size_t>((number * 0x9e3779b97f4a7c15u) >> 32) & mask;
  while (table_[slot] != 0 && chunks_[table_[slot] - 1].number != number) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

void TouchedBytes::Grow() {
  table_.assign(std::max(kSmallestTable, 2 * table_.size()), 0);
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    table_[Slot(chunks_[i].number)] = static_cast<std::uint32_t>(i + 1);
  }
}

TouchedBytes::Chunk& TouchedBytes::FindOther(std::uintptr_t number) {
  if (2 * chunks_.size() >= table_.size()) {
    Grow();
  }
  std::uint32_t& entry = table_[Slot(number)];
  if (entry == 0) {
    chunks_.push_back({number, {}, {}});
    entry = static_cast<std::uint32_t>(chunks_.size());
  }
  last_ = entry - 1;
  return chunks_[last_];
}

void TouchedBytes::AddLong(std::uintptr_t begin, std::uintptr_t end) {
  while (begin < end) {
    const std::uintptr_t count = std::min<std::uintptr_t>(end - begin, 64 - begin % 64);
    AddToWord(Find(begin / kChunkBytes), begin, count);
    begin += count;
  }
}

}  // namespace voltcheck::simulator
