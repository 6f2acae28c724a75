// Comparisons and selections.
#include "instruction.h"

namespace voltcheck::conformance {
namespace {

using Words = std::vector<std::string>;

const Words kOrdered = {"eq", "ne", "lt", "le", "gt", "ge"};
const Words kUnordered = {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

Words Comparisons(const std::string& type) {
  if (type[0] == 'b') {
    return {"eq", "ne"};
  }
  Words words = kOrdered;
  if (type[0] == 'f') {
    words.insert(words.end(), kUnordered.begin(), kUnordered.end());
  } else if (type[0] == 'u') {
    words.insert(words.end(), {"lo", "ls", "hi", "hs"});
  }
  return words;
}

const char kBothPredicates[] =
    " selp.u32 %x0, 1, 0, %p0; selp.u32 %t0, 2, 0, %p1; or.b32 %x0, %x0, %t0;";

/// `setp` with both results, except for f16, which has one only.
Instruction Setp(const std::string& modifiers, const std::string& type) {
  Instruction instruction;
  instruction.name = "setp." + modifiers + "." + type;
  instruction.inputs = {OperandOf(type), OperandOf(type)};
  instruction.results = {4};
  instruction.body = type == "f16" ? instruction.name + " %p0, %a0, %a1; selp.u32 %x0, 1, 0, %p0;"
                                   : instruction.name + " %p0|%p1, %a0, %a1;" + kBothPredicates;
  return instruction;
}

/// `setp` whose result is combined with a third operand.
Instruction SetpCombined(const std::string& comparison, const std::string& boolean,
                         const std::string& type, bool negated) {
  Instruction instruction;
  const std::string name = "setp." + comparison + "." + boolean + "." + type;
  instruction.name = name + (negated ? " !c" : "");
  instruction.inputs = {OperandOf(type), OperandOf(type), OperandOf("pred")};
  instruction.results = {4};
  instruction.body = "setp.ne.u32 %p2, %a2, 0; " + name + " %p0|%p1, %a0, %a1, " +
                     (negated ? "!" : "") + "%p2;" + kBothPredicates;
  return instruction;
}

void AddSet(std::vector<Instruction>& all) {
  for (const std::string& to : Words{"u32", "s32", "f32"}) {
    for (const std::string& from : Words{"b32", "u16", "s32", "u64", "f32", "f64"}) {
      for (const std::string& comparison : Comparisons(from)) {
        all.push_back(Plain("set." + comparison + "." + to + "." + from, {from, from}, to));
      }
    }
    Instruction combined = Plain("set.lt.xor." + to + ".s32", {"s32", "s32", "pred"}, to);
    combined.body = "setp.ne.u32 %p2, %a2, 0; " + combined.name + " %x0, %a0, %a1, %p2;";
    all.push_back(combined);
  }
  for (const std::string& comparison : Comparisons("f16")) {
    all.push_back(Plain("set." + comparison + ".f16.f16", {"f16", "f16"}, "f16"));
    all.push_back(Plain("set." + comparison + ".f16x2.f16x2", {"f16x2", "f16x2"}, "f16x2"));
    all.push_back(Plain("set." + comparison + ".u32.f16", {"f16", "f16"}, "u32"));
  }
}

}  // namespace

void AddCompare(std::vector<Instruction>& all) {
  for (const std::string& t : Words{"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64",
                                    "f16", "f16x2", "f32", "f64"}) {
    const std::string sort = t == "f16x2" ? "f16" : t;
    for (const std::string& comparison : Comparisons(sort)) {
      all.push_back(Setp(comparison, t));
      if (t == "f16" || t == "f16x2" || t == "f32") {
        all.push_back(Setp(comparison + ".ftz", t));
      }
    }
  }
  for (const std::string& boolean : Words{"and", "or", "xor"}) {
    for (const std::string& t : Words{"s32", "f32", "f64"}) {
      all.push_back(SetpCombined("lt", boolean, t, false));
      all.push_back(SetpCombined("ge", boolean, t, true));
    }
  }
  AddSet(all);
  for (const std::string& t : Words{"b16", "u32", "s64", "f32", "f64"}) {
    Instruction select = Plain("selp." + t, {t, t, "pred"}, t);
    select.body = "setp.ne.u32 %p0, %a2, 0; selp." + t + " %x0, %a0, %a1, %p0;";
    all.push_back(select);
  }
  for (const std::string& t : Words{"b16", "u32", "s64", "f32", "f64"}) {
    all.push_back(Plain("slct." + t + ".s32", {t, t, "s32"}, t));
    all.push_back(Plain("slct." + t + ".f32", {t, t, "f32"}, t));
    all.push_back(Plain("slct.ftz." + t + ".f32", {t, t, "f32"}, t));
  }
  for (const char* op : {"and", "or", "xor"}) {
    Instruction logic = Plain(std::string(op) + ".pred", {"pred", "pred"}, "u32");
    logic.body = "setp.ne.u32 %p0, %a0, 0; setp.ne.u32 %p1, %a1, 0; " + std::string(op) +
                 ".pred %p2, %p0, %p1; selp.u32 %x0, 1, 0, %p2;";
    all.push_back(logic);
  }
}

}  // namespace voltcheck::conformance
