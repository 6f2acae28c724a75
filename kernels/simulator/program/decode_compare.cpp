// setp, set, selp, slct.
#include <optional>

#include "kernels/simulator/program/decoders.h"
#include "kernels/simulator/program/type_suffix.h"

namespace voltcheck::simulator {
namespace {

using Kind = ptx::Operand::Kind;

/// "setp.lt.and.ftz.f32" taken apart.
struct Comparison {
  std::string key;      ///< "@setp.lt.ftz.f32"
  std::string combine;  ///< "and", "or", "xor" or empty
  TypeSuffix type;
};

Comparison ParseComparison(const FunctionLowering& lowering, std::size_t types) {
  const auto& modifiers = lowering.instruction().modifiers;
  if (modifiers.size() < 1 + types) {
    lowering.FailUnknown();
  }
  Comparison comparison;
  comparison.type = FindTypeSuffix(modifiers.back());
  comparison.key = "@setp." + modifiers[0];
  for (std::size_t i = 1; i + types < modifiers.size(); ++i) {
    if (modifiers[i] == "and" || modifiers[i] == "or" || modifiers[i] == "xor") {
      comparison.combine = modifiers[i];
    } else if (modifiers[i] == "ftz") {
      comparison.key += ".ftz";
    } else {
      lowering.FailUnknown();
    }
  }
  comparison.key += "." + modifiers.back();
  if (!comparison.type.valid()) {
    lowering.FailUnknown();
  }
  return comparison;
}

/// p = condition combine c, q = !condition combine c.
void Combine(FunctionLowering& lowering, const std::string& combine, Ref condition, Ref c, Ref p,
             std::optional<Ref> q) {
  Ref inverse = condition;
  if (q) {
    inverse = combine.empty() ? *q : lowering.Temporary('p');
    lowering.Emit("not.pred", {inverse}, {condition});
  }
  if (combine.empty()) {
    lowering.Emit("@mov.pred", {p}, {condition});
    return;
  }
  const std::string key = combine + ".pred";
  if (!q) {
    lowering.Emit(key, {p}, {condition, c});
    return;
  }
  const Ref first = lowering.Temporary('p');  // c may be p or q itself
  lowering.Emit(key, {first}, {condition, c});
  lowering.Emit(key, {*q}, {inverse, c});
  lowering.Emit("@mov.pred", {p}, {first});
}

}  // namespace

void DecodeSetp(FunctionLowering& lowering) {
  const Comparison comparison = ParseComparison(lowering, 1);
  const std::size_t sources = comparison.combine.empty() ? 3 : 4;
  lowering.ExpectOperands(sources, sources);
  const Ref a = lowering.Source(lowering.operand(1), comparison.type.kind);
  const Ref b = lowering.Source(lowering.operand(2), comparison.type.kind);
  const ptx::Operand& to = lowering.operand(0);
  const bool pair = to.kind == Kind::kPair;
  const Ref c = comparison.combine.empty() ? kTrue : lowering.Source(lowering.operand(3), 'p');
  const Ref p = lowering.Destination(pair ? to.elements[0] : to, 'p');
  if (comparison.type.number == NumberKind::kFloatPair) {
    // f16x2: p for the low halves, q for the high ones.
    const Ref q = pair ? lowering.Destination(to.elements[1], 'p') : lowering.Temporary('p');
    if (comparison.combine.empty()) {
      lowering.Emit(comparison.key, {p, q}, {a, b});
    } else {
      const Ref low = lowering.Temporary('p');
      const Ref high = lowering.Temporary('p');
      lowering.Emit(comparison.key, {low, high}, {a, b});
      const Ref first = lowering.Temporary('p');
      lowering.Emit(comparison.combine + ".pred", {first}, {low, c});
      lowering.Emit(comparison.combine + ".pred", {q}, {high, c});
      lowering.Emit("@mov.pred", {p}, {first});
    }
    return;
  }
  if (comparison.combine.empty() && !pair) {
    lowering.Emit(comparison.key, {p}, {a, b});
    return;
  }
  const Ref condition = lowering.Temporary('p');
  lowering.Emit(comparison.key, {condition}, {a, b});
  Combine(lowering, comparison.combine, condition, c, p,
          pair ? std::optional<Ref>(lowering.Destination(to.elements[1], 'p')) : std::nullopt);
}

void DecodeSet(FunctionLowering& lowering) {
  const auto& modifiers = lowering.instruction().modifiers;
  Comparison comparison = ParseComparison(lowering, 2);
  const std::string& to_name = modifiers[modifiers.size() - 2];
  const TypeSuffix to = FindTypeSuffix(to_name);
  if (!to.valid() || to.kind == 'p') {
    lowering.FailUnknown();
  }
  const std::size_t operands = comparison.combine.empty() ? 3 : 4;
  lowering.ExpectOperands(operands, operands);
  const Ref a = lowering.Source(lowering.operand(1), comparison.type.kind);
  const Ref b = lowering.Source(lowering.operand(2), comparison.type.kind);
  const Ref c = comparison.combine.empty() ? kTrue : lowering.Source(lowering.operand(3), 'p');
  const Ref destination = lowering.Destination(lowering.operand(0), to.kind);
  const Ref zero = lowering.Constant(0, to.kind);
  const auto combined = [&](Ref condition) {
    if (comparison.combine.empty()) {
      return condition;
    }
    const Ref result = lowering.Temporary('p');
    lowering.Emit(comparison.combine + ".pred", {result}, {condition, c});
    return result;
  };
  if (comparison.type.number == NumberKind::kFloatPair) {
    const Ref low = lowering.Temporary('p');
    const Ref high = lowering.Temporary('p');
    lowering.Emit(comparison.key, {low, high}, {a, b});
    const bool halves = to.number == NumberKind::kFloatPair;
    const Ref one_low = lowering.Constant(halves ? 0x3c00u : 0xffffu, 'w');
    const Ref one_high = lowering.Constant(halves ? 0x3c000000u : 0xffff0000u, 'w');
    const Ref low_part = lowering.Temporary('w');
    const Ref high_part = lowering.Temporary('w');
    lowering.Emit("@selp.32", {low_part}, {one_low, zero, combined(low)});
    lowering.Emit("@selp.32", {high_part}, {one_high, zero, combined(high)});
    lowering.Emit("or.b32", {destination}, {low_part, high_part});
    return;
  }
  const Ref condition = lowering.Temporary('p');
  lowering.Emit(comparison.key, {condition}, {a, b});
  std::uint64_t one = ~std::uint64_t{0};
  if (to.number == NumberKind::kFloat) {
    one = to.bytes == 2 ? 0x3c00u : 0x3f800000u;
  }
  lowering.Emit(to.kind == 'x' ? "@selp.64" : "@selp.32", {destination},
                {lowering.Constant(one, to.kind), zero, combined(condition)});
}

void DecodeSelp(FunctionLowering& lowering) {
  lowering.ExpectOperands(4, 4);
  const auto& modifiers = lowering.instruction().modifiers;
  const TypeSuffix type = modifiers.size() == 1 ? FindTypeSuffix(modifiers[0]) : TypeSuffix{};
  if (!type.valid() || type.kind == 'p') {
    lowering.FailUnknown();
  }
  const Ref a = lowering.Source(lowering.operand(1), type.kind);
  const Ref b = lowering.Source(lowering.operand(2), type.kind);
  const Ref p = lowering.Source(lowering.operand(3), 'p');
  const Ref destination = lowering.Destination(lowering.operand(0), type.kind);
  lowering.Emit(type.kind == 'x' ? "@selp.64" : "@selp.32", {destination}, {a, b, p});
}

void DecodeSlct(FunctionLowering& lowering) {
  lowering.ExpectOperands(4, 4);
  const auto& modifiers = lowering.instruction().modifiers;
  if (modifiers.size() < 2) {
    lowering.FailUnknown();
  }
  const TypeSuffix type = FindTypeSuffix(modifiers[modifiers.size() - 2]);
  if (!type.valid() || type.kind == 'p') {
    lowering.FailUnknown();
  }
  const Ref a = lowering.Source(lowering.operand(1), type.kind);
  const Ref b = lowering.Source(lowering.operand(2), type.kind);
  const Ref c = lowering.Source(lowering.operand(3), 'w');
  const Ref condition = lowering.Temporary('p');
  const std::string ftz = lowering.Has("ftz") ? "ftz." : "";
  lowering.Emit("@setp.ge." + ftz + modifiers.back(), {condition}, {c, lowering.Constant(0, 'w')});
  const Ref destination = lowering.Destination(lowering.operand(0), type.kind);
  lowering.Emit(type.kind == 'x' ? "@selp.64" : "@selp.32", {destination}, {a, b, condition});
}

}  // namespace voltcheck::simulator
