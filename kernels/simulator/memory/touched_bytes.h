#ifndef VOLTCHECK_KERNELS_SIMULATOR_MEMORY_TOUCHED_BYTES_H_
#define VOLTCHECK_KERNELS_SIMULATOR_MEMORY_TOUCHED_BYTES_H_

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace voltcheck::simulator {

/// A sparse set of byte addresses, one bit each, in chunks of 1 KiB.
class TouchedBytes {
 public:
  static constexpr std::uintptr_t kChunkBytes = 1024;
  using Bits = std::array<std::uint64_t, kChunkBytes / 64>;

  void Add(std::uintptr_t begin, std::uintptr_t end);

  struct Chunk {
    std::uintptr_t number = 0;  ///< address / kChunkBytes
    Bits bits{};
    Bits again{};  ///< added more than once
  };
  /// In order of first touch.
  const std::vector<Chunk>& chunks() const { return chunks_; }
  /// Null: nothing of it was touched.
  const Chunk* FindChunk(std::uintptr_t number) const {
    const auto found = index_.find(number);
    return found == index_.end() ? nullptr : &chunks_[found->second];
  }

 private:
  Chunk& Find(std::uintptr_t number);

  static constexpr std::size_t kRecent = 128;
  struct Recent {
    std::uintptr_t number = ~std::uintptr_t{0};
    std::uint32_t index = 0;
  };
  std::vector<Chunk> chunks_;
  std::unordered_map<std::uintptr_t, std::uint32_t> index_;
  std::array<Recent, kRecent> recent_{};
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
