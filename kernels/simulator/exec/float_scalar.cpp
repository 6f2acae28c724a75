// f32 with directed rounding, table units, testp, copysign: loops over the lanes.
#include "kernels/simulator/exec/rounding.h"
#include "kernels/simulator/exec/scalar.h"
#include "reference/arith/table_unit.h"

namespace voltcheck::simulator {
namespace {

// Each function gives the exact result, rounded to odd in double, and the sign that an exact zero
// has when rounding down; Finish rounds it.
struct Exact {
  double value;
  bool zero_is_sum = false;  ///< an exact zero of two parts with opposite signs
};
Exact Sum(double a, double b) {
  const double odd = AddToOdd(a, b);
  return {odd, odd == 0 && (a != 0 || std::signbit(a) != std::signbit(b))};
}
Exact Add(float a, float b) { return Sum(a, b); }
Exact Sub(float a, float b) { return Sum(a, -static_cast<double>(b)); }
Exact Mul(float a, float b) { return {static_cast<double>(a) * b}; }
Exact Fma(float a, float b, float c) { return Sum(static_cast<double>(a) * b, c); }
// A quotient or root of two floats that is no float differs from every float by more than 2^-50 of
// itself, so the double nearest to it lies on the right side.
Exact Div(float a, float b) { return {static_cast<double>(a) / b}; }
Exact Reciprocal(float a) { return {1.0 / a}; }
Exact SquareRoot(float a) { return {std::sqrt(static_cast<double>(a))}; }

template <Rounding kMode, bool kFtz, bool kSat>
float Finish(const Exact& exact) {
  float value = RoundToFloat<kMode>(exact.value);
  if (exact.zero_is_sum) {
    value = kMode == Rounding::kDown ? -0.0f : 0.0f;
  }
  if (kFtz && IsTiny<kMode>(exact.value)) {
    value = std::copysign(0.0f, value);
  }
  return kSat ? SaturateFloat(value) : CanonicalNan(value);
}
template <bool kFtz>
float Input(float value) {
  return kFtz ? FlushSubnormal(value) : value;
}

template <auto kFunction, Rounding kMode, bool kFtz, bool kSat>
float Unary(float a) {
  return Finish<kMode, kFtz, kSat>(kFunction(Input<kFtz>(a)));
}
template <auto kFunction, Rounding kMode, bool kFtz, bool kSat>
float Binary(float a, float b) {
  return Finish<kMode, kFtz, kSat>(kFunction(Input<kFtz>(a), Input<kFtz>(b)));
}
template <auto kFunction, Rounding kMode, bool kFtz, bool kSat>
float Ternary(float a, float b, float c) {
  return Finish<kMode, kFtz, kSat>(kFunction(Input<kFtz>(a), Input<kFtz>(b), Input<kFtz>(c)));
}

template <auto kFunction, Rounding kMode>
void AppendBinary(OpList& list, const std::string& name) {
  list.push_back(ScalarEntry<Binary<kFunction, kMode, false, false>>(name + ".f32", "w=ww"));
  list.push_back(ScalarEntry<Binary<kFunction, kMode, true, false>>(name + ".ftz.f32", "w=ww"));
  list.push_back(ScalarEntry<Binary<kFunction, kMode, false, true>>(name + ".sat.f32", "w=ww"));
  list.push_back(ScalarEntry<Binary<kFunction, kMode, true, true>>(name + ".ftz.sat.f32", "w=ww"));
}
template <auto kFunction, Rounding kMode>
void AppendTernary(OpList& list, const std::string& name) {
  list.push_back(ScalarEntry<Ternary<kFunction, kMode, false, false>>(name + ".f32", "w=www"));
  list.push_back(ScalarEntry<Ternary<kFunction, kMode, true, false>>(name + ".ftz.f32", "w=www"));
  list.push_back(ScalarEntry<Ternary<kFunction, kMode, false, true>>(name + ".sat.f32", "w=www"));
  list.push_back(
      ScalarEntry<Ternary<kFunction, kMode, true, true>>(name + ".ftz.sat.f32", "w=www"));
}
template <auto kFunction, Rounding kMode>
void AppendUnary(OpList& list, const std::string& name) {
  list.push_back(ScalarEntry<Unary<kFunction, kMode, false, false>>(name + ".f32", "w=w"));
  list.push_back(ScalarEntry<Unary<kFunction, kMode, true, false>>(name + ".ftz.f32", "w=w"));
}
template <Rounding kMode>
void AppendRounding(OpList& list, const std::string& mode) {
  AppendBinary<Add, kMode>(list, "add." + mode);
  AppendBinary<Sub, kMode>(list, "sub." + mode);
  AppendBinary<Mul, kMode>(list, "mul." + mode);
  AppendTernary<Fma, kMode>(list, "fma." + mode);
  AppendTernary<Fma, kMode>(list, "mad." + mode);
  list.push_back(ScalarEntry<Binary<Div, kMode, false, false>>("div." + mode + ".f32", "w=ww"));
  list.push_back(ScalarEntry<Binary<Div, kMode, true, false>>("div." + mode + ".ftz.f32", "w=ww"));
  AppendUnary<Reciprocal, kMode>(list, "rcp." + mode);
  AppendUnary<SquareRoot, kMode>(list, "sqrt." + mode);
}

template <typename F, typename U, int kFractionBits>
struct Class {
  static constexpr U kExponent = static_cast<U>((U{1} << (8 * sizeof(U) - 1 - kFractionBits)) - 1)
                                 << kFractionBits;
  static U Magnitude(F a) { return std::bit_cast<U>(a) & ~(U{1} << (8 * sizeof(U) - 1)); }
  static bool Finite(F a) { return Magnitude(a) < kExponent; }
  static bool Infinite(F a) { return Magnitude(a) == kExponent; }
  static bool Number(F a) { return Magnitude(a) <= kExponent; }
  static bool NotANumber(F a) { return Magnitude(a) > kExponent; }
  /// True for zeros, too: so the GPU does.
  static bool Normal(F a) {
    return Finite(a) && (Magnitude(a) == 0 || (Magnitude(a) & kExponent) != 0);
  }
  static bool Subnormal(F a) { return Magnitude(a) != 0 && (Magnitude(a) & kExponent) == 0; }
  static F CopySign(F a, F b) {  // the sign of a, the magnitude of b
    const U sign = std::bit_cast<U>(a) & (U{1} << (8 * sizeof(U) - 1));
    return std::bit_cast<F>(static_cast<U>(sign | Magnitude(b)));
  }
};
template <typename C>
void AppendClass(OpList& list, const std::string& type, const std::string& kind) {
  list.push_back(ScalarEntry<C::Finite>("testp.finite." + type, "p=" + kind));
  list.push_back(ScalarEntry<C::Infinite>("testp.infinite." + type, "p=" + kind));
  list.push_back(ScalarEntry<C::Number>("testp.number." + type, "p=" + kind));
  list.push_back(ScalarEntry<C::NotANumber>("testp.notanumber." + type, "p=" + kind));
  list.push_back(ScalarEntry<C::Normal>("testp.normal." + type, "p=" + kind));
  list.push_back(ScalarEntry<C::Subnormal>("testp.subnormal." + type, "p=" + kind));
  list.push_back(ScalarEntry<C::CopySign>("copysign." + type, kind + "=" + kind + kind));
}

// Approximate division as ptxas 11.8 builds it for sm_70 (read from its machine code): the
// reciprocal unit, which knows no subnormals, then a multiplication; scaling keeps the operand in
// the unit's range.
constexpr float kSmallestNormal = 0x1p-126f;
constexpr float kLargestForReciprocal = 0x1p126f;

/// A product with .ftz.
Exact Product(float a, float b) { return {static_cast<double>(a) * b}; }

float DivApproxFtz(float a, float b) {
  return Binary<Product, Rounding::kNearest, true, false>(arith::RcpApproxFtz(b), a);
}
float DivApprox(float a, float b) {
  const float scale = std::fabs(b) < kSmallestNormal ? 0x1p24f : 1.0f;
  return arith::RcpApproxFtz(b * scale) * (a * scale);
}
float DivFullFtz(float a, float b) {
  const float scale = std::fabs(b) > kLargestForReciprocal ? 0.25f : 1.0f;
  const float scaled = FlushSubnormal(FlushSubnormal(a) * scale);
  return Binary<Product, Rounding::kNearest, true, false>(arith::RcpApproxFtz(b * scale), scaled);
}
float DivFull(float a, float b) {
  const float scale = std::fabs(b) > kLargestForReciprocal ? 0.25f
                      : std::fabs(b) < kSmallestNormal     ? 0x1p24f
                                                           : 1.0f;
  return arith::RcpApproxFtz(b * scale) * (a * scale);
}

template <auto kFunction>
float Canonical(float a, float b) {
  return CanonicalNan(kFunction(a, b));
}

// The units that exist for both floating-point types.
template <typename T>
using UnaryFunction = T (*)(T);
template <typename T>
constexpr UnaryFunction<T> kRcpFtz = arith::RcpApproxFtz;
template <typename T>
constexpr UnaryFunction<T> kRsqrtFtz = arith::RsqrtApproxFtz;
template <typename T>
constexpr UnaryFunction<T> kRsqrt = arith::RsqrtApprox;

}  // namespace

void AppendFloatScalarOps(OpList& list) {
  AppendRounding<Rounding::kZero>(list, "rz");
  AppendRounding<Rounding::kDown>(list, "rm");
  AppendRounding<Rounding::kUp>(list, "rp");
  AppendClass<Class<float, std::uint32_t, 23>>(list, "f32", "w");
  AppendClass<Class<double, std::uint64_t, 52>>(list, "f64", "x");
  list.push_back(ScalarEntry<Canonical<DivApprox>>("div.approx.f32", "w=ww"));
  list.push_back(ScalarEntry<DivApproxFtz>("div.approx.ftz.f32", "w=ww"));
  list.push_back(ScalarEntry<Canonical<DivFull>>("div.full.f32", "w=ww"));
  list.push_back(ScalarEntry<DivFullFtz>("div.full.ftz.f32", "w=ww"));
  list.push_back(ScalarEntry<arith::Ex2ApproxFtz>("ex2.approx.ftz.f32", "w=w"));
  list.push_back(ScalarEntry<arith::Ex2Approx>("ex2.approx.f32", "w=w"));
  list.push_back(ScalarEntry<kRcpFtz<float>>("rcp.approx.ftz.f32", "w=w"));
  list.push_back(ScalarEntry<arith::RcpApprox>("rcp.approx.f32", "w=w"));
  list.push_back(ScalarEntry<arith::SqrtApproxFtz>("sqrt.approx.ftz.f32", "w=w"));
  list.push_back(ScalarEntry<arith::SqrtApprox>("sqrt.approx.f32", "w=w"));
  list.push_back(ScalarEntry<kRsqrtFtz<float>>("rsqrt.approx.ftz.f32", "w=w"));
  list.push_back(ScalarEntry<kRsqrt<float>>("rsqrt.approx.f32", "w=w"));
  list.push_back(ScalarEntry<arith::Lg2ApproxFtz>("lg2.approx.ftz.f32", "w=w"));
  list.push_back(ScalarEntry<arith::Lg2Approx>("lg2.approx.f32", "w=w"));
  for (const char* ftz : {"", ".ftz"}) {
    list.push_back(ScalarEntry<arith::SinApprox>("sin.approx" + std::string(ftz) + ".f32", "w=w"));
    list.push_back(ScalarEntry<arith::CosApprox>("cos.approx" + std::string(ftz) + ".f32", "w=w"));
  }
  list.push_back(ScalarEntry<kRcpFtz<double>>("rcp.approx.ftz.f64", "x=x"));
  list.push_back(ScalarEntry<kRsqrtFtz<double>>("rsqrt.approx.ftz.f64", "x=x"));
  list.push_back(ScalarEntry<kRsqrt<double>>("rsqrt.approx.f64", "x=x"));
}

}  // namespace voltcheck::simulator
