#include <algorithm>
#include <bit>

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

bool MayRepeat(const std::uint64_t* addresses, std::uint32_t mask) {
  constexpr std::uint64_t kPlaces = 1024;  // for addresses / 2: a tile of 32 rows falls apart in it
  std::uint64_t taken[kPlaces / 64] = {};
  std::uint64_t repeated = 0;
  for (std::uint32_t bits = mask; bits != 0; bits &= bits - 1) {
    const std::uint64_t place = addresses[std::countr_zero(bits)] / 2 % kPlaces;
    const std::uint64_t bit = std::uint64_t{1} << place % 64;
    repeated |= taken[place / 64] & bit;
    taken[place / 64] |= bit;
  }
  return repeated != 0;
}

namespace {

/// BankConflicts of the lanes in `mask`, served at once, when each bank is asked for one word:
/// then 0. True: some bank is asked for two.
bool MeetInABank(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t words_per_lane) {
  std::uint64_t first[kWarpSize];
  std::uint32_t asked = 0;
  for (std::uint32_t bits = mask; bits != 0; bits &= bits - 1) {
    const std::uint64_t word = addresses[std::countr_zero(bits)] / 4;
    for (std::uint32_t w = 0; w < words_per_lane; ++w) {
      const std::uint64_t bank = (word + w) % kWarpSize;
      if ((asked >> bank & 1) == 0) {
        asked |= 1u << bank;
        first[bank] = word + w;
      } else if (first[bank] != word + w) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

std::uint64_t BankConflicts(const std::uint64_t* addresses, std::uint32_t mask,
                            std::uint32_t bytes) {
  const std::uint32_t words_per_lane = std::max<std::uint32_t>(bytes / 4, 1);
  const std::uint32_t lanes_at_once = kWarpSize / words_per_lane;
  std::uint64_t extra = 0;
  for (std::uint32_t begin = 0; begin < kWarpSize; begin += lanes_at_once) {
    const std::uint32_t served = mask & (kFullMask >> (kWarpSize - lanes_at_once) << begin);
    if (!MeetInABank(addresses, served, words_per_lane)) {
      continue;
    }
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
  bool ascending = true;
  for (std::uint32_t bits = mask; bits != 0; bits &= bits - 1) {
    const std::uint64_t sector = addresses[std::countr_zero(bits)] / 32;
    if (count != 0 && sector == sectors[count - 1]) {
      continue;  // mostly neighbours share one
    }
    ascending = ascending && (count == 0 || sector > sectors[count - 1]);
    sectors[count++] = sector;
  }
  if (!ascending) {
    std::sort(sectors, sectors + count);
    count = static_cast<std::size_t>(std::unique(sectors, sectors + count) - sectors);
  }
  return count;
}

}  // namespace voltcheck::simulator
