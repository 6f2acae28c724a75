// Every cvt between two types, one lane at a time: "@cvt.rzi.s32.f32". The decoder adds what
// registers wider than the types need.
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/simulator/exec/rounding.h"
#include "kernels/simulator/exec/scalar.h"
#include "reference/arith/half.h"

namespace voltcheck::simulator {
namespace {

/// binary16 as a type of its own, so that templates tell it from an integer.
struct Half {
  std::uint16_t bits;
};

template <typename T>
constexpr bool kIsFloat = std::is_floating_point_v<T> || std::is_same_v<T, Half>;

/// What a value of T is in a register: halves are 16-bit integers, 8-bit integers fill a 16-bit
/// register.
template <typename T>
using RegisterType = std::conditional_t<
    std::is_same_v<T, Half>, std::uint16_t,
    std::conditional_t<sizeof(T) == 1,
                       std::conditional_t<std::is_signed_v<T>, std::int16_t, std::uint16_t>, T>>;
template <typename T>
using SourceType = std::conditional_t<std::is_same_v<T, Half>, std::uint16_t, T>;

template <typename D, typename S, bool kSat>
RegisterType<D> IntToInt(S value) {
  if constexpr (kSat) {
    using Wide = __int128;
    const Wide low = std::numeric_limits<D>::min();
    const Wide high = std::numeric_limits<D>::max();
    const Wide wide = value;
    return static_cast<D>(wide < low ? low : wide > high ? high : wide);
  } else {
    return static_cast<D>(value);
  }
}

template <Rounding kMode>
double RoundToIntegral(double value) {
  switch (kMode) {
    case Rounding::kNearest:
      return std::nearbyint(value);
    case Rounding::kZero:
      return std::trunc(value);
    case Rounding::kDown:
      return std::floor(value);
    default:
      return std::ceil(value);
  }
}

template <typename S>
double ToDouble(SourceType<S> value) {
  if constexpr (std::is_same_v<S, Half>) {
    return arith::HalfToFloat(value);
  } else {
    return value;
  }
}

/// Out of range clamps. NaN gives 0, but the smallest integer's bits where the source or the result
/// has 64 bits: so the GPU does.
template <typename D, typename S, Rounding kMode, bool kFtz>
RegisterType<D> FloatToInt(SourceType<S> value) {
  double wide = 0;
  if constexpr (kFtz && std::is_same_v<S, float>) {
    wide = FlushSubnormal(value);
  } else {
    wide = ToDouble<S>(value);
  }
  wide = RoundToIntegral<kMode>(wide);
  if (std::isnan(wide)) {
    constexpr bool kWide = std::is_same_v<S, double> || sizeof(D) == 8;
    using U = std::make_unsigned_t<D>;
    return static_cast<D>(kWide ? static_cast<U>(U{1} << (8 * sizeof(D) - 1)) : U{0});
  }
  constexpr auto kLow = std::numeric_limits<D>::min();
  constexpr auto kHigh = std::numeric_limits<D>::max();
  // 2^digits is exact as a double where kHigh is not.
  if (wide >= std::ldexp(1.0, std::numeric_limits<D>::digits)) {
    return kHigh;
  }
  if (wide <= static_cast<double>(kLow)) {
    return kLow;
  }
  return static_cast<D>(wide);
}

/// A double to half in one rounding.
template <Rounding kMode>
std::uint16_t RoundToHalf(double value) {
  const arith::HalfBits nearest = arith::DoubleToHalf(value);
  if constexpr (kMode == Rounding::kNearest) {
    return nearest;
  }
  const double back = arith::HalfToFloat(nearest);
  if (std::isnan(value) || back == value) {
    return nearest;
  }
  const bool negative = std::signbit(value);
  const bool too_far = (back < value) == negative;  // nearest is larger in magnitude
  const bool toward_zero =
      kMode == Rounding::kZero || (kMode == Rounding::kDown ? !negative : negative);
  if (toward_zero) {
    return too_far ? static_cast<std::uint16_t>(nearest - 1) : nearest;
  }
  return too_far ? nearest : static_cast<std::uint16_t>(nearest + 1);
}

double SaturateDouble(double value) { return value > 0 ? (value < 1 ? value : 1.0) : 0.0; }

/// NaN comes out canonical.
template <typename D, Rounding kMode, bool kSat>
RegisterType<D> RoundTo(double value) {
  if constexpr (kSat) {
    value = SaturateDouble(value);
  }
  if constexpr (std::is_same_v<D, Half>) {
    return RoundToHalf<kMode>(value);
  } else if constexpr (std::is_same_v<D, float>) {
    return CanonicalNan(RoundToFloat<kMode>(value));
  } else {
    return value;
  }
}
/// The NaN that a f64 NaN becomes: quiet, the upper bits of its payload kept.
template <typename D>
RegisterType<D> NarrowNan(double value) {
  if constexpr (std::is_same_v<D, Half>) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return static_cast<std::uint16_t>((bits >> 63) << 15 | 0x7e00u | (bits >> 42 & 0x1ffu));
  } else {
    return static_cast<RegisterType<D>>(value + value);
  }
}

/// An integer as a double, with everything below its last bit collected in that bit (rounding to
/// odd).
template <typename S>
double IntToOdd(S value) {
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  const bool negative = value < 0;
  const auto magnitude =
      negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  double result = 0;
  if (magnitude < kExact) {
    result = static_cast<double>(magnitude);
  } else {
    const std::uint64_t sticky = (magnitude & 0x7ff) != 0 ? 1 : 0;
    result = static_cast<double>(magnitude >> 11 | sticky) * 2048.0;
  }
  return negative ? -result : result;
}
template <typename D, typename S, Rounding kMode, bool kSat>
RegisterType<D> IntToFloat(S value) {
  if constexpr (std::is_same_v<D, double>) {
    double nearest = static_cast<double>(value);
    if constexpr (kMode != Rounding::kNearest) {
      // All 64-bit integers are below 2^64, so the comparison in 128 bits is exact.
      const __int128 exact = value;
      const auto back = static_cast<__int128>(nearest);
      if (back != exact) {
        const bool up = kMode == Rounding::kUp || (kMode == Rounding::kZero && exact < 0);
        if (up && back < exact) {
          nearest = std::nextafter(nearest, HUGE_VAL);
        } else if (!up && back > exact) {
          nearest = std::nextafter(nearest, -HUGE_VAL);
        }
      }
    }
    return kSat ? SaturateDouble(nearest) : nearest;
  } else {
    return RoundTo<D, kMode, kSat>(IntToOdd<S>(value));
  }
}

/// .ftz concerns f32 sources (not of f16 results) and f32 results; of these before they are
/// rounded.
template <typename D, typename S, Rounding kMode, bool kFtz, bool kSat>
RegisterType<D> FloatToFloat(SourceType<S> value) {
  if constexpr (kFtz && std::is_same_v<S, float> && !std::is_same_v<D, Half>) {
    value = CanonicalNan(FlushSubnormal(value));
  }
  const double wide = ToDouble<S>(value);
  if constexpr (std::is_same_v<S, double> && !kSat) {
    if (std::isnan(value)) {
      return NarrowNan<D>(value);
    }
  }
  auto result = RoundTo<D, kMode, kSat>(wide);
  if constexpr (kFtz && std::is_same_v<D, float>) {
    if (IsTiny<kMode>(wide)) {
      result = std::copysign(0.0f, result);
    }
  }
  return result;
}
/// cvt.rni.f32.f32 and its like: to an integral value of the same type.
template <typename F, Rounding kMode, bool kFtz, bool kSat>
RegisterType<F> Integral(SourceType<F> value) {
  if constexpr (kFtz && std::is_same_v<F, float>) {
    value = FlushSubnormal(value);
  }
  if constexpr (std::is_same_v<F, double> && !kSat) {
    if (std::isnan(value)) {
      return value + value;  // quiet
    }
  }
  return RoundTo<F, Rounding::kNearest, kSat>(RoundToIntegral<kMode>(ToDouble<F>(value)));
}

template <typename T>
struct Named {
  using Type = T;
  const char* name;
};
constexpr std::tuple kIntegers = {Named<std::uint8_t>{"u8"},   Named<std::int8_t>{"s8"},
                                  Named<std::uint16_t>{"u16"}, Named<std::int16_t>{"s16"},
                                  Named<std::uint32_t>{"u32"}, Named<std::int32_t>{"s32"},
                                  Named<std::uint64_t>{"u64"}, Named<std::int64_t>{"s64"}};
constexpr std::tuple kFloats = {Named<Half>{"f16"}, Named<float>{"f32"}, Named<double>{"f64"}};

template <typename Tuple, typename F>
void ForEach(const Tuple& tuple, const F& f) {
  std::apply([&](const auto&... entry) { (f(entry), ...); }, tuple);
}

template <Rounding kMode>
void AppendMode(OpList& list, const std::string& mode) {
  const std::string integral = "@cvt." + mode + "i";
  const std::string rounded = "@cvt." + mode;
  ForEach(kFloats, [&](auto f) {
    using F = typename decltype(f)::Type;
    const std::string self = std::string(".") + f.name + "." + f.name;
    list.push_back(ScalarEntry<Integral<F, kMode, false, false>>(integral + self, ""));
    // One function where .ftz makes no difference.
    constexpr bool kFtz = std::is_same_v<F, float>;
    list.push_back(ScalarEntry<Integral<F, kMode, kFtz, false>>(integral + ".ftz" + self, ""));
    list.push_back(ScalarEntry<Integral<F, kMode, false, true>>(integral + ".sat" + self, ""));
    list.push_back(ScalarEntry<Integral<F, kMode, kFtz, true>>(integral + ".ftz.sat" + self, ""));
    ForEach(kIntegers, [&](auto i) {
      using I = typename decltype(i)::Type;
      const std::string to = std::string(".") + i.name + "." + f.name;
      list.push_back(ScalarEntry<FloatToInt<I, F, kMode, false>>(integral + to, ""));
      list.push_back(ScalarEntry<FloatToInt<I, F, kMode, kFtz>>(integral + ".ftz" + to, ""));
      const std::string from = std::string(".") + f.name + "." + i.name;
      list.push_back(ScalarEntry<IntToFloat<F, I, kMode, false>>(rounded + from, ""));
      list.push_back(ScalarEntry<IntToFloat<F, I, kMode, true>>(rounded + ".sat" + from, ""));
    });
    ForEach(kFloats, [&](auto s) {
      using S = typename decltype(s)::Type;
      const std::string types = std::string(".") + f.name + "." + s.name;
      constexpr bool kEitherFtz = std::is_same_v<F, float> || std::is_same_v<S, float>;
      list.push_back(ScalarEntry<FloatToFloat<F, S, kMode, false, false>>(rounded + types, ""));
      list.push_back(
          ScalarEntry<FloatToFloat<F, S, kMode, kEitherFtz, false>>(rounded + ".ftz" + types, ""));
      list.push_back(
          ScalarEntry<FloatToFloat<F, S, kMode, false, true>>(rounded + ".sat" + types, ""));
      list.push_back(ScalarEntry<FloatToFloat<F, S, kMode, kEitherFtz, true>>(
          rounded + ".ftz.sat" + types, ""));
    });
  });
}

}  // namespace

void AppendConvertScalarOps(OpList& list) {
  ForEach(kIntegers, [&](auto d) {
    ForEach(kIntegers, [&](auto s) {
      using D = typename decltype(d)::Type;
      using S = typename decltype(s)::Type;
      const std::string types = std::string(".") + d.name + "." + s.name;
      list.push_back(ScalarEntry<IntToInt<D, S, false>>("@cvt" + types, ""));
      list.push_back(ScalarEntry<IntToInt<D, S, true>>("@cvt.sat" + types, ""));
    });
  });
  AppendMode<Rounding::kNearest>(list, "rn");
  AppendMode<Rounding::kZero>(list, "rz");
  AppendMode<Rounding::kDown>(list, "rm");
  AppendMode<Rounding::kUp>(list, "rp");
}

}  // namespace voltcheck::simulator
