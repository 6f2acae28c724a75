#include "kernels/simulator/memory/touched_bytes.h"

#include <algorithm>

namespace voltcheck::simulator {

TouchedBytes::Chunk& TouchedBytes::Find(std::uintptr_t number) {
  Recent& recent = recent_[number % kRecent];
  if (recent.number != number) {
    const auto [found, added] =
        index_.try_emplace(number, static_cast<std::uint32_t>(chunks_.size()));
    if (added) {
      chunks_.push_back({number, {}, {}});
    }
    recent = {number, found->second};
  }
  return chunks_[recent.index];
}

void TouchedBytes::Add(std::uintptr_t begin, std::uintptr_t end) {
  while (begin < end) {
    Chunk& chunk = Find(begin / kChunkBytes);
    const std::uintptr_t chunk_end = (begin / kChunkBytes + 1) * kChunkBytes;
    const std::uintptr_t stop = std::min(end, chunk_end);
    while (begin < stop) {
      const std::uintptr_t bit = begin % 64;
      const std::uintptr_t count = std::min<std::uintptr_t>(stop - begin, 64 - bit);
      const std::uint64_t ones = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
      const std::uintptr_t word = begin % kChunkBytes / 64;
      chunk.again[word] |= chunk.bits[word] & ones << bit;
      chunk.bits[word] |= ones << bit;
      begin += count;
    }
  }
}

}  // namespace voltcheck::simulator
