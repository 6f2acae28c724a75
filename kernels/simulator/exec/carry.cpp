// Extended-precision integers: add.cc, addc, sub.cc, subc, mad.cc, madc. The carry is a predicate:
// op[1] carry out, last operand carry in. A subtraction is a + ~b + 1, and its flag the carry of
// that, which is set when there is no borrow: so the SM70 machine code does (IADD3), and nvcc's
// 128-bit division reads the flag of a sub.cc with an addc.
#include <type_traits>

#include "kernels/simulator/exec/scalar.h"

namespace voltcheck::simulator {
namespace {

template <typename U>
struct WithCarry {
  U value;
  bool carry;
};

template <typename U>
WithCarry<U> Plus(U a, U b, bool carry) {
  const U first = static_cast<U>(a + b);
  const U second = static_cast<U>(first + (carry ? 1 : 0));
  return {second, first < a || second < first};
}
template <typename U>
WithCarry<U> Minus(U a, U b, bool carry) {
  return Plus<U>(a, static_cast<U>(~b), carry);
}

template <typename U, typename F>
void ForLanes(ExecContext& context, const Instr& instr, std::size_t carry_operand, const F& f) {
  U* out = context.Row<U>(instr.op[0]);
  std::uint32_t* carry_out = context.Row<std::uint32_t>(instr.op[1]);
  const std::uint32_t carry_in = *context.Row<const std::uint32_t>(instr.op[carry_operand]);
  std::uint32_t carries = 0;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((context.mask >> lane & 1) != 0) {
      const WithCarry<U> result = f(lane, (carry_in >> lane & 1) != 0);
      out[lane] = result.value;
      carries |= static_cast<std::uint32_t>(result.carry) << lane;
    }
  }
  *carry_out = (*carry_out & ~context.mask) | carries;
}

template <typename U, bool kSubtract>
void AddCarry(ExecContext& context, const Instr& instr) {
  const U* a = context.Row<const U>(instr.op[2]);
  const U* b = context.Row<const U>(instr.op[3]);
  ForLanes<U>(context, instr, 4, [&](std::uint32_t lane, bool carry) {
    return kSubtract ? Minus<U>(a[lane], b[lane], carry) : Plus<U>(a[lane], b[lane], carry);
  });
}

template <typename T, bool kHigh>
void MadCarry(ExecContext& context, const Instr& instr) {
  using U = std::make_unsigned_t<T>;
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  const T* a = context.Row<const T>(instr.op[2]);
  const T* b = context.Row<const T>(instr.op[3]);
  const U* c = context.Row<const U>(instr.op[4]);
  ForLanes<U>(context, instr, 5, [&](std::uint32_t lane, bool carry) {
    const Wide product = static_cast<Wide>(a[lane]) * static_cast<Wide>(b[lane]);
    const U part = static_cast<U>(kHigh ? product >> (8 * sizeof(T)) : product);
    return Plus<U>(part, c[lane], carry);
  });
}

}  // namespace

void AppendCarryOps(OpList& list) {
  const auto add = [&](const char* key, Handler handler) {
    list.push_back({key, "", handler, handler});
  };
  add("@addc.32", AddCarry<std::uint32_t, false>);
  add("@addc.64", AddCarry<std::uint64_t, false>);
  add("@subc.32", AddCarry<std::uint32_t, true>);
  add("@subc.64", AddCarry<std::uint64_t, true>);
  add("@madc.lo.u32", MadCarry<std::uint32_t, false>);
  add("@madc.lo.s32", MadCarry<std::int32_t, false>);
  add("@madc.hi.u32", MadCarry<std::uint32_t, true>);
  add("@madc.hi.s32", MadCarry<std::int32_t, true>);
  add("@madc.lo.u64", MadCarry<std::uint64_t, false>);
  add("@madc.lo.s64", MadCarry<std::int64_t, false>);
  add("@madc.hi.u64", MadCarry<std::uint64_t, true>);
  add("@madc.hi.s64", MadCarry<std::int64_t, true>);
}

}  // namespace voltcheck::simulator
