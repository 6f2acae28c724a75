// atom and red: lanes one after the other, in ascending order.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/simulator/exec/rounding.h"
#include "kernels/simulator/exec/scalar.h"
#include "kernels/simulator/memory/address_space.h"
#include "kernels/simulator/memory/resolve.h"
#include "reference/arith/half.h"

namespace voltcheck::simulator {
namespace {

template <typename T>
T CombineIntegers(AtomicOp operation, T old, T b, T c) {
  using U = std::make_unsigned_t<T>;
  switch (operation) {
    case AtomicOp::kAdd:
      return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
    case AtomicOp::kMin:
      return std::min(old, b);
    case AtomicOp::kMax:
      return std::max(old, b);
    case AtomicOp::kAnd:
      return old & b;
    case AtomicOp::kOr:
      return old | b;
    case AtomicOp::kXor:
      return old ^ b;
    case AtomicOp::kExch:
      return b;
    case AtomicOp::kCas:
      return old == b ? c : old;
    case AtomicOp::kInc:
      return static_cast<U>(old) >= static_cast<U>(b) ? T{0} : static_cast<T>(old + 1);
    default:  // kDec
      return old == 0 || static_cast<U>(old) > static_cast<U>(b) ? b : static_cast<T>(old - 1);
  }
}

std::uint32_t AddPairs(std::uint32_t old, std::uint32_t b) {
  const auto low = arith::HalfAdd(static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(b));
  const auto high =
      arith::HalfAdd(static_cast<std::uint16_t>(old >> 16), static_cast<std::uint16_t>(b >> 16));
  return low | std::uint32_t{high} << 16;
}

/// f32 adds in global memory flush subnormals, as the hardware's atomic units do; shared ones keep
/// them.
std::uint32_t AddFloats(std::uint32_t old, std::uint32_t b, bool flush) {
  auto x = std::bit_cast<float>(old);
  auto y = std::bit_cast<float>(b);
  if (flush) {
    x = FlushSubnormal(x);
    y = FlushSubnormal(y);
  }
  const float sum = CanonicalNan(x + y);
  return std::bit_cast<std::uint32_t>(flush ? FlushSubnormal(sum) : sum);
}

/// In global memory a NaN operand passes unchanged, the added one first; in shared memory the
/// addition is an ordinary one (b + old), which makes it quiet and prefers the old one.
std::uint64_t AddDoubles(std::uint64_t old, std::uint64_t b, bool shared) {
  const auto x = std::bit_cast<double>(old);
  const auto y = std::bit_cast<double>(b);
  if (shared && (std::isnan(x) || std::isnan(y))) {
    return std::bit_cast<std::uint64_t>(std::isnan(x) ? x + x : y + y);
  }
  return std::isnan(y) ? b : std::isnan(x) ? old : std::bit_cast<std::uint64_t>(x + y);
}

std::uint64_t Combine(const MemorySite& site, std::uint64_t old, std::uint64_t b, std::uint64_t c) {
  const bool floating = site.operation == AtomicOp::kAdd;
  if (floating && site.number == NumberKind::kFloatPair) {
    return AddPairs(static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(b));
  }
  if (floating && site.number == NumberKind::kFloat) {
    switch (site.bytes) {
      case 2:
        return arith::HalfAdd(static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(b));
      case 4:
        return AddFloats(static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(b),
                         site.space != Space::kShared);
      default:
        return AddDoubles(old, b, site.space == Space::kShared);
    }
  }
  const bool is_signed = site.number == NumberKind::kSigned;
  if (site.bytes == 8) {
    return is_signed ? static_cast<std::uint64_t>(CombineIntegers<std::int64_t>(
                           site.operation, static_cast<std::int64_t>(old),
                           static_cast<std::int64_t>(b), static_cast<std::int64_t>(c)))
                     : CombineIntegers<std::uint64_t>(site.operation, old, b, c);
  }
  if (site.bytes == 2) {
    return CombineIntegers<std::uint16_t>(site.operation, static_cast<std::uint16_t>(old),
                                          static_cast<std::uint16_t>(b),
                                          static_cast<std::uint16_t>(c));
  }
  return is_signed ? static_cast<std::uint32_t>(CombineIntegers<std::int32_t>(
                         site.operation, static_cast<std::int32_t>(old),
                         static_cast<std::int32_t>(b), static_cast<std::int32_t>(c)))
                   : CombineIntegers<std::uint32_t>(site.operation, static_cast<std::uint32_t>(old),
                                                    static_cast<std::uint32_t>(b),
                                                    static_cast<std::uint32_t>(c));
}

/// op[0] = old value, op[1] address, op[2] and op[3] operands.
template <typename Cell>
void AtomicRows(ExecContext& context, const Instr& instr, const MemorySite& site,
                const LanePointers& pointers) {
  Cell* out = context.Row<Cell>(instr.op[0]);
  const Cell* b = context.Row<const Cell>(instr.op[2]);
  const Cell* c = site.operation == AtomicOp::kCas ? context.Row<const Cell>(instr.op[3]) : nullptr;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((context.mask >> lane & 1) == 0) {
      continue;
    }
    std::uint64_t old = 0;
    std::memcpy(&old, pointers.host[lane], site.bytes);
    const std::uint64_t value = Combine(site, old, b[lane], c == nullptr ? 0 : c[lane]);
    std::memcpy(pointers.host[lane], &value, site.bytes);
    context.changes += value != old ? 1 : 0;
    out[lane] = static_cast<Cell>(old);
  }
}

void Atomic(ExecContext& context, const Instr& instr) {
  const MemorySite& site = context.program->memory[instr.aux];
  LanePointers pointers;
  ResolveAndWatch(context, instr, site, 1, false, pointers);
  ++context.messages;
  if (site.register_bits == 64) {
    AtomicRows<std::uint64_t>(context, instr, site, pointers);
  } else {
    AtomicRows<std::uint32_t>(context, instr, site, pointers);
  }
}

}  // namespace

void AppendAtomicOps(OpList& list) { list.push_back({"@atomic", "", Atomic, Atomic}); }

}  // namespace voltcheck::simulator
