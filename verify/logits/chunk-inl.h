// The inner loops over kChunk pairs of floats. Included once per Highway target.
//
// Sixteen interleaved lanes whatever the vector width, multiplications and additions apart (no
// fused operations), and lanes added by halves at the end: so each target gives the same bits.

#if defined(VOLTCHECK_VERIFY_LOGITS_CHUNK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLTCHECK_VERIFY_LOGITS_CHUNK_INL_H_
#undef VOLTCHECK_VERIFY_LOGITS_CHUNK_INL_H_
#else
#define VOLTCHECK_VERIFY_LOGITS_CHUNK_INL_H_
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "hwy/highway.h"
#include "reference/arith/half.h"
#include "verify/logits/fast_row.h"

#ifndef VOLTCHECK_VERIFY_LOGITS_CHUNK_RESULTS_
#define VOLTCHECK_VERIFY_LOGITS_CHUNK_RESULTS_
namespace voltcheck::logits {

/// Of the differences other - base of one chunk. `squares` is not finite when a value is not.
struct ChunkScan {
  float base_largest = 0;
  float other_largest = 0;
  float max_abs = 0;
  std::uint64_t differing = 0;
  double sum = 0;
  double squares = 0;
};

/// With e = exp(base - largest) and d = (other - base) - shift: the sums of e, of e d and of
/// e (exp(d) - 1 - d).
struct ChunkWeights {
  double weight = 0;
  double moved = 0;
  double curved = 0;
};

}  // namespace voltcheck::logits
#endif

HWY_BEFORE_NAMESPACE();
namespace voltcheck::logits::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, 16>;
using VF = hn::Vec<DF>;
using DI = hn::RebindToSigned<DF>;

constexpr std::size_t kWidth = 16;
constexpr std::size_t kLanes = hn::MaxLanes(DF());
constexpr std::size_t kParts = kWidth / kLanes;

/// Sixteen lanes in as many registers as they take.
struct Wide {
  VF part[kParts];

  static Wide Of(float x) {
    Wide w;
    for (std::size_t i = 0; i < kParts; ++i) {
      w.part[i] = hn::Set(DF(), x);
    }
    return w;
  }
  std::array<float, kWidth> Lanes() const {
    alignas(64) std::array<float, kWidth> lanes;
    for (std::size_t i = 0; i < kParts; ++i) {
      hn::Store(part[i], DF(), lanes.data() + i * kLanes);
    }
    return lanes;
  }
  double Sum() const {
    const std::array<float, kWidth> lanes = Lanes();
    std::array<double, kWidth> sums{};
    for (std::size_t i = 0; i < kWidth; ++i) {
      sums[i] = static_cast<double>(lanes[i]);
    }
    for (std::size_t half = kWidth / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) {
        sums[i] += sums[i + half];
      }
    }
    return sums[0];
  }
  float Max() const {
    const std::array<float, kWidth> lanes = Lanes();
    float largest = lanes[0];
    for (const float x : lanes) {
      largest = x > largest ? x : largest;
    }
    return largest;
  }
};

inline ChunkScan ScanChunk(const float* base, const float* other) {
  const DF df;
  Wide base_largest = Wide::Of(-std::numeric_limits<float>::infinity());
  Wide other_largest = base_largest;
  Wide max_abs = Wide::Of(0);
  Wide sum = Wide::Of(0);
  Wide squares = Wide::Of(0);
  Wide equal = Wide::Of(0);
  const VF one = hn::Set(df, 1.0F);
  for (std::size_t at = 0; at < kChunk; at += kWidth) {
    for (std::size_t i = 0; i < kParts; ++i) {
      const VF b = hn::LoadU(df, base + at + i * kLanes);
      const VF o = hn::LoadU(df, other + at + i * kLanes);
      const VF d = hn::Sub(o, b);
      base_largest.part[i] = hn::Max(base_largest.part[i], b);
      other_largest.part[i] = hn::Max(other_largest.part[i], o);
      max_abs.part[i] = hn::Max(max_abs.part[i], hn::Abs(d));
      sum.part[i] = hn::Add(sum.part[i], d);
      squares.part[i] = hn::Add(squares.part[i], hn::Mul(d, d));
      equal.part[i] = hn::Add(equal.part[i], hn::IfThenElseZero(hn::Eq(b, o), one));
    }
  }
  ChunkScan scan;
  scan.base_largest = base_largest.Max();
  scan.other_largest = other_largest.Max();
  scan.max_abs = max_abs.Max();
  scan.differing = kChunk - static_cast<std::uint64_t>(equal.Sum());
  scan.sum = sum.Sum();
  scan.squares = squares.Sum();
  return scan;
}

/// c0 + c1 x + c2 x^2 + ..., in pairs (c0 + c1 x) + x^2 (...), whose additions do not wait for each
/// other.
template <std::size_t kTerms>
HWY_INLINE VF Polynomial(VF x, VF x2, const float (&c)[kTerms]) {
  const auto pair = [&](std::size_t i) {
    const VF low = hn::Set(DF(), c[i]);
    return i + 1 < kTerms ? hn::Add(low, hn::Mul(x, hn::Set(DF(), c[i + 1]))) : low;
  };
  VF y = pair((kTerms - 1) / 2 * 2);
  for (std::size_t i = (kTerms - 1) / 2 * 2; i > 0;) {
    i -= 2;
    y = hn::Add(pair(i), hn::Mul(x2, y));
  }
  return y;
}

/// exp(x) for x <= 0 up to rounding above; 0 below -87.7, where the power of two has the exponent
/// bits 0.
HWY_INLINE VF Exp(VF x) {
  const DF df;
  // A float at 1.5 * 2^23 keeps no fraction: adding it rounds to nearest even, and the whole number
  // stands in the low bits.
  const VF magic = hn::Set(df, 12582912.0F);
  const VF kept = hn::Max(x, hn::Set(df, -88.0F));
  const VF shifted = hn::Add(hn::Mul(kept, hn::Set(df, 1.44269504F)), magic);
  const VF n = hn::Sub(shifted, magic);
  // ln 2 in two parts; the first has nine bits, so n times it is exact.
  VF r = hn::Sub(kept, hn::Mul(n, hn::Set(df, 0.693359375F)));
  r = hn::Sub(r, hn::Mul(n, hn::Set(df, -2.12194440e-4F)));
  // (exp(r) - 1 - r) / r^2 on |r| <= ln 2 / 2, interpolated at Chebyshev's points: exp(r)
  // to 1.1e-8.
  constexpr float kTail[] = {0.5F, 0.166665763F, 0.0416665561F, 0.00836317893F, 0.0013926184F};
  const VF r2 = hn::Mul(r, r);
  const VF tail = hn::Mul(r2, Polynomial(r, r2, kTail));
  const VF exp_r = hn::Add(hn::Set(df, 1.0F), hn::Add(r, tail));
  const auto exponent = hn::Add(hn::ShiftLeft<23>(hn::BitCast(DI(), shifted)),
                                hn::Set(DI(), std::int32_t{127} << 23));
  return hn::Mul(exp_r, hn::BitCast(df, exponent));
}

/// e (exp(d) - 1 - d) where |d| is at most `kNear`.
template <bool kNear>
HWY_INLINE VF Curve(VF ed, VF d) {
  // (exp(d) - 1 - d) / d^2, interpolated: to 1.1e-8 of it on |d| <= 1/16, to 5.9e-8 on |d| <= 1/2.
  constexpr float kNarrow[] = {0.5F, 0.166666672F, 0.0416720919F, 0.00833410863F};
  constexpr float kBroad[] = {0.5F,           0.166666672F,   0.0416657925F,
                              0.00833323598F, 0.00139821856F, 0.000199448739F};
  const VF d2 = hn::Mul(d, d);
  if constexpr (kNear) {
    return hn::Mul(hn::Mul(ed, d), Polynomial(d, d2, kNarrow));
  } else {
    return hn::Mul(hn::Mul(ed, d), Polynomial(d, d2, kBroad));
  }
}

/// `kNear`: every |d| of the chunk is at most 1/16. That depends on values alone, so all targets
/// take the same way.
template <bool kNear>
HWY_INLINE ChunkWeights Weigh(const float* base, const float* other, float largest, float shift) {
  const DF df;
  const VF vlargest = hn::Set(df, largest);
  const VF vshift = hn::Set(df, shift);
  const VF half = hn::Set(df, 0.5F);
  Wide weight = Wide::Of(0);
  Wide moved = Wide::Of(0);
  Wide curved = Wide::Of(0);
  for (std::size_t at = 0; at < kChunk; at += kWidth) {
    for (std::size_t i = 0; i < kParts; ++i) {
      const VF b = hn::LoadU(df, base + at + i * kLanes);
      const VF o = hn::LoadU(df, other + at + i * kLanes);
      const VF d = hn::Sub(hn::Sub(o, b), vshift);
      const VF e = Exp(hn::Sub(b, vlargest));
      const VF ed = hn::Mul(e, d);
      VF curve = Curve<kNear>(ed, d);
      if constexpr (!kNear) {
        const auto large = hn::Gt(hn::Abs(d), half);
        if (HWY_UNLIKELY(!hn::AllFalse(df, large))) {
          const VF e_other = Exp(hn::Sub(hn::Sub(o, vlargest), vshift));
          curve = hn::IfThenElse(large, hn::Sub(hn::Sub(e_other, e), ed), curve);
        }
      }
      weight.part[i] = hn::Add(weight.part[i], e);
      moved.part[i] = hn::Add(moved.part[i], ed);
      curved.part[i] = hn::Add(curved.part[i], curve);
    }
  }
  return {weight.Sum(), moved.Sum(), curved.Sum()};
}

/// `farthest`: no |d| of the chunk is larger.
inline ChunkWeights WeighChunk(const float* base, const float* other, float largest, float shift,
                               float farthest) {
  return farthest <= 0.0625F ? Weigh<true>(base, other, largest, shift)
                             : Weigh<false>(base, other, largest, shift);
}

/// The largest value of one chunk; `finite` is false when a value is not.
inline float LargestOfChunk(const float* row, bool& finite) {
  const DF df;
  Wide largest = Wide::Of(-std::numeric_limits<float>::infinity());
  Wide zeros = Wide::Of(0);
  for (std::size_t at = 0; at < kChunk; at += kWidth) {
    for (std::size_t i = 0; i < kParts; ++i) {
      const VF x = hn::LoadU(df, row + at + i * kLanes);
      largest.part[i] = hn::Max(largest.part[i], x);
      zeros.part[i] = hn::Add(zeros.part[i], hn::Sub(x, x));  // NaN from an infinity or a NaN on
    }
  }
  finite = zeros.Sum() == 0;
  return largest.Max();
}

/// 16-bit floats to fp32; `brain`: bf16, the upper half of a float.
inline void WidenHalves(const std::byte* in, bool brain, std::size_t count, float* out) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  using DU = hn::RebindToUnsigned<DF>;
  using D16 = hn::Rebind<std::uint16_t, DF>;
  for (; i + kLanes <= count; i += kLanes) {
    const auto* at = reinterpret_cast<const std::uint16_t*>(in + 2 * i);
    const auto bits = hn::LoadU(D16(), at);
    if (brain) {
      hn::StoreU(hn::BitCast(DF(), hn::ShiftLeft<16>(hn::PromoteTo(DU(), bits))), DF(), out + i);
      continue;
    }
#if HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
    using DH = hn::Rebind<hwy::float16_t, DF>;
    hn::StoreU(hn::PromoteTo(DF(), hn::BitCast(DH(), bits)), DF(), out + i);
#else
    alignas(64) std::array<std::uint16_t, kLanes> halves;
    hn::StoreU(bits, D16(), halves.data());
    arith::HalfToFloat(halves.data(), out + i, kLanes);
#endif
  }
#endif
  for (; i < count; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, in + 2 * i, sizeof(bits));
    const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
    if (brain) {
      std::memcpy(out + i, &wide, sizeof(wide));
    } else {
      out[i] = arith::HalfToFloat(bits);
    }
  }
}

}  // namespace voltcheck::logits::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // VOLTCHECK_VERIFY_LOGITS_CHUNK_INL_H_
