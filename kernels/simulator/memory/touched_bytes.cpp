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

void TouchedBytes::AddStrided(std::uintptr_t begin, std::uint64_t bytes, std::uint64_t stride,
                              std::uint64_t count) {
  constexpr std::uintptr_t kWords = kChunkBytes / 64;
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  std::uint64_t pattern = kAll >> (64 - bytes) << begin % stride;
  for (std::uint64_t width = stride; width < 64; width *= 2) {
    pattern |= pattern << width;
  }
  const std::uintptr_t last = begin + stride * (count - 1);
  const std::uintptr_t end = last / 64 + 1;
  for (std::uintptr_t word = begin / 64; word < end;) {
    Chunk& chunk = Find(word / kWords);
    const std::uintptr_t chunk_end = std::min(end, (word / kWords + 1) * kWords);
    for (; word < chunk_end; ++word) {
      std::uint64_t bits = pattern;
      if (word == begin / 64) {
        bits &= kAll << begin % 64;
      }
      if (word == end - 1) {
        bits &= kAll >> (63 - (last + bytes - 1) % 64);
      }
      chunk.again[word % kWords] |= chunk.bits[word % kWords] & bits;
      chunk.bits[word % kWords] |= bits;
    }
  }
}

void TouchedBytes::AddLong(std::uintptr_t begin, std::uintptr_t end) {
  while (begin < end) {
    const std::uintptr_t count = std::min<std::uintptr_t>(end - begin, 64 - begin % 64);
    AddToWord(Find(begin / kChunkBytes), begin, count);
    begin += count;
  }
}

}  // namespace voltcheck::simulator
