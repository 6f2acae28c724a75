// f64 with directed rounding: loops over the lanes, exact by construction.
#include "kernels/simulator/exec/exact_double.h"
#include "kernels/simulator/exec/scalar.h"

namespace voltcheck::simulator {
namespace {

template <Rounding kMode>
double Add(double a, double b) {
  return FmaDirected<kMode>(a, 1.0, b);
}
template <Rounding kMode>
double Sub(double a, double b) {
  return std::isnan(b) ? b + b : FmaDirected<kMode>(a, 1.0, -b);
}
/// The zero that is added has the product's sign, so that it changes no zero result.
template <Rounding kMode>
double Mul(double a, double b) {
  return FmaDirected<kMode>(a, b, std::signbit(a) != std::signbit(b) ? -0.0 : 0.0);
}
template <Rounding kMode>
double Reciprocal(double a) {
  return DivDirected<kMode>(1.0, a);
}

template <Rounding kMode>
void AppendRounding(OpList& list, const std::string& mode) {
  const std::string type = "." + mode + ".f64";
  list.push_back(ScalarEntry<Add<kMode>>("add" + type, "x=xx"));
  list.push_back(ScalarEntry<Sub<kMode>>("sub" + type, "x=xx"));
  list.push_back(ScalarEntry<Mul<kMode>>("mul" + type, "x=xx"));
  list.push_back(ScalarEntry<FmaDirected<kMode>>("fma" + type, "x=xxx"));
  list.push_back(ScalarEntry<FmaDirected<kMode>>("mad" + type, "x=xxx"));
  list.push_back(ScalarEntry<DivDirected<kMode>>("div" + type, "x=xx"));
  list.push_back(ScalarEntry<SqrtDirected<kMode>>("sqrt" + type, "x=x"));
  list.push_back(ScalarEntry<Reciprocal<kMode>>("rcp" + type, "x=x"));
}

}  // namespace

void AppendDoubleScalarOps(OpList& list) {
  AppendRounding<Rounding::kZero>(list, "rz");
  AppendRounding<Rounding::kDown>(list, "rm");
  AppendRounding<Rounding::kUp>(list, "rp");
}

}  // namespace voltcheck::simulator
