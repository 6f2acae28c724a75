#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/arith/mma.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// foreach_target must come before highway.h, which the -inl header includes.
#include <algorithm>
#include <cstring>

#include "reference/arith/fused_dot_add.h"
#include "reference/arith/step-inl.h"
#include "reference/arith/step_scalar.h"

HWY_BEFORE_NAMESPACE();
namespace voltcheck::arith::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void TileStepVector(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, float* acc,
                    std::size_t m, std::size_t n, std::size_t ldacc) {
  TileStepScalar(arithmetic, a, b, acc, m, n, ldacc);
}

void DotChainVector(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b,
                    std::size_t ldb, float* acc, std::size_t count, std::size_t steps) {
  DotChainScalar(arithmetic, a, b, ldb, acc, count, steps);
}

#else

/// Rows of a tile, or steps of a chain, that are decoded together.
inline constexpr std::size_t kBatch = 16;

/// Up to kBatch groups of four A halves, decoded, to be broadcast.
struct BroadcastA {
  alignas(64) float value[kBatch * 4];
  alignas(64) std::int32_t exponent[kBatch * 4];
  bool zero[kBatch];
  bool special;

  HWY_INLINE void Load(const HalfBits* a, std::size_t groups) {
    alignas(64) HalfBits halves[kBatch * 4] = {};
    std::memcpy(halves, a, groups * 4 * sizeof(HalfBits));
    SpecialFinder specials;
    for (std::size_t i = 0; i < kBatch * 4; i += kLanes) {
      const VU wide = hn::PromoteTo(DU(), hn::Load(DH(), halves + i));
      specials.AddHalves(wide);
      const Factor factor = DecodeA(wide);
      hn::Store(factor.value, DF(), value + i);
      hn::Store(factor.exponent, DI(), exponent + i);
    }
    special = specials.Found();
    for (std::size_t g = 0; g < kBatch; ++g) {
      zero[g] = ((halves[4 * g] | halves[4 * g + 1] | halves[4 * g + 2] | halves[4 * g + 3]) &
                 0x7FFF) == 0;
    }
  }

  HWY_INLINE void Get(std::size_t group, Factor (&factors)[4]) const {
    for (std::size_t k = 0; k < 4; ++k) {
      factors[k].value = hn::Set(DF(), value[group * 4 + k]);
      factors[k].exponent = hn::Set(DI(), exponent[group * 4 + k]);
    }
  }
};

/// One column of B per lane: k = 0, 1 in the halves of `low`, k = 2, 3 in those of `high`.
struct ColumnWords {
  VU low, high;
};

/// kLanes columns of four consecutive halves each.
HWY_INLINE ColumnWords LoadColumnWords(const HalfBits* b) {
  const hn::Repartition<std::uint16_t, DF> d16;
  const VU first = hn::BitCast(DU(), hn::LoadU(d16, b));
  const VU second = hn::BitCast(DU(), hn::LoadU(d16, b + 2 * kLanes));
  return {hn::ConcatEven(DU(), second, first), hn::ConcatOdd(DU(), second, first)};
}

HWY_INLINE void DecodeColumns(const ColumnWords& words, Factor (&factors)[4]) {
  const VU mask = hn::Set(DU(), 0xFFFF);
  factors[0] = DecodeB(hn::And(words.low, mask));
  factors[1] = DecodeB(hn::ShiftRight<16>(words.low));
  factors[2] = DecodeB(hn::And(words.high, mask));
  factors[3] = DecodeB(hn::ShiftRight<16>(words.high));
}

/// A full vector of accumulators, or the first `count` of them beside zeros.
HWY_INLINE VF LoadAccumulators(const float* acc, std::size_t count) {
  if (count == kLanes) return hn::LoadU(DF(), acc);
  alignas(64) float padded[kLanes] = {};
  std::memcpy(padded, acc, count * sizeof(float));
  return hn::Load(DF(), padded);
}
HWY_INLINE void StoreAccumulators(VF values, float* acc, std::size_t count) {
  if (count == kLanes) {
    hn::StoreU(values, DF(), acc);
    return;
  }
  alignas(64) float padded[kLanes];
  hn::Store(values, DF(), padded);
  std::memcpy(acc, padded, count * sizeof(float));
}

HWY_INLINE bool ColumnsAreFinite(const HalfBits* b, std::size_t n) {
  SpecialFinder specials;
  for (std::size_t j = 0; j < n; j += kLanes) {
    alignas(64) HalfBits padded[4 * kLanes] = {};
    std::memcpy(padded, b + 4 * j, std::min(kLanes, n - j) * 4 * sizeof(HalfBits));
    const ColumnWords words = LoadColumnWords(padded);
    specials.AddHalves(words.low);
    specials.AddHalves(words.high);
  }
  return !specials.Found();
}

/// At most kBatch rows, B finite. Returns false, with nothing written, when A or C has a NaN or
/// Inf.
template <class Arithmetic>
bool TileRows(const BroadcastA& a, const HalfBits* b, float* acc, std::size_t m, std::size_t n,
              std::size_t ldacc) {
  SpecialFinder specials;
  for (std::size_t j = 0; j < n; j += kLanes) {
    const std::size_t count = std::min(kLanes, n - j);
    for (std::size_t i = 0; i < m; ++i) {
      specials.AddFloats(LoadAccumulators(acc + i * ldacc + j, count));
    }
  }
  if (a.special || specials.Found()) return false;

  for (std::size_t j = 0; j < n; j += kLanes) {
    const std::size_t count = std::min(kLanes, n - j);
    alignas(64) HalfBits padded[4 * kLanes] = {};
    const HalfBits* columns = b + 4 * j;
    if (count < kLanes) {
      std::memcpy(padded, columns, count * 4 * sizeof(HalfBits));
      columns = padded;
    }
    Factor b_factors[4];
    DecodeColumns(LoadColumnWords(columns), b_factors);
    for (std::size_t i = 0; i < m; ++i) {
      float* row = acc + i * ldacc + j;
      const VF before = LoadAccumulators(row, count);
      if (a.zero[i]) {
        StoreAccumulators(UnlessMinusZero(before), row, count);
        continue;
      }
      Factor a_factors[4];
      a.Get(i, a_factors);
      StoreAccumulators(Arithmetic::Step(a_factors, b_factors, before), row, count);
    }
  }
  return true;
}

/// At most kBatch steps for at most kLanes columns. Returns false, with nothing written, when an
/// operand is NaN or Inf.
template <class Arithmetic>
bool ChainSteps(const BroadcastA& a, const HalfBits* b, std::size_t ldb, float* acc,
                std::size_t count, std::size_t steps) {
  // The columns lie far apart: first bring each step's halves together.
  alignas(64) HalfBits columns[kBatch][kLanes][4];
  if (count < kLanes) std::memset(columns, 0, sizeof(columns));
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t s = 0; s < steps; ++s) {
      std::memcpy(columns[s][j], b + j * ldb + 4 * s, sizeof(columns[s][j]));
    }
  }
  VF sum = LoadAccumulators(acc, count);
  SpecialFinder specials;
  specials.AddFloats(sum);
  for (std::size_t s = 0; s < steps; ++s) {
    const ColumnWords words = LoadColumnWords(columns[s][0]);
    specials.AddHalves(words.low);
    specials.AddHalves(words.high);
  }
  if (a.special || specials.Found()) return false;

  for (std::size_t s = 0; s < steps; ++s) {
    if (a.zero[s]) {
      sum = UnlessMinusZero(sum);
      continue;
    }
    Factor a_factors[4];
    Factor b_factors[4];
    a.Get(s, a_factors);
    DecodeColumns(LoadColumnWords(columns[s][0]), b_factors);
    sum = Arithmetic::Step(a_factors, b_factors, sum);
  }
  StoreAccumulators(sum, acc, count);
  return true;
}

/// Calls `run` with the vector arithmetic of this name.
template <class Run>
HWY_INLINE auto WithArithmetic(StepArithmetic arithmetic, Run run) {
  switch (arithmetic) {
    case StepArithmetic::kV100:
      return run(FusedArithmetic<kV100DotAdd.fraction_bits>());
    case StepArithmetic::kSm75:
      return run(FusedArithmetic<kSm75DotAdd.fraction_bits>());
    case StepArithmetic::kSm80Software:
      break;
  }
  return run(SoftwareArithmetic());
}

void TileStepVector(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, float* acc,
                    std::size_t m, std::size_t n, std::size_t ldacc) {
  if (!ColumnsAreFinite(b, n)) {
    TileStepScalar(arithmetic, a, b, acc, m, n, ldacc);
    return;
  }
  for (std::size_t i = 0; i < m; i += kBatch) {
    const std::size_t rows = std::min(kBatch, m - i);
    BroadcastA batch;
    batch.Load(a + i * 4, rows);
    float* out = acc + i * ldacc;
    const bool done = WithArithmetic(arithmetic, [&](auto vector) {
      return TileRows<decltype(vector)>(batch, b, out, rows, n, ldacc);
    });
    if (!done) TileStepScalar(arithmetic, a + i * 4, b, out, rows, n, ldacc);
  }
}

void DotChainVector(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b,
                    std::size_t ldb, float* acc, std::size_t count, std::size_t steps) {
  for (std::size_t s = 0; s < steps; s += kBatch) {
    const std::size_t batch_steps = std::min(kBatch, steps - s);
    BroadcastA batch;
    batch.Load(a + s * 4, batch_steps);
    for (std::size_t j = 0; j < count; j += kLanes) {
      const std::size_t columns = std::min(kLanes, count - j);
      const HalfBits* first = b + j * ldb + s * 4;
      const bool done = WithArithmetic(arithmetic, [&](auto vector) {
        return ChainSteps<decltype(vector)>(batch, first, ldb, acc + j, columns, batch_steps);
      });
      if (!done) DotChainScalar(arithmetic, a + s * 4, first, ldb, acc + j, columns, batch_steps);
    }
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace voltcheck::arith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace voltcheck::arith {

HWY_EXPORT(TileStepVector);
HWY_EXPORT(DotChainVector);

void TileStep(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, float* acc, int m,
              int n, int ldacc) {
  HWY_DYNAMIC_DISPATCH(TileStepVector)
  (arithmetic, a, b, acc, static_cast<std::size_t>(m), static_cast<std::size_t>(n),
   static_cast<std::size_t>(ldacc));
}

void WarpMmaF32(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, float* acc) {
  for (std::ptrdiff_t product = 0; product < 4; ++product) {
    TileStep(arithmetic, a + product * 32, b + product * 32, acc + product * 64, 8, 8, 8);
  }
}

void DotChain(StepArithmetic arithmetic, const HalfBits* a, const HalfBits* b, int ldb, float* acc,
              int count, int steps) {
  HWY_DYNAMIC_DISPATCH(DotChainVector)
  (arithmetic, a, b, static_cast<std::size_t>(ldb), acc, static_cast<std::size_t>(count),
   static_cast<std::size_t>(steps));
}

}  // namespace voltcheck::arith
#endif  // HWY_ONCE
