#include <algorithm>

#include "kernels/simulator/check/block_checker.h"

namespace voltcheck::simulator {

bool AreConsecutive(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t bytes) {
  if (mask != kFullMask || addresses[kWarpSize - 1] != addresses[0] + (kWarpSize - 1) * bytes) {
    return false;
  }
  std::uint64_t difference = 0;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    difference |= addresses[lane] ^ (addresses[0] + std::uint64_t{lane} * bytes);
  }
  return difference == 0;
}

std::uint64_t BankConflicts(const std::uint64_t* addresses, std::uint32_t mask,
                            std::uint32_t bytes) {
  const std::uint32_t words_per_lane = std::max<std::uint32_t>(bytes / 4, 1);
  const std::uint32_t lanes_at_once = kWarpSize / words_per_lane;
  std::uint64_t extra = 0;
  for (std::uint32_t begin = 0; begin < kWarpSize; begin += lanes_at_once) {
    // The distinct words of each bank; mostly there is one.
    std::uint64_t words[kWarpSize][kWarpSize];
    std::uint32_t in_bank[kWarpSize] = {};
    std::uint32_t most = 0;
    for (std::uint32_t lane = begin; lane < begin + lanes_at_once; ++lane) {
      if ((mask >> lane & 1) == 0) {
        continue;
      }
      for (std::uint32_t w = 0; w < words_per_lane; ++w) {
        const std::uint64_t word = addresses[lane] / 4 + w;
        std::uint64_t* known = words[word % kWarpSize];
        std::uint32_t& count = in_bank[word % kWarpSize];
        if (std::find(known, known + count, word) == known + count) {
          known[count++] = word;
          most = std::max(most, count);
        }
      }
    }
    extra += most > 1 ? most - 1 : 0;
  }
  return extra;
}

std::uint64_t Sectors(const std::uint64_t* addresses, std::uint32_t mask) {
  std::uint64_t sectors[kWarpSize];
  std::size_t count = 0;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((mask >> lane & 1) != 0) {
      sectors[count++] = addresses[lane] / 32;
    }
  }
  std::sort(sectors, sectors + count);
  return static_cast<std::uint64_t>(std::unique(sectors, sectors + count) - sectors);
}

}  // namespace voltcheck::simulator
