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
  last_[number % last_.size()] = entry - 1;
  return chunks_[entry - 1];
}

void TouchedBytes::AddStrided(std::uintptr_t begin, std::uint64_t bytes, std::uint64_t stride,
                              std::uint64_t count) {
  std::uint64_t pattern = ~std::uint64_t{0} >> (64 - bytes) << begin % stride;
  for (std::uint64_t width = stride; width < 64; width *= 2) {
    pattern |= pattern << width;
  }
  AddPattern(begin, begin + stride * (count - 1) + bytes, pattern);
}

void TouchedBytes::AddPattern(std::uintptr_t begin, std::uintptr_t end, std::uint64_t pattern) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  while (begin < end) {
    Chunk& chunk = Find(begin / kChunkBytes);
    const std::uintptr_t stop = std::min(end, (begin / kChunkBytes + 1) * kChunkBytes);
    const std::uintptr_t first = begin % kChunkBytes / 64;
    const std::uintptr_t last = (stop - 1) % kChunkBytes / 64;
    const std::uint64_t head = pattern & kAll << begin % 64;
    const std::uint64_t tail = kAll >> (63 - (stop - 1) % 64);
    begin = stop;
    if (first == last) {
      AddBits(chunk, first, head & tail);
      continue;
    }
    AddBits(chunk, first, head);
    for (std::uintptr_t word = first + 1; word < last; ++word) {
      AddBits(chunk, word, pattern);
    }
    AddBits(chunk, last, pattern & tail);
  }
}

}  // namespace voltcheck::simulator
