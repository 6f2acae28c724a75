// The inner loop over kChunk pairs of logits. Included once per Highway target.
//
// Sixteen interleaved lanes whatever the vector width, every operation rounded as written (a fused
// multiplication and addition once, also where the processor has none), and lanes added by halves
// at the end: so each target gives the same bits.

#if defined(VOLTCHECK_VERIFY_LOGITS_CHUNK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLTCHECK_VERIFY_LOGITS_CHUNK_INL_H_
#undef VOLTCHECK_VERIFY_LOGITS_CHUNK_INL_H_
#else
#define VOLTCHECK_VERIFY_LOGITS_CHUNK_INL_H_
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "hwy/highway.h"
#include "reference/arith/half.h"
#include "verify/logits/chunk.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::logits::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, 16>;
using VF = hn::Vec<DF>;
using DI = hn::RebindToSigned<DF>;

constexpr std::size_t kWidth = 16;
constexpr std::size_t kLanes = hn::MaxLanes(DF());
constexpr std::size_t kParts = kWidth / kLanes;

/// a b + c, rounded once.
HWY_INLINE VF Fused(VF a, VF b, VF c) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#else
  alignas(64) std::array<std::array<float, kLanes>, 3> x;
  hn::Store(a, DF(), x[0].data());
  hn::Store(b, DF(), x[1].data());
  hn::Store(c, DF(), x[2].data());
  for (std::size_t i = 0; i < kLanes; ++i) {
    // The product is exact in double. The sum is made odd where it is not exact, which keeps the
    // second rounding, to float, from going another way than a single one.
    const double product = static_cast<double>(x[0][i]) * static_cast<double>(x[1][i]);
    const double addend = static_cast<double>(x[2][i]);
    double sum = product + addend;
    const double part = sum - product;
    const double rest = (product - (sum - part)) + (addend - part);
    auto bits = std::bit_cast<std::uint64_t>(sum);
    if ((rest > 0 || rest < 0) && bits % 2 == 0) {
      bits = (rest > 0) == (sum > 0) ? bits + 1 : bits - 1;
      sum = std::bit_cast<double>(bits);
    }
    x[0][i] = static_cast<float>(sum);
  }
  return hn::Load(DF(), x[0].data());
#endif
}

/// The values at `at` as floats; exact.
template <Type kType>
HWY_INLINE VF LoadWide(const std::byte* at) {
  const DF df;
  if constexpr (kType == Type::kF32) {
    return hn::LoadU(df, reinterpret_cast<const float*>(at));
  } else {
#if HWY_TARGET == HWY_SCALAR
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof(bits));
    return hn::Set(df, kType == Type::kF16
                           ? arith::HalfToFloat(bits)
                           : std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
#else
    using D16 = hn::Rebind<std::uint16_t, DF>;
    const auto bits = hn::LoadU(D16(), reinterpret_cast<const std::uint16_t*>(at));
    if constexpr (kType == Type::kBf16) {
      const hn::RebindToUnsigned<DF> du;
      return hn::BitCast(df, hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
    } else {
#if HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
      using DH = hn::Rebind<hwy::float16_t, DF>;
      return hn::PromoteTo(df, hn::BitCast(DH(), bits));
#else
      alignas(64) std::array<std::uint16_t, kLanes> halves;
      alignas(64) std::array<float, kLanes> floats;
      hn::StoreU(bits, D16(), halves.data());
      arith::HalfToFloat(halves.data(), floats.data(), kLanes);
      return hn::Load(df, floats.data());
#endif
    }
#endif
  }
}

/// 2^(x L - exponent), where L is log2(e) as a float: exp(x) to about 8e-8 but for the factor
/// kExponentScale on x. 0 below 2^-126.5. x L may be at most 2^20 and exponent + 100.
struct Power {
  VF low;    // what is below counts as this: 0 comes out
  VF magic;  // a float near 1.5 * 2^23 keeps no fraction; its low bits are a biased exponent

  explicit Power(int exponent)
      : low(hn::Set(DF(), static_cast<float>((exponent - 127) * 0.6931471805599453))),
        magic(hn::Set(DF(), 12582912.0F + static_cast<float>(127 - exponent))) {}

  HWY_INLINE VF operator()(VF x) const {
    const DF df;
    const VF log2_e = hn::Set(df, kLog2E);
    const VF kept = hn::Max(x, low);
    const VF shifted = Fused(kept, log2_e, magic);
    // Less the whole number that was rounded to; the product is not rounded in between.
    const VF f = Fused(kept, log2_e, hn::Sub(magic, shifted));
    // 2^f on |f| <= 1/2 to 1.6e-8 of it, the smallest such error for this degree.
    VF y = hn::Set(df, 0.000153457921F);
    y = Fused(y, f, hn::Set(df, 0.00133999297F));
    y = Fused(y, f, hn::Set(df, 0.00961848907F));
    y = Fused(y, f, hn::Set(df, 0.0555032864F));
    y = Fused(y, f, hn::Set(df, 0.240226462F));
    y = Fused(y, f, hn::Set(df, 0.693147182F));
    y = Fused(y, f, hn::Set(df, 1.0F));
    return hn::Mul(y, hn::BitCast(df, hn::ShiftLeft<23>(hn::BitCast(DI(), shifted))));
  }
};

/// (exp(d) - 1 - d) / d^2, interpolated: to 1.1e-8 of it on |d| <= 1/16 (`kReach` is kNear), to
/// 5.9e-8 on |d| <= 1/2.
template <Reach kReach>
HWY_INLINE VF Curvature(VF d) {
  const DF df;
  if constexpr (kReach == Reach::kNear) {
    VF y = Fused(d, hn::Set(df, 0.00833410863F), hn::Set(df, 0.0416720919F));
    y = Fused(y, d, hn::Set(df, 0.166666672F));
    return Fused(y, d, hn::Set(df, 0.5F));
  } else {
    VF y = Fused(d, hn::Set(df, 0.000199448739F), hn::Set(df, 0.00139821856F));
    y = Fused(y, d, hn::Set(df, 0.00833323598F));
    y = Fused(y, d, hn::Set(df, 0.0416657925F));
    y = Fused(y, d, hn::Set(df, 0.166666672F));
    return Fused(y, d, hn::Set(df, 0.5F));
  }
}

/// The sums of every kWidth-th pair, from the first kLanes of them on.
struct Strand {
  VF base_largest, other_largest, lowest, highest, sum, squares, weight, moved, last;
  hn::Vec<DI> differing;
};

template <Type kType, Reach kReach>
HWY_INLINE Strand CompareStrand(const std::byte* base, const std::byte* other,
                                const ChunkScale& scale) {
  const DF df;
  const Power power(scale.base_exponent);
  const Power other_power(scale.other_exponent);
  const VF shift = hn::Set(df, scale.shift);
  const VF half = hn::Set(df, 0.5F);
  VF base_largest = hn::Set(df, -std::numeric_limits<float>::infinity());
  VF other_largest = base_largest;
  VF highest = base_largest;
  VF lowest = hn::Neg(base_largest);
  VF sum = hn::Zero(df);
  VF squares = sum;
  VF weight = sum;
  VF moved = sum;
  VF last = sum;
  auto differing = hn::Zero(DI());
  for (std::size_t at = 0; at < kChunk; at += kWidth) {
    const VF b = LoadWide<kType>(base + at * BytesOf(kType));
    const VF o = LoadWide<kType>(other + at * BytesOf(kType));
    const VF d = hn::Sub(o, b);
    base_largest = hn::Max(base_largest, b);
    other_largest = hn::Max(other_largest, o);
    lowest = hn::Min(lowest, d);
    highest = hn::Max(highest, d);
    sum = hn::Add(sum, d);
    squares = Fused(d, d, squares);
    // A mask that holds is -1.
    differing = hn::Sub(differing, hn::BitCast(DI(), hn::VecFromMask(df, hn::Ne(b, o))));
    const VF e = power(b);
    weight = hn::Add(weight, e);
    const VF away = hn::Sub(d, shift);
    if constexpr (kReach == Reach::kFar) {
      moved = Fused(e, away, moved);
      last = hn::Add(last, other_power(o));
    } else {
      const VF ed = hn::Mul(e, away);
      moved = hn::Add(moved, ed);
      const VF edd = hn::Mul(ed, away);
      if constexpr (kReach == Reach::kNear) {
        last = Fused(edd, Curvature<kReach>(away), last);
      } else {
        VF curve = hn::Mul(edd, Curvature<kReach>(away));
        const auto large = hn::Gt(hn::Abs(away), half);
        if (HWY_UNLIKELY(!hn::AllFalse(df, large))) {
          const VF e_other = power(hn::Sub(o, shift));
          curve = hn::IfThenElse(large, hn::Sub(hn::Sub(e_other, e), ed), curve);
        }
        last = hn::Add(last, curve);
      }
    }
  }
  return {base_largest, other_largest, lowest, highest, sum,
          squares,      weight,        moved,  last,    differing};
}

/// Adds the sixteen lanes by halves: i and i + 8, then i and i + 4, and so on.
HWY_INLINE double SumByHalves(const std::array<VF, kParts>& parts) {
  alignas(64) std::array<float, kWidth> lanes;
  for (std::size_t i = 0; i < kParts; ++i) {
    hn::Store(parts[i], DF(), lanes.data() + i * kLanes);
  }
  std::array<double, kWidth / 2> sums;
  for (std::size_t i = 0; i < kWidth / 2; ++i) {
    sums[i] = static_cast<double>(lanes[i]) + static_cast<double>(lanes[i + kWidth / 2]);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    sums[i] += sums[i + 4];
  }
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

HWY_INLINE float LargestOf(const std::array<VF, kParts>& parts) {
  VF largest = parts[0];
  for (std::size_t i = 1; i < kParts; ++i) {
    largest = hn::Max(largest, parts[i]);
  }
  return hn::GetLane(hn::MaxOfLanes(DF(), largest));
}

template <Type kType, Reach kReach>
HWY_NOINLINE ChunkFigures CompareChunkOf(const std::byte* base, const std::byte* other,
                                         const ChunkScale& scale) {
  std::array<Strand, kParts> strands;
  // One after another, so that all sums stay in registers.
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::size_t first = part * kLanes * BytesOf(kType);
    strands[part] = CompareStrand<kType, kReach>(base + first, other + first, scale);
  }
  const auto parts = [&](auto get) {
    std::array<VF, kParts> all;
    for (std::size_t part = 0; part < kParts; ++part) {
      all[part] = get(strands[part]);
    }
    return all;
  };
  ChunkFigures f;
  f.base_largest = LargestOf(parts([](const Strand& s) { return s.base_largest; }));
  f.other_largest = LargestOf(parts([](const Strand& s) { return s.other_largest; }));
  f.lowest = -LargestOf(parts([](const Strand& s) { return hn::Neg(s.lowest); }));
  f.highest = LargestOf(parts([](const Strand& s) { return s.highest; }));
  for (const Strand& strand : strands) {
    f.differing += static_cast<std::uint64_t>(hn::GetLane(hn::SumOfLanes(DI(), strand.differing)));
  }
  f.sum = SumByHalves(parts([](const Strand& s) { return s.sum; }));
  f.squares = SumByHalves(parts([](const Strand& s) { return s.squares; }));
  f.weight = SumByHalves(parts([](const Strand& s) { return s.weight; }));
  f.moved = SumByHalves(parts([](const Strand& s) { return s.moved; }));
  f.last = SumByHalves(parts([](const Strand& s) { return s.last; }));
  return f;
}

template <Type kType>
ChunkFigures CompareChunkOfType(const std::byte* base, const std::byte* other,
                                const ChunkScale& scale, Reach reach) {
  switch (reach) {
    case Reach::kNear:
      return CompareChunkOf<kType, Reach::kNear>(base, other, scale);
    case Reach::kMiddle:
      return CompareChunkOf<kType, Reach::kMiddle>(base, other, scale);
    case Reach::kFar:
      break;
  }
  return CompareChunkOf<kType, Reach::kFar>(base, other, scale);
}

inline ChunkFigures CompareChunk(const std::byte* base, const std::byte* other, Type type,
                                 const ChunkScale& scale, Reach reach) {
  switch (type) {
    case Type::kF16:
      return CompareChunkOfType<Type::kF16>(base, other, scale, reach);
    case Type::kBf16:
      return CompareChunkOfType<Type::kBf16>(base, other, scale, reach);
    case Type::kF32:
      break;
  }
  return CompareChunkOfType<Type::kF32>(base, other, scale, reach);
}

/// The largest value of one chunk; `finite` is false when a value is not.
template <Type kType>
float LargestOfChunkOf(const std::byte* row, bool& finite) {
  const DF df;
  std::array<VF, kParts> largest;
  std::array<VF, kParts> zeros;
  largest.fill(hn::Set(df, -std::numeric_limits<float>::infinity()));
  zeros.fill(hn::Zero(df));
  for (std::size_t at = 0; at < kChunk; at += kWidth) {
    for (std::size_t i = 0; i < kParts; ++i) {
      const VF x = LoadWide<kType>(row + (at + i * kLanes) * BytesOf(kType));
      largest[i] = hn::Max(largest[i], x);
      zeros[i] = hn::Add(zeros[i], hn::Sub(x, x));  // NaN from an infinity or a NaN on
    }
  }
  finite = true;
  for (const VF zero : zeros) {
    finite = finite && hn::AllTrue(df, hn::Eq(zero, zero));
  }
  return LargestOf(largest);
}

inline float LargestOfChunk(const std::byte* row, Type type, bool& finite) {
  return type == Type::kF16    ? LargestOfChunkOf<Type::kF16>(row, finite)
         : type == Type::kBf16 ? LargestOfChunkOf<Type::kBf16>(row, finite)
                               : LargestOfChunkOf<Type::kF32>(row, finite);
}

template <Type kType>
void WidenValues(const std::byte* in, std::size_t count, float* out) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(LoadWide<kType>(in + i * BytesOf(kType)), DF(), out + i);
  }
  for (; i < count; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, in + 2 * i, sizeof(bits));
    out[i] = kType == Type::kF16 ? arith::HalfToFloat(bits)
                                 : std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
}

/// 16-bit floats to fp32; `brain`: bf16, the upper half of a float.
inline void WidenHalves(const std::byte* in, bool brain, std::size_t count, float* out) {
  brain ? WidenValues<Type::kBf16>(in, count, out) : WidenValues<Type::kF16>(in, count, out);
}

}  // namespace voltcheck::logits::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // VOLTCHECK_VERIFY_LOGITS_CHUNK_INL_H_
