#ifndef VOLTCHECK_KERNELS_SIMULATOR_MEMORY_SHADOW_H_
#define VOLTCHECK_KERNELS_SIMULATOR_MEMORY_SHADOW_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace voltcheck::simulator {

/// One bit per byte of some memory. Several threads may add and ask at once.
class ByteSet {
 public:
  explicit ByteSet(std::uint64_t bytes) : words_((bytes + 63) / 64 + 1) {}

  void Clear() { std::fill(words_.begin(), words_.end(), 0); }
  /// Empty, and for memory of this size.
  void Reset(std::uint64_t bytes) { words_.assign((bytes + 63) / 64 + 1, 0); }

  void Add(std::uint64_t begin, std::uint64_t count) {
    while (count != 0) {
      const std::uint64_t bit = begin % 64;
      const std::uint64_t n = std::min<std::uint64_t>(count, 64 - bit);
      std::atomic_ref<std::uint64_t> word(words_[begin / 64]);
      const std::uint64_t bits = Ones(n) << bit;
      if ((word.load(std::memory_order_relaxed) & bits) != bits) {
        word.fetch_or(bits, std::memory_order_relaxed);
      }
      begin += n;
      count -= n;
    }
  }
  bool HasAll(std::uint64_t begin, std::uint64_t count) const {
    return FirstMissing(begin, count) == count;
  }
  /// Offset from `begin` of the first byte that is not in the set, `count` when there is none.
  std::uint64_t FirstMissing(std::uint64_t begin, std::uint64_t count) const {
    for (std::uint64_t done = 0; done < count;) {
      const std::uint64_t bit = (begin + done) % 64;
      const std::uint64_t n = std::min<std::uint64_t>(count - done, 64 - bit);
      const std::atomic_ref<std::uint64_t> word(words_[(begin + done) / 64]);
      const std::uint64_t missing = ~(word.load(std::memory_order_relaxed) >> bit) & Ones(n);
      if (missing != 0) {
        return done + static_cast<std::uint64_t>(__builtin_ctzll(missing));
      }
      done += n;
    }
    return count;
  }

  /// The words of [begin, begin + count), begin a multiple of 64; nobody adds meanwhile.
  std::vector<std::uint64_t> Copy(std::uint64_t begin, std::uint64_t count) const {
    const auto first = words_.begin() + static_cast<std::ptrdiff_t>(begin / 64);
    return {first, first + static_cast<std::ptrdiff_t>((count + 63) / 64)};
  }
  void Assign(std::uint64_t begin, const std::vector<std::uint64_t>& words) {
    std::copy(words.begin(), words.end(), words_.begin() + static_cast<std::ptrdiff_t>(begin / 64));
  }

 private:
  static std::uint64_t Ones(std::uint64_t n) {
    return n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
  }
  mutable std::vector<std::uint64_t> words_;  ///< mutable: atomic_ref has no const form
};

}  // namespace voltcheck::simulator

#endif  // VOLTCHECK_KERNELS_SIMULATOR_MEMORY_SHADOW_H_
