// wmma.mma: tiles of 16 k-values, in the fragments that program/decode_wmma.cpp defines.
#include <bit>
#include <span>

#include "kernels/simulator/exec/scalar.h"
#include "reference/arith/fused_dot_add.h"

namespace voltcheck::simulator {
namespace {

constexpr std::size_t kK = 16;

/// How a chip cuts the 16 terms of one output into fused sums, in ascending order of k.
arith::DotAddRule RuleOf(Numerics numerics) {
  switch (numerics) {
    case Numerics::kV100:
      return arith::kV100DotAdd;
    case Numerics::kSm75:
      return {8, 24};
    case Numerics::kSm80Software:  // its wmma is a tensor-core instruction, unlike its m8n8k4
      return {8, 24};
    default:
      return arith::kSm90WmmaDotAdd;
  }
}

/// The 16 halves that a lane holds in eight registers.
void ReadHalves(const ExecContext& context, const Ref* refs, std::uint32_t lane,
                arith::HalfBits* out) {
  for (std::size_t i = 0; i < kK / 2; ++i) {
    const std::uint32_t pair = context.Row<const std::uint32_t>(refs[i])[lane];
    out[2 * i] = static_cast<arith::HalfBits>(pair);
    out[2 * i + 1] = static_cast<arith::HalfBits>(pair >> 16);
  }
}

/// pool: D, A (8), B (8), C. Instr::imm: columns of the tile.
template <bool kDHalf, bool kCHalf>
void Wmma(ExecContext& context, const Instr& instr) {
  constexpr std::size_t kD = kDHalf ? 4 : 8;
  const Ref* d = context.program->pool.data() + instr.aux;
  const Ref* a = d + kD;
  const Ref* b = a + 8;
  const Ref* c = b + 8;
  const arith::DotAddRule rule = RuleOf(context.numerics);
  const auto terms = static_cast<std::size_t>(rule.terms);
  const auto columns = static_cast<std::uint32_t>(instr.imm);
  arith::HalfBits a_rows[kWarpSize][kK];
  arith::HalfBits b_columns[kWarpSize][kK];
  float sums[kWarpSize * 8];
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    ReadHalves(context, a, lane, a_rows[lane]);
    ReadHalves(context, b, lane, b_columns[lane]);
    for (std::uint32_t e = 0; e < 8; ++e) {
      const std::uint32_t cell = context.Row<const std::uint32_t>(c[kCHalf ? e / 2 : e])[lane];
      sums[lane * 8 + e] =
          kCHalf ? arith::HalfToFloat(static_cast<arith::HalfBits>(cell >> (16 * (e % 2))))
                 : std::bit_cast<float>(cell);
    }
  }
  std::uint32_t results[8][kWarpSize] = {};
  for (std::uint32_t i = 0; i < kWarpSize * 8; ++i) {
    const std::span<const arith::HalfBits> row(a_rows[i / columns]);
    const std::span<const arith::HalfBits> column(b_columns[i % columns]);
    float sum = sums[i];
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < kK; k += terms) {
      const bool last = k + terms == kK;
      if (kDHalf && kCHalf && last) {
        bits = arith::FusedDotAddToHalf(rule, row.subspan(k, terms), column.subspan(k, terms), sum);
      } else if (kDHalf && kCHalf) {
        // A half accumulator is rounded after every step.
        sum = arith::HalfToFloat(
            arith::FusedDotAddToHalf(rule, row.subspan(k, terms), column.subspan(k, terms), sum));
      } else {
        sum = arith::FusedDotAdd(rule, row.subspan(k, terms), column.subspan(k, terms), sum);
      }
    }
    if (kDHalf && !kCHalf) {  // computed in f32 and converted at the end
      bits = arith::FloatToHalf(sum);
    }
    const std::uint32_t lane = i / 8;
    const std::uint32_t element = i % 8;
    if (kDHalf) {
      results[element / 2][lane] |= bits << (16 * (element % 2));
    } else {
      results[element][lane] = std::bit_cast<std::uint32_t>(sum);
    }
  }
  for (std::size_t r = 0; r < kD; ++r) {
    std::uint32_t* row = context.Row<std::uint32_t>(d[r]);
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
      row[lane] = results[r][lane];
    }
  }
  context.matrix_instructions += 4;  // as many multiply-adds as four m8n8k4
}

}  // namespace

void AppendWmmaOps(OpList& list) {
  const auto add = [&](const char* key, Handler handler) {
    list.push_back({key, "", handler, handler});
  };
  add("@wmma.f32.f32", Wmma<false, false>);
  add("@wmma.f32.f16", Wmma<false, true>);
  add("@wmma.f16.f16", Wmma<true, true>);
  add("@wmma.f16.f32", Wmma<true, false>);
}

}  // namespace voltcheck::simulator
