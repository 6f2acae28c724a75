#include "kernels/simulator/memory/launch_touches.h"

#include <algorithm>

#include "kernels/simulator/memory/block_log.h"

namespace voltcheck::simulator {

void ContestedBytes::Add(std::uintptr_t chunk, const TouchedBytes::Bits& bits) {
  if (std::all_of(bits.begin(), bits.end(), [](std::uint64_t word) { return word == 0; })) {
    return;
  }
  TouchedBytes::Bits& known = chunks_[chunk];
  for (std::size_t w = 0; w < bits.size(); ++w) {
    known[w] |= bits[w];
  }
}

bool ContestedBytes::Meets(std::uintptr_t begin, std::uint64_t bytes) const {
  if (everything_) {
    return true;
  }
  // An aligned access of at most 16 bytes lies in one word.
  const auto found = chunks_.find(begin / TouchedBytes::kChunkBytes);
  if (found == chunks_.end()) {
    return false;
  }
  const std::uint64_t ones = (std::uint64_t{1} << bytes) - 1;
  return (found->second[begin % TouchedBytes::kChunkBytes / 64] & ones << begin % 64) != 0;
}

void LaunchTouches::Add(const BlockLog& log) {
  for (const TouchedBytes::Chunk& chunk : log.writes().chunks()) {
    // Bytes that the block wrote twice, or also read: perhaps different threads of it.
    TouchedBytes::Bits bits = chunk.again;
    const TouchedBytes::Chunk* reads = log.reads().FindChunk(chunk.number);
    Entry& entry = chunks_[chunk.number];
    for (std::size_t w = 0; w < bits.size(); ++w) {
      bits[w] |= chunk.bits[w] &
                 (entry.reads[w] | entry.writes[w] | (reads == nullptr ? 0 : reads->bits[w]));
    }
    contested_.Add(chunk.number, bits);
  }
  for (const TouchedBytes::Chunk& chunk : log.reads().chunks()) {
    TouchedBytes::Bits bits{};
    Entry& entry = chunks_[chunk.number];
    for (std::size_t w = 0; w < bits.size(); ++w) {
      bits[w] = chunk.bits[w] & entry.writes[w];
      entry.reads[w] |= chunk.bits[w];
    }
    contested_.Add(chunk.number, bits);
  }
  for (const TouchedBytes::Chunk& chunk : log.writes().chunks()) {
    Entry& entry = chunks_[chunk.number];
    for (std::size_t w = 0; w < chunk.bits.size(); ++w) {
      entry.writes[w] |= chunk.bits[w];
    }
  }
}

}  // namespace voltcheck::simulator
