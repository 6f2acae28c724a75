// Integer instructions that are rare enough to be loops over the lanes. Rules from the PTX ISA,
// chapter "Integer Arithmetic", "Logic and Shift" and "Extended-Precision".
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>

#include "kernels/simulator/exec/scalar.h"

namespace voltcheck::simulator {
namespace {

using U16 = std::uint16_t;
using S16 = std::int16_t;
using U32 = std::uint32_t;
using S32 = std::int32_t;
using U64 = std::uint64_t;
using S64 = std::int64_t;

template <typename T>
T Add(T a, T b) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                        static_cast<std::make_unsigned_t<T>>(b));
}
template <typename T>
T Sub(T a, T b) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) -
                        static_cast<std::make_unsigned_t<T>>(b));
}
template <typename T>
T MulLow(T a, T b) {
  return static_cast<T>(static_cast<U64>(a) * static_cast<U64>(b));
}
template <typename T>
T MulHigh(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b) >> 64);
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, S64, U64>;
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b) >> (8 * sizeof(T)));
  }
}
template <typename T>
T MadLow(T a, T b, T c) {
  return Add<T>(MulLow<T>(a, b), c);
}
template <typename T>
T MadHigh(T a, T b, T c) {
  return Add<T>(MulHigh<T>(a, b), c);
}
S32 Saturate(S64 wide) {
  return static_cast<S32>(
      std::clamp<S64>(wide, std::numeric_limits<S32>::min(), std::numeric_limits<S32>::max()));
}
S32 AddSat(S32 a, S32 b) { return Saturate(S64{a} + b); }
S32 SubSat(S32 a, S32 b) { return Saturate(S64{a} - b); }
S32 MadHighSat(S32 a, S32 b, S32 c) { return Saturate(S64{MulHigh<S32>(a, b)} + c); }

/// Division by zero has no defined result in PTX; GPUs give all ones, and the dividend as
/// remainder.
template <typename T>
T Div(T a, T b) {
  if (b == 0) {
    return static_cast<T>(~T{0});
  }
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) {
      return Sub<T>(0, a);
    }
  }
  return static_cast<T>(a / b);
}
template <typename T>
T Rem(T a, T b) {
  if (b == 0) {
    return a;
  }
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) {
      return 0;
    }
  }
  return static_cast<T>(a % b);
}
template <typename T>
T Min(T a, T b) {
  return std::min(a, b);
}
template <typename T>
T Max(T a, T b) {
  return std::max(a, b);
}
template <typename T>
T Neg(T a) {
  return Sub<T>(0, a);
}
template <typename T>
T Abs(T a) {
  return a < 0 ? Neg<T>(a) : a;
}
template <typename T>
T Sad(T a, T b, T c) {
  using U = std::make_unsigned_t<T>;
  const U difference = a < b ? static_cast<U>(static_cast<U>(b) - static_cast<U>(a))
                             : static_cast<U>(static_cast<U>(a) - static_cast<U>(b));
  return static_cast<T>(static_cast<U>(static_cast<U>(c) + difference));
}
template <typename T>
T Shl(T a, U32 n) {
  return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(static_cast<U64>(a) << n);
}
template <typename T>
T Shr(T a, U32 n) {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(a >> std::min<U32>(n, 8 * sizeof(T) - 1));
  } else {
    return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(a >> n);
  }
}
template <typename T>
U32 PopCount(T a) {
  return static_cast<U32>(std::popcount(a));
}
template <typename T>
U32 LeadingZeros(T a) {
  return static_cast<U32>(std::countl_zero(a));
}
template <typename T>
U32 FindBit(T a) {
  using U = std::make_unsigned_t<T>;
  U bits = static_cast<U>(a);
  if constexpr (std::is_signed_v<T>) {
    bits = a < 0 ? static_cast<U>(~bits) : bits;
  }
  return bits == 0 ? ~U32{0} : static_cast<U32>(std::bit_width(bits) - 1);
}
template <typename T>
U32 FindBitShift(T a) {
  const U32 bit = FindBit<T>(a);
  return bit == ~U32{0} ? bit : static_cast<U32>(8 * sizeof(T) - 1) - bit;
}
template <typename T>
T Reverse(T a) {
  T result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i) {
    result = static_cast<T>(result << 1 | (a >> i & 1));
  }
  return result;
}
template <typename T>
T Cnot(T a) {
  return a == 0 ? 1 : 0;
}
template <typename T>
T ExtractField(T a, U32 position, U32 length) {
  constexpr U32 kTop = 8 * sizeof(T) - 1;
  const U32 begin = position & 0xff;
  const U32 bits = length & 0xff;
  T result = 0;
  bool sign = false;
  if constexpr (std::is_signed_v<T>) {
    sign = bits != 0 && (a >> std::min<U32>(begin + bits - 1, kTop) & 1) != 0;
  }
  const auto source = static_cast<U64>(static_cast<std::make_unsigned_t<T>>(a));
  for (U32 i = 0; i <= kTop; ++i) {
    const bool bit = i < bits && begin + i <= kTop ? (source >> (begin + i) & 1) != 0 : sign;
    result = static_cast<T>(static_cast<U64>(result) | static_cast<U64>(bit) << i);
  }
  return result;
}
// The assembler builds the 64-bit forms from shifts that take the whole count: nothing is cut to 8
// bits, as the PTX manual has it for the 32-bit ones.
U64 MaskOf(U32 length) { return Shl<U64>(1, length) - 1; }
U64 ExtractField64(U64 a, U32 position, U32 length) {
  return Shr<U64>(a, position) & MaskOf(length);
}
S64 ExtractSigned64(S64 a, U32 position, U32 length) {
  const U64 field = static_cast<U64>(Shr<S64>(a, position)) & MaskOf(length);
  const bool negative = Shr<U64>(field, length - 1) != 0;
  return static_cast<S64>(negative ? field | ~MaskOf(length) : field);
}
U64 InsertField64(U64 a, U64 b, U32 position, U32 length) {
  const U64 mask = MaskOf(length);
  return Shl<U64>(a & mask, position) | (b & ~Shl<U64>(mask, position));
}

/// The position of the |offset|-th set bit from `base` on, upwards or downwards; all ones: there is
/// none.
U32 FindNthSet(U32 mask, U32 base, S32 offset) {
  if (offset == 0) {
    return base < 32 && (mask >> base & 1) != 0 ? base : ~U32{0};
  }
  if (offset == std::numeric_limits<S32>::min()) {
    return 0;  // what the assembler's sequence comes to
  }
  S32 left = std::abs(offset);
  for (S64 at = base; at >= 0 && at<32; at += offset> 0 ? 1 : -1) {
    if ((mask >> at & 1) != 0 && --left == 0) {
      return static_cast<U32>(at);
    }
  }
  return ~U32{0};
}

U32 Permute(U32 a, U32 b, U32 selector) {
  const U64 bytes = U64{b} << 32 | a;
  U32 result = 0;
  for (U32 i = 0; i < 4; ++i) {
    const U32 s = selector >> (4 * i);
    U32 byte = static_cast<U32>(bytes >> (8 * (s & 7))) & 0xff;
    if ((s & 8) != 0) {
      byte = (byte & 0x80) != 0 ? 0xff : 0;
    }
    result |= byte << (8 * i);
  }
  return result;
}
/// The fixed patterns of prmt's modes, by the two low bits of the selector.
template <int kMode>
U32 PermuteMode(U32 a, U32 b, U32 selector) {
  static constexpr U32 kPatterns[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543},  // f4e
      {0x5670, 0x6701, 0x7012, 0x0123},  // b4e
      {0x0000, 0x1111, 0x2222, 0x3333},  // rc8
      {0x3210, 0x3211, 0x3222, 0x3333},  // ecl
      {0x0000, 0x1110, 0x2210, 0x3210},  // ecr
      {0x1010, 0x3232, 0x1010, 0x3232},  // rc16
  };
  return Permute(a, b, kPatterns[kMode][selector & 3]);
}

/// vabsdiff4: byte by byte |a - b|, T the type of the bytes; with .add their sum and c.
template <typename T, bool kSum>
U32 AbsoluteDifferences(U32 a, U32 b, U32 c) {
  U32 bytes = 0;
  U32 sum = c;
  for (U32 shift = 0; shift < 32; shift += 8) {
    const int difference = static_cast<T>(a >> shift) - static_cast<T>(b >> shift);
    const auto magnitude = static_cast<U32>(std::abs(difference));
    bytes |= magnitude << shift;
    sum += magnitude;
  }
  return kSum ? sum : bytes;
}

template <bool kLeft, bool kWrap>
U32 Funnel(U32 a, U32 b, U32 count) {
  const U32 n = kWrap ? count & 31 : std::min<U32>(count, 32);
  const U64 both = U64{b} << 32 | a;
  return static_cast<U32>(kLeft ? both >> (32 - n) : both >> n);
}

template <typename T>
S64 Low24(T a) {
  return std::is_signed_v<T> ? static_cast<S64>(static_cast<U64>(a) << 40) >> 40
                             : static_cast<S64>(static_cast<U64>(a) & 0xffffff);
}
template <typename T>
T Mul24Low(T a, T b) {
  return static_cast<T>(Low24(a) * Low24(b));
}
template <typename T>
T Mul24High(T a, T b) {
  return static_cast<T>((Low24(a) * Low24(b)) >> 16);
}
template <typename T>
T Mad24Low(T a, T b, T c) {
  return Add<T>(Mul24Low<T>(a, b), c);
}
template <typename T>
T Mad24High(T a, T b, T c) {
  return Add<T>(Mul24High<T>(a, b), c);
}

S32 Mad24HighSat(S32 a, S32 b, S32 c) { return Saturate(S64{Mul24High<S32>(a, b)} + c); }

template <typename A, typename B, int kBits>
S64 Part(U32 word, int index) {
  using T = std::conditional_t<kBits == 8,
                               std::conditional_t<std::is_signed_v<A>, std::int8_t, std::uint8_t>,
                               std::conditional_t<std::is_signed_v<A>, S16, U16>>;
  return static_cast<T>(word >> (kBits * index));
}
template <typename A, typename B>
U32 Dot4(U32 a, U32 b, U32 c) {
  S64 sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += Part<A, A, 8>(a, i) * Part<B, B, 8>(b, i);
  }
  return c + static_cast<U32>(sum);
}
template <typename A, typename B, int kFirst>
U32 Dot2(U32 a, U32 b, U32 c) {
  const S64 sum = Part<A, A, 16>(a, 0) * Part<B, B, 8>(b, kFirst) +
                  Part<A, A, 16>(a, 1) * Part<B, B, 8>(b, kFirst + 1);
  return c + static_cast<U32>(sum);
}

template <typename Narrow, typename Wide>
Wide MulWide(Narrow a, Narrow b) {
  return static_cast<Wide>(static_cast<Wide>(a) * static_cast<Wide>(b));
}
template <typename Narrow, typename Wide>
Wide MadWide(Narrow a, Narrow b, Wide c) {
  return Add<Wide>(MulWide<Narrow, Wide>(a, b), c);
}

/// "r=rr" with the register kind of a type in place of r.
std::string Pattern(std::string shape, char kind) {
  std::replace(shape.begin(), shape.end(), 'r', kind);
  return shape;
}

template <typename T>
void AppendCommon(OpList& list, const std::string& type, char kind) {
  list.push_back(ScalarEntry<MulHigh<T>>("mul.hi." + type, Pattern("r=rr", kind)));
  list.push_back(ScalarEntry<MadHigh<T>>("mad.hi." + type, Pattern("r=rrr", kind)));
  list.push_back(ScalarEntry<Div<T>>("div." + type, Pattern("r=rr", kind)));
  list.push_back(ScalarEntry<Rem<T>>("rem." + type, Pattern("r=rr", kind)));
  list.push_back(ScalarEntry<Sad<T>>("sad." + type, Pattern("r=rrr", kind)));
}
/// What the 32-bit types have as SIMD in integer.cpp.
template <typename T>
void AppendNarrow(OpList& list, const std::string& type) {
  list.push_back(ScalarEntry<Add<T>>("add." + type, "h=hh"));
  list.push_back(ScalarEntry<Sub<T>>("sub." + type, "h=hh"));
  list.push_back(ScalarEntry<MulLow<T>>("mul.lo." + type, "h=hh"));
  list.push_back(ScalarEntry<MadLow<T>>("mad.lo." + type, "h=hhh"));
  list.push_back(ScalarEntry<Min<T>>("min." + type, "h=hh"));
  list.push_back(ScalarEntry<Max<T>>("max." + type, "h=hh"));
  list.push_back(ScalarEntry<Shr<T>>("shr." + type, "h=hw"));
}
template <typename U, typename S>
void AppendBits(OpList& list, const std::string& bits, char kind) {
  list.push_back(ScalarEntry<PopCount<U>>("popc.b" + bits, Pattern("w=r", kind)));
  list.push_back(ScalarEntry<LeadingZeros<U>>("clz.b" + bits, Pattern("w=r", kind)));
  list.push_back(ScalarEntry<FindBit<U>>("bfind.u" + bits, Pattern("w=r", kind)));
  list.push_back(ScalarEntry<FindBit<S>>("bfind.s" + bits, Pattern("w=r", kind)));
  list.push_back(ScalarEntry<FindBitShift<U>>("bfind.shiftamt.u" + bits, Pattern("w=r", kind)));
  list.push_back(ScalarEntry<FindBitShift<S>>("bfind.shiftamt.s" + bits, Pattern("w=r", kind)));
  list.push_back(ScalarEntry<Reverse<U>>("brev.b" + bits, Pattern("r=r", kind)));
}
template <typename T>
void Append24(OpList& list, const std::string& type) {
  list.push_back(ScalarEntry<Mul24Low<T>>("mul24.lo." + type, "w=ww"));
  list.push_back(ScalarEntry<Mul24High<T>>("mul24.hi." + type, "w=ww"));
  list.push_back(ScalarEntry<Mad24Low<T>>("mad24.lo." + type, "w=www"));
  list.push_back(ScalarEntry<Mad24High<T>>("mad24.hi." + type, "w=www"));
}
template <typename A, typename B>
void AppendDot(OpList& list, const std::string& types) {
  list.push_back(ScalarEntry<Dot4<A, B>>("dp4a." + types, "w=www"));
  list.push_back(ScalarEntry<Dot2<A, B, 0>>("dp2a.lo." + types, "w=www"));
  list.push_back(ScalarEntry<Dot2<A, B, 2>>("dp2a.hi." + types, "w=www"));
}
template <typename T>
void AppendVideo(OpList& list, const std::string& name) {
  list.push_back(ScalarEntry<AbsoluteDifferences<T, false>>(name, "w=www"));
  list.push_back(ScalarEntry<AbsoluteDifferences<T, true>>(name + ".add", "w=www"));
}
template <int kMode>
void AppendPermute(OpList& list, const char* mode) {
  list.push_back(ScalarEntry<PermuteMode<kMode>>(std::string("prmt.b32.") + mode, "w=www"));
}

}  // namespace

void AppendIntegerScalarOps(OpList& list) {
  AppendCommon<U16>(list, "u16", 'h');
  AppendCommon<S16>(list, "s16", 'h');
  AppendCommon<U32>(list, "u32", 'w');
  AppendCommon<S32>(list, "s32", 'w');
  AppendCommon<U64>(list, "u64", 'x');
  AppendCommon<S64>(list, "s64", 'x');
  AppendVideo<std::uint8_t>(list, "vabsdiff4.u32.u32.u32");
  AppendVideo<std::int8_t>(list, "vabsdiff4.u32.s32.s32");
  AppendNarrow<U16>(list, "u16");
  AppendNarrow<S16>(list, "s16");
  list.push_back(ScalarEntry<Shr<U16>>("shr.b16", "h=hw"));
  list.push_back(ScalarEntry<Shl<U16>>("shl.b16", "h=hw"));
  list.push_back(ScalarEntry<Neg<S16>>("neg.s16", "h=h"));
  list.push_back(ScalarEntry<Abs<S16>>("abs.s16", "h=h"));
  list.push_back(ScalarEntry<Cnot<U16>>("cnot.b16", "h=h"));
  list.push_back(ScalarEntry<Cnot<U32>>("cnot.b32", "w=w"));
  list.push_back(ScalarEntry<Cnot<U64>>("cnot.b64", "x=x"));
  list.push_back(ScalarEntry<AddSat>("add.sat.s32", "w=ww"));
  list.push_back(ScalarEntry<SubSat>("sub.sat.s32", "w=ww"));
  list.push_back(ScalarEntry<MadHighSat>("mad.hi.sat.s32", "w=www"));
  AppendBits<U32, S32>(list, "32", 'w');
  AppendBits<U64, S64>(list, "64", 'x');
  list.push_back(ScalarEntry<ExtractField<U32>>("bfe.u32", "w=www"));
  list.push_back(ScalarEntry<ExtractField<S32>>("bfe.s32", "w=www"));
  list.push_back(ScalarEntry<ExtractField64>("bfe.u64", "x=xww"));
  list.push_back(ScalarEntry<ExtractSigned64>("bfe.s64", "x=xww"));
  list.push_back(ScalarEntry<InsertField64>("bfi.b64", "x=xxww"));
  list.push_back(ScalarEntry<FindNthSet>("fns.b32", "w=www"));
  list.push_back(ScalarEntry<Mad24HighSat>("mad24.hi.sat.s32", "w=www"));
  list.push_back(ScalarEntry<Permute>("prmt.b32", "w=www"));
  AppendPermute<0>(list, "f4e");
  AppendPermute<1>(list, "b4e");
  AppendPermute<2>(list, "rc8");
  AppendPermute<3>(list, "ecl");
  AppendPermute<4>(list, "ecr");
  AppendPermute<5>(list, "rc16");
  list.push_back(ScalarEntry<Funnel<true, true>>("shf.l.wrap.b32", "w=www"));
  list.push_back(ScalarEntry<Funnel<true, false>>("shf.l.clamp.b32", "w=www"));
  list.push_back(ScalarEntry<Funnel<false, true>>("shf.r.wrap.b32", "w=www"));
  list.push_back(ScalarEntry<Funnel<false, false>>("shf.r.clamp.b32", "w=www"));
  Append24<U32>(list, "u32");
  Append24<S32>(list, "s32");
  AppendDot<U32, U32>(list, "u32.u32");
  AppendDot<U32, S32>(list, "u32.s32");
  AppendDot<S32, U32>(list, "s32.u32");
  AppendDot<S32, S32>(list, "s32.s32");
  list.push_back(ScalarEntry<MulWide<U16, U32>>("mul.wide.u16", "w=hh"));
  list.push_back(ScalarEntry<MulWide<S16, S32>>("mul.wide.s16", "w=hh"));
  list.push_back(ScalarEntry<MadWide<U16, U32>>("mad.wide.u16", "w=hhw"));
  list.push_back(ScalarEntry<MadWide<S16, S32>>("mad.wide.s16", "w=hhw"));
}

}  // namespace voltcheck::simulator
