// mov in all its forms, cvta, isspacep.
#include "kernels/simulator/program/decoders.h"
#include "kernels/simulator/program/rows.h"
#include "kernels/simulator/program/type_suffix.h"

namespace voltcheck::simulator {
namespace {

using Kind = ptx::Operand::Kind;

struct PackForm {
  std::size_t parts;
  char part_kind;
  char whole_kind;
  const char* pack;
  const char* unpack;
};

PackForm FindPackForm(const FunctionLowering& lowering, std::size_t parts, char whole) {
  if (whole == 'w' && parts == 2) {
    return {2, 'h', 'w', "@pack.2x16", "@unpack.2x16"};
  }
  if (whole == 'x' && parts == 2) {
    return {2, 'w', 'x', "@pack.2x32", "@unpack.2x32"};
  }
  if (whole == 'x' && parts == 4) {
    return {4, 'h', 'x', "@pack.4x16", "@unpack.4x16"};
  }
  lowering.Fail("cannot pack or unpack " + std::to_string(parts) + " parts");
}

/// Special registers that change while a kernel runs.
bool DecodeClock(FunctionLowering& lowering, char kind) {
  const std::string& name = lowering.operand(1).name;
  const bool high = name == "%clock_hi" || name == "%globaltimer_hi";
  const bool low = name == "%clock" || name == "%globaltimer_lo";
  if (!high && !low && name != "%clock64" && name != "%globaltimer") {
    return false;
  }
  const Ref clock = lowering.Temporary('x');
  lowering.Emit("@clock", {clock}, {});
  Ref value = clock;
  if (high) {
    value = lowering.Temporary('x');
    lowering.Emit("shr.u64", {value}, {clock, lowering.Constant(32, 'w')});
  }
  const Ref destination = lowering.Destination(lowering.operand(0), kind);
  if (kind == 'x') {
    lowering.Emit("@mov.64", {destination}, {value});
  } else {
    lowering.Emit("cvt.u32.u64", {destination}, {value});
  }
  return true;
}

Space WindowSpace(const FunctionLowering& lowering) {
  for (const std::string& modifier : lowering.instruction().modifiers) {
    if (modifier == "global") return Space::kGlobal;
    if (modifier == "shared" || modifier == "shared::cta") return Space::kShared;
    if (modifier == "local") return Space::kLocal;
    if (modifier == "const") return Space::kConst;
    if (modifier == "param") return Space::kParam;
  }
  lowering.FailUnknown();
}

std::uint64_t WindowBase(Space space) {
  switch (space) {
    case Space::kShared:
      return kSharedWindow;
    case Space::kLocal:
      return kLocalWindow;
    case Space::kConst:
      return kConstWindow;
    case Space::kParam:
      return kParamWindow;
    default:
      return 0;
  }
}

}  // namespace

void DecodeMov(FunctionLowering& lowering) {
  lowering.ExpectOperands(2, 2);
  const auto& modifiers = lowering.instruction().modifiers;
  const TypeSuffix type = modifiers.size() == 1 ? FindTypeSuffix(modifiers[0]) : TypeSuffix{};
  if (!type.valid()) {
    lowering.FailUnknown();
  }
  const ptx::Operand& to = lowering.operand(0);
  const ptx::Operand& from = lowering.operand(1);
  if (from.kind == Kind::kVector) {
    const PackForm form = FindPackForm(lowering, from.elements.size(), type.kind);
    std::vector<Ref> parts;
    for (const ptx::Operand& element : from.elements) {
      parts.push_back(lowering.Source(element, form.part_kind));
    }
    lowering.Emit(*OpRegistry::Get().Find(form.pack), {lowering.Destination(to, form.whole_kind)},
                  parts);
    return;
  }
  if (to.kind == Kind::kVector) {
    const PackForm form = FindPackForm(lowering, to.elements.size(), type.kind);
    std::vector<Ref> parts;
    for (const ptx::Operand& element : to.elements) {
      parts.push_back(lowering.Destination(element, form.part_kind));
    }
    lowering.Emit(*OpRegistry::Get().Find(form.unpack), parts,
                  {lowering.Source(from, form.whole_kind)});
    return;
  }
  if (from.kind == Kind::kSymbol && DecodeClock(lowering, type.kind)) {
    return;
  }
  if (to.kind == Kind::kSymbol && lowering.ImmediateOf(to) != nullptr) {
    lowering.Destination(to, type.kind);  // every reader takes the constant itself
    lowering.Source(from, type.kind);
    return;
  }
  const char* key = type.kind == 'p' ? "@mov.pred" : type.kind == 'x' ? "@mov.64" : "@mov.32";
  const Ref source = lowering.Source(from, type.kind);
  lowering.Emit(key, {lowering.Destination(to, type.kind)}, {source});
}

void DecodeCvta(FunctionLowering& lowering) {
  lowering.ExpectOperands(2, 2);
  const bool wide = lowering.Has("u64");
  const char kind = wide ? 'x' : 'w';
  if (!wide) {
    lowering.Fail("converts 32-bit addresses", "compile for 64-bit addresses");
  }
  const Space space = WindowSpace(lowering);
  const Ref source = lowering.Source(lowering.operand(1), kind);
  const Ref destination = lowering.Destination(lowering.operand(0), kind);
  const std::uint64_t base = WindowBase(space);
  if (base == 0) {
    lowering.Emit("@mov.64", {destination}, {source});
  } else {
    lowering.Emit(lowering.Has("to") ? "sub.u64" : "add.u64", {destination},
                  {source, lowering.Constant(base, 'x')});
  }
}

void DecodePermute(FunctionLowering& lowering) {
  // Selectors are constants nearly always; then the byte moves are known now.
  constexpr std::uint64_t kSignBits = 0x8888;
  const OpEntry* constant = OpRegistry::Get().Find("@prmt.constant");
  const bool plain = lowering.instruction().modifiers.size() == 1 && lowering.Has("b32") &&
                     lowering.operand_count() == 4 &&
                     lowering.ImmediateOf(lowering.operand(3)) != nullptr &&
                     (lowering.ImmediateOf(lowering.operand(3))->bits & kSignBits) == 0;
  if (!plain || constant == nullptr) {
    lowering.EmitByTable(lowering.instruction().Mnemonic());
    return;
  }
  const std::uint64_t selector = lowering.ImmediateOf(lowering.operand(3))->bits;
  std::uint64_t moves = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    const std::uint64_t from = selector >> (4 * byte) & 7;
    const std::uint64_t a = from < 4 ? from : 0x80;
    const std::uint64_t b = from < 4 ? 0x80 : from - 4;
    moves |= (a | b << 32) << (8 * byte);
  }
  const Ref a = lowering.Source(lowering.operand(1), 'w');
  const Ref b = lowering.Source(lowering.operand(2), 'w');
  const Ref destination = lowering.Destination(lowering.operand(0), 'w');
  lowering.Emit(*constant, {destination}, {a, b}).imm = static_cast<std::int64_t>(moves);
}

void DecodeIsspacep(FunctionLowering& lowering) {
  lowering.ExpectOperands(2, 2);
  const Space space = WindowSpace(lowering);
  const Ref source = lowering.Source(lowering.operand(1), 'x');
  const Ref destination = lowering.Destination(lowering.operand(0), 'p');
  lowering.Emit("@isspacep", {destination}, {source}).imm = static_cast<std::int64_t>(space);
}

}  // namespace voltcheck::simulator
