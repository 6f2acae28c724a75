// 32-bit words of all 32 lanes between memory and register rows, wherever in memory each lane's
// are. Include after lanes-inl.h.
#if defined(VOLTCHECK_KERNELS_SIMULATOR_EXEC_LANE_WORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLTCHECK_KERNELS_SIMULATOR_EXEC_LANE_WORDS_INL_H_
#undef VOLTCHECK_KERNELS_SIMULATOR_EXEC_LANE_WORDS_INL_H_
#else
#define VOLTCHECK_KERNELS_SIMULATOR_EXEC_LANE_WORDS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/simulator/exec/lanes-inl.h"
#include "kernels/simulator/exec/observer.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::simulator {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename Raw>
HWY_INLINE Raw ReadRaw(const std::byte* from) {
  Raw value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// Lanes inside one window below 2 GiB, which begins at `host`.
struct LaneOffsets32 {
  std::byte* host = nullptr;
  std::uint64_t bytes = 0;  ///< of the window
  alignas(64) std::uint32_t offset[kWarpSize];
};
/// Lanes the same distance apart.
struct LaneStride {
  std::byte* host = nullptr;
  std::size_t stride = 0;
};
template <std::size_t kStride>
struct LaneStep {
  std::byte* host = nullptr;
};
HWY_INLINE std::byte* At(const LanePointers& lanes, std::size_t lane) { return lanes.host[lane]; }
HWY_INLINE std::byte* At(const LaneOffsets32& lanes, std::size_t lane) {
  return lanes.host + lanes.offset[lane];
}
HWY_INLINE std::byte* At(const LaneStride& lanes, std::size_t lane) {
  return lanes.host + lane * lanes.stride;
}
template <std::size_t kStride>
HWY_INLINE std::byte* At(const LaneStep<kStride>& lanes, std::size_t lane) {
  return lanes.host + lane * kStride;
}

#if HWY_TARGET != HWY_SCALAR
/// Vectors of one block of four words, or of two: then the second is of the lane four lanes on.
using OneBlock = hn::FixedTag<std::uint32_t, 4>;
template <class Lanes>
HWY_INLINE hn::Vec<OneBlock> LoadBlock(const Lanes& lanes, std::size_t lane) {
  return hn::LoadU(OneBlock(), reinterpret_cast<const std::uint32_t*>(At(lanes, lane)));
}
template <class Lanes>
HWY_INLINE void StoreBlock(hn::Vec<OneBlock> v, const Lanes& lanes, std::size_t lane) {
  hn::StoreU(v, OneBlock(), reinterpret_cast<std::uint32_t*>(At(lanes, lane)));
}
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_NEON
using BlockTag = OneBlock;
template <class Lanes>
HWY_INLINE hn::Vec<BlockTag> LoadBlocks(const Lanes& lanes, std::size_t lane) {
  return LoadBlock(lanes, lane);
}
template <class Lanes>
HWY_INLINE void StoreBlocks(hn::Vec<BlockTag> v, const Lanes& lanes, std::size_t lane) {
  StoreBlock(v, lanes, lane);
}
#else
using BlockTag = hn::FixedTag<std::uint32_t, 8>;
template <class Lanes>
HWY_INLINE hn::Vec<BlockTag> LoadBlocks(const Lanes& lanes, std::size_t lane) {
  return hn::Combine(BlockTag(), LoadBlock(lanes, lane + 4), LoadBlock(lanes, lane));
}
template <class Lanes>
HWY_INLINE void StoreBlocks(hn::Vec<BlockTag> v, const Lanes& lanes, std::size_t lane) {
  StoreBlock(hn::LowerHalf(OneBlock(), v), lanes, lane);
  StoreBlock(hn::UpperHalf(OneBlock(), v), lanes, lane + 4);
}
#endif

/// Four 32-bit elements per lane, transposed block by block.
template <class Lanes>
HWY_INLINE void GatherQuads(const Lanes& lanes, std::uint32_t* const* rows) {
  const BlockTag d;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  for (std::size_t lane = 0; lane < kWarpSize; lane += hn::Lanes(d)) {
    const auto v0 = LoadBlocks(lanes, lane);
    const auto v1 = LoadBlocks(lanes, lane + 1);
    const auto v2 = LoadBlocks(lanes, lane + 2);
    const auto v3 = LoadBlocks(lanes, lane + 3);
    const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, v0, v1));
    const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, v2, v3));
    const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, v0, v1));
    const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, v2, v3));
    const auto store = [&](auto x, std::uint32_t* row)
                           HWY_ATTR { hn::Store(hn::BitCast(d, x), d, row + lane); };
    store(hn::InterleaveLower(d64, low01, low23), rows[0]);
    store(hn::InterleaveUpper(d64, low01, low23), rows[1]);
    store(hn::InterleaveLower(d64, high01, high23), rows[2]);
    store(hn::InterleaveUpper(d64, high01, high23), rows[3]);
  }
}

/// The reverse: four rows to 16 bytes per lane.
template <class Lanes>
HWY_INLINE void ScatterQuads(const Lanes& lanes, const std::uint32_t* const* rows) {
  const BlockTag d;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  for (std::size_t lane = 0; lane < kWarpSize; lane += hn::Lanes(d)) {
    const auto r0 = hn::Load(d, rows[0] + lane);
    const auto r1 = hn::Load(d, rows[1] + lane);
    const auto r2 = hn::Load(d, rows[2] + lane);
    const auto r3 = hn::Load(d, rows[3] + lane);
    const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, r0, r1));
    const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, r2, r3));
    const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, r0, r1));
    const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, r2, r3));
    const auto store = [&](auto x, std::size_t i)
                           HWY_ATTR { StoreBlocks(hn::BitCast(d, x), lanes, lane + i); };
    store(hn::InterleaveLower(d64, low01, low23), 0);
    store(hn::InterleaveUpper(d64, low01, low23), 1);
    store(hn::InterleaveLower(d64, high01, high23), 2);
    store(hn::InterleaveUpper(d64, high01, high23), 3);
  }
}

// Rows are written as vectors: a row of 32 small stores cannot be read as vectors soon after.

/// One word each of four lanes, or of eight.
template <class Lanes>
HWY_INLINE hn::Vec<OneBlock> LoadFour(const Lanes& lanes, std::size_t lane) {
  const auto word = [&](std::size_t i) HWY_ATTR {
    return static_cast<int>(ReadRaw<std::uint32_t>(At(lanes, lane + i)));
  };
#if HWY_ARCH_X86
  return hn::Vec<OneBlock>{_mm_setr_epi32(word(0), word(1), word(2), word(3))};
#else
  alignas(16) const int words[4] = {word(0), word(1), word(2), word(3)};
  return hn::BitCast(OneBlock(), hn::Load(hn::RebindToSigned<OneBlock>(), words));
#endif
}
/// Two words each of two lanes: a0 a1 b0 b1.
template <class Lanes>
HWY_INLINE hn::Vec<OneBlock> LoadTwoPairs(const Lanes& lanes, std::size_t lane) {
  const hn::Repartition<std::uint64_t, OneBlock> d64;
  const hn::Half<decltype(d64)> half;
  const auto pair = [&](std::size_t i) HWY_ATTR {
    return hn::Set(half, ReadRaw<std::uint64_t>(At(lanes, lane + i)));
  };
  return hn::BitCast(OneBlock(), hn::Combine(d64, pair(1), pair(0)));
}
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_NEON
template <class Lanes>
HWY_INLINE hn::Vec<BlockTag> LoadWords(const Lanes& lanes, std::size_t lane) {
  return LoadFour(lanes, lane);
}
template <class Lanes>
HWY_INLINE hn::Vec<BlockTag> LoadPairs(const Lanes& lanes, std::size_t lane) {
  return LoadTwoPairs(lanes, lane);
}
#else
template <class Lanes>
HWY_INLINE hn::Vec<BlockTag> LoadWords(const Lanes& lanes, std::size_t lane) {
  return hn::Combine(BlockTag(), LoadFour(lanes, lane + 4), LoadFour(lanes, lane));
}
template <class Lanes>
HWY_INLINE hn::Vec<BlockTag> LoadPairs(const Lanes& lanes, std::size_t lane) {
  return hn::Combine(BlockTag(), LoadTwoPairs(lanes, lane + 4), LoadTwoPairs(lanes, lane));
}
#endif

template <class Lanes>
HWY_INLINE void GatherSingles(const Lanes& lanes, std::uint32_t* row) {
  const BlockTag d;
  for (std::size_t lane = 0; lane < kWarpSize; lane += hn::Lanes(d)) {
    hn::Store(LoadWords(lanes, lane), d, row + lane);
  }
}
#if HWY_TARGET <= HWY_AVX3
/// With AVX-512 the processor gathers. Often the lanes' words are those of one line of 128 bytes,
/// only in another order: that is a permutation.
HWY_INLINE void GatherSingles(const LaneOffsets32& lanes, std::uint32_t* row) {
  const Tag<std::uint32_t> d;
  const hn::RebindToSigned<decltype(d)> di;
  constexpr std::uint32_t kLine = kWarpSize * 4;
  const std::uint32_t begin = lanes.offset[0] & ~(kLine - 1);
  const auto first = hn::Load(d, lanes.offset);
  const auto second = hn::Load(d, lanes.offset + 16);
  const auto line = hn::Set(d, begin);
  const auto far = hn::Or(hn::Xor(first, line), hn::Xor(second, line));
  if (begin + std::uint64_t{kLine} <= lanes.bytes &&
      hn::AllTrue(d, hn::Lt(far, hn::Set(d, kLine)))) {
    const auto* words = reinterpret_cast<const std::uint32_t*>(lanes.host + begin);
    const auto low = hn::LoadU(d, words);
    const auto high = hn::LoadU(d, words + 16);
    const auto pick = [&](hn::Vec<Tag<std::uint32_t>> offset) HWY_ATTR {
      return hn::Vec<Tag<std::uint32_t>>{
          _mm512_permutex2var_epi32(low.raw, hn::ShiftRight<2>(offset).raw, high.raw)};
    };
    hn::Store(pick(first), d, row);
    hn::Store(pick(second), d, row + 16);
    return;
  }
  const auto* base = reinterpret_cast<const std::uint32_t*>(lanes.host);
  hn::Store(hn::GatherOffset(d, base, hn::BitCast(di, first)), d, row);
  hn::Store(hn::GatherOffset(d, base, hn::BitCast(di, second)), d, row + 16);
}
#endif

template <class Lanes>
HWY_INLINE void GatherPairs(const Lanes& lanes, std::uint32_t* low, std::uint32_t* high) {
  const BlockTag d;
  for (std::size_t lane = 0; lane < kWarpSize; lane += hn::Lanes(d)) {
    const auto v01 = LoadPairs(lanes, lane);
    const auto v23 = LoadPairs(lanes, lane + 2);
    const auto even = hn::InterleaveLower(d, v01, v23);  // a0 c0 a1 c1
    const auto odd = hn::InterleaveUpper(d, v01, v23);   // b0 d0 b1 d1
    hn::Store(hn::InterleaveLower(d, even, odd), d, low + lane);
    hn::Store(hn::InterleaveUpper(d, even, odd), d, high + lane);
  }
}
#else
template <class Lanes>
HWY_INLINE void GatherSingles(const Lanes& lanes, std::uint32_t* row) {
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    row[lane] = ReadRaw<std::uint32_t>(At(lanes, lane));
  }
}
template <class Lanes>
HWY_INLINE void GatherPairs(const Lanes& lanes, std::uint32_t* low, std::uint32_t* high) {
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    low[lane] = ReadRaw<std::uint32_t>(At(lanes, lane));
    high[lane] = ReadRaw<std::uint32_t>(At(lanes, lane) + 4);
  }
}
template <class Lanes>
HWY_INLINE void GatherQuads(const Lanes& lanes, std::uint32_t* const* rows) {
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    for (std::size_t v = 0; v < 4; ++v) {
      rows[v][lane] = ReadRaw<std::uint32_t>(At(lanes, lane) + 4 * v);
    }
  }
}
template <class Lanes>
HWY_INLINE void ScatterQuads(const Lanes& lanes, const std::uint32_t* const* rows) {
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    for (std::size_t v = 0; v < 4; ++v) {
      std::memcpy(At(lanes, lane) + 4 * v, &rows[v][lane], 4);
    }
  }
}
#endif  // HWY_TARGET != HWY_SCALAR

template <class Lanes>
HWY_INLINE void ScatterSingles(const Lanes& lanes, const std::uint32_t* row) {
#pragma GCC unroll 8
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    std::memcpy(At(lanes, lane), row + lane, 4);
  }
}
template <class Lanes>
HWY_INLINE void ScatterPairs(const Lanes& lanes, const std::uint32_t* low,
                             const std::uint32_t* high) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  const OneBlock d;
  const auto store = [&](hn::Vec<OneBlock> two, std::size_t lane) HWY_ATTR {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(At(lanes, lane)), two.raw);
    _mm_storeh_pd(reinterpret_cast<double*>(At(lanes, lane + 1)), _mm_castsi128_pd(two.raw));
  };
#pragma GCC unroll 8
  for (std::size_t lane = 0; lane < kWarpSize; lane += 4) {
    const auto a = hn::Load(d, low + lane);
    const auto b = hn::Load(d, high + lane);
    store(hn::InterleaveLower(d, a, b), lane);
    store(hn::InterleaveUpper(d, a, b), lane + 2);
  }
#else
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    const std::uint64_t both = low[lane] | std::uint64_t{high[lane]} << 32;
    std::memcpy(At(lanes, lane), &both, sizeof(both));
  }
#endif
}

/// kWords elements of each lane to or from as many rows.
template <std::uint32_t kWords, class Lanes>
HWY_INLINE void GatherWords(const Lanes& lanes, std::uint32_t* const* rows) {
  if constexpr (kWords == 1) {
    GatherSingles(lanes, rows[0]);
  } else if constexpr (kWords == 2) {
    GatherPairs(lanes, rows[0], rows[1]);
  } else {
    GatherQuads(lanes, rows);
  }
}
template <std::uint32_t kWords, class Lanes>
HWY_INLINE void ScatterWords(const Lanes& lanes, const std::uint32_t* const* rows) {
  if constexpr (kWords == 1) {
    ScatterSingles(lanes, rows[0]);
  } else if constexpr (kWords == 2) {
    ScatterPairs(lanes, rows[0], rows[1]);
  } else {
    ScatterQuads(lanes, rows);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace voltcheck::simulator
HWY_AFTER_NAMESPACE();

#endif  // VOLTCHECK_KERNELS_SIMULATOR_EXEC_LANE_WORDS_INL_H_
