#ifndef VOLTCHECK_KERNELS_SIMULATOR_MEMORY_TOUCHED_BYTES_H_
#define VOLTCHECK_KERNELS_SIMULATOR_MEMORY_TOUCHED_BYTES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace voltcheck::simulator {

/// A sparse set of byte addresses, one bit each, in chunks of 1 KiB.
class TouchedBytes {
 public:
  static constexpr std::uintptr_t kChunkBytes = 1024;
  using Bits = std::array<std::uint64_t, kChunkBytes / 64>;

  struct Chunk {
    std::uintptr_t number = 0;  ///< address / kChunkBytes
    Bits bits{};
    Bits again{};  ///< added more than once
  };

  void Add(std::uintptr_t begin, std::uintptr_t end) {
    const std::uintptr_t bit = begin % 64;
    const std::uintptr_t count = end - begin;
    if (bit + count > 64 || count == 0) {
      AddPattern(begin, end, ~std::uint64_t{0});
      return;
    }
    AddToWord(Find(begin / kChunkBytes), begin, count);
  }

  /// Bytes of the 64 from 64 * `word` on: those added, and of these those that were added more than
  /// once.
  void AddWord(std::uintptr_t word, std::uint64_t bits, std::uint64_t again) {
    constexpr std::uintptr_t kWords = kChunkBytes / 64;
    Chunk& chunk = Find(word / kWords);
    chunk.again[word % kWords] |= again | (chunk.bits[word % kWords] & bits);
    chunk.bits[word % kWords] |= bits;
  }

  /// `count` pieces of `bytes` that begin `stride` apart, a power of two from `bytes` to 64. Each
  /// is aligned to its length.
  void AddStrided(std::uintptr_t begin, std::uint64_t bytes, std::uint64_t stride,
                  std::uint64_t count);

  /// In order of first touch.
  const std::vector<Chunk>& chunks() const { return chunks_; }
  /// Null: nothing of it was touched.
  const Chunk* FindChunk(std::uintptr_t number) const {
    if (table_.empty()) {
      return nullptr;
    }
    const std::uint32_t entry = table_[Slot(number)];
    return entry == 0 ? nullptr : &chunks_[entry - 1];
  }

 private:
  static void AddToWord(Chunk& chunk, std::uintptr_t begin, std::uintptr_t count) {
    const std::uint64_t ones = (~std::uint64_t{0} >> (64 - count)) << begin % 64;
    AddBits(chunk, begin % kChunkBytes / 64, ones);
  }
  static void AddBits(Chunk& chunk, std::uintptr_t word, std::uint64_t ones) {
    chunk.again[word] |= chunk.bits[word] & ones;
    chunk.bits[word] |= ones;
  }
  Chunk& Find(std::uintptr_t number) {
    const std::size_t last = last_[number % last_.size()];
    if (last < chunks_.size() && chunks_[last].number == number) {
      return chunks_[last];
    }
    return FindOther(number);
  }
  /// Of every 64 bytes those whose bits are set.
  void AddPattern(std::uintptr_t begin, std::uintptr_t end, std::uint64_t pattern);
  Chunk& FindOther(std::uintptr_t number);
  /// Where `number` is in the table, or the empty place where it belongs.
  std::size_t Slot(std::uintptr_t number) const;
  void Grow();

  std::vector<Chunk> chunks_;
  std::vector<std::uint32_t> table_;   ///< open addressing by number: 1 + index into chunks_
  std::array<std::size_t, 4> last_{};  ///< chunks that were touched last, by number
};

/// Whether two sets of bits have one in common.
inline bool Meet(const TouchedBytes::Bits& a, const TouchedBytes::Bits& b) {
  std::uint64_t common = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    common |= a[i] & b[i];
  }
  return common != 0;
}

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_MEMORY_TOUCHED_BYTES_H_
