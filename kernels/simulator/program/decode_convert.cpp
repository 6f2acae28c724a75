// cvt: types narrower than their registers, and the exact spelling of the conversion.
#include "kernels/simulator/program/decoders.h"
#include "kernels/simulator/program/type_suffix.h"

namespace voltcheck::simulator {
namespace {

bool IsFloat(const TypeSuffix& type) { return type.number == NumberKind::kFloat; }

/// The integer type that fills a register of `kind`, for widening into it and narrowing out of it.
std::string RegisterTypeName(char kind, bool is_signed) {
  return std::string(is_signed ? "s" : "u") + (kind == 'h' ? "16" : kind == 'w' ? "32" : "64");
}

}  // namespace

void DecodeConvert(FunctionLowering& lowering) {
  lowering.ExpectOperands(2, 2);
  const auto& modifiers = lowering.instruction().modifiers;
  if (modifiers.size() < 2) {
    lowering.FailUnknown();
  }
  const std::string& to_name = modifiers[modifiers.size() - 2];
  const std::string& from_name = modifiers.back();
  const TypeSuffix to = FindTypeSuffix(to_name);
  const TypeSuffix from = FindTypeSuffix(from_name);
  if (to.bytes == 0 || from.bytes == 0 || to_name[0] == 'b' || from_name[0] == 'b' ||
      to.number == NumberKind::kFloatPair || from.number == NumberKind::kFloatPair) {
    lowering.FailUnknown();
  }
  const char to_kind = lowering.RegisterKind(lowering.operand(0));
  const char from_kind = lowering.RegisterKind(lowering.operand(1));
  const bool exact_registers = to_kind == to.kind && (from_kind == 0 || from_kind == from.kind);
  const OpEntry* fast = OpRegistry::Get().Find(lowering.instruction().Mnemonic());
  if (fast != nullptr && exact_registers) {
    lowering.EmitByTable(fast->key);
    return;
  }

  std::string rounding;
  std::string flags;
  bool saturates = false;
  bool flushes = false;
  for (std::size_t i = 0; i + 2 < modifiers.size(); ++i) {
    if (modifiers[i] == "sat") {
      saturates = true;
    } else if (modifiers[i] == "ftz") {
      flushes = true;
    } else if (rounding.empty() && modifiers[i].starts_with("r")) {
      rounding = "." + modifiers[i];
    } else {
      lowering.FailUnknown();
    }
  }
  if (IsFloat(to) && IsFloat(from) && rounding.empty()) {
    rounding = ".rn";  // widening, or the same type: exact
  }
  const bool to_integer = IsFloat(from) && !IsFloat(to);
  flags += flushes && (IsFloat(from)) ? ".ftz" : "";
  flags += saturates && !to_integer ? ".sat" : "";  // float to integer always clamps
  const std::string key = "@cvt" + rounding + flags + "." + to_name + "." + from_name;
  if (OpRegistry::Get().Find(key) == nullptr) {
    lowering.FailUnknown();
  }

  Ref source = kTrue;
  if (from_kind != 0 && from_kind != from.kind) {
    const auto bytes = from_kind == 'h' ? 2 : from_kind == 'w' ? 4 : from_kind == 'x' ? 8 : 0;
    if (bytes < from.bytes) {
      lowering.Fail("reads " + from_name + " from a narrower register");
    }
    source = lowering.Temporary(from.kind);
    lowering.Emit(
        "@cvt." + RegisterTypeName(from.kind, false) + "." + RegisterTypeName(from_kind, false),
        {source}, {lowering.Source(lowering.operand(1), from_kind)});
  } else {
    source = lowering.Source(lowering.operand(1), from.kind);
  }
  if (to_kind == to.kind) {
    lowering.Emit(key, {lowering.Destination(lowering.operand(0), to_kind)}, {source});
    return;
  }
  if (to_kind == 0 || to_kind == 'p' || (to_kind == 'h' && to.kind != 'h') ||
      (to_kind == 'w' && to.kind == 'x')) {
    lowering.Fail("writes " + to_name + " to a register that cannot hold it");
  }
  const Ref result = lowering.Temporary(to.kind);
  lowering.Emit(key, {result}, {source});
  const bool is_signed = to.number == NumberKind::kSigned;
  lowering.Emit(
      "@cvt." + RegisterTypeName(to_kind, is_signed) + "." + RegisterTypeName(to.kind, is_signed),
      {lowering.Destination(lowering.operand(0), to_kind)}, {result});
}

}  // namespace voltcheck::simulator
