// Logic, shifts, bit fields, permutations, moves between widths.
#include "instruction.h"

namespace voltcheck::conformance {
namespace {

using Types = std::vector<std::string>;

Instruction WithShift(Instruction instruction, std::size_t operand) {
  instruction.inputs[operand] = {Domain::kShift, 4};
  return instruction;
}

/// All 256 tables of lop3 in one kernel: the results are folded into one word.
Instruction AllTables() {
  Instruction instruction = Plain("lop3.b32 (256 tables)", {"b32", "b32", "b32"}, "b32");
  instruction.body = "mov.b32 %x0, 0;";
  for (int table = 0; table < 256; ++table) {
    instruction.body += " lop3.b32 %t1, %a0, %a1, %a2, " + std::to_string(table) +
                        "; mad.lo.u32 %x0, %x0, 31, %t1;";
  }
  return instruction;
}

void AddMoves(std::vector<Instruction>& all) {
  all.push_back({"mov.b32 {b16,b16}",
                 {{Domain::kBits, 2}, {Domain::kBits, 2}},
                 {4},
                 "mov.b32 %x0, {%a0, %a1};"});
  all.push_back({"mov.{b16,b16} b32", {{Domain::kBits, 4}}, {2, 2}, "mov.b32 {%x0, %x1}, %a0;"});
  all.push_back({"mov.b64 {b32,b32}",
                 {{Domain::kBits, 4}, {Domain::kBits, 4}},
                 {8},
                 "mov.b64 %x0, {%a0, %a1};"});
  all.push_back({"mov.{b32,b32} b64", {{Domain::kBits, 8}}, {4, 4}, "mov.b64 {%x0, %x1}, %a0;"});
  all.push_back({"mov.{b16x4} b64",
                 {{Domain::kBits, 8}},
                 {2, 2, 2, 2},
                 "mov.b64 {%x0, %x1, %x2, %x3}, %a0;"});
  all.push_back({"mov.b64 {b16x4}",
                 {{Domain::kBits, 2}, {Domain::kBits, 2}, {Domain::kBits, 2}, {Domain::kBits, 2}},
                 {8},
                 "mov.b64 %x0, {%a0, %a1, %a2, %a3};"});
}

}  // namespace

void AddBits(std::vector<Instruction>& all) {
  for (const std::string& t : Types{"b16", "b32", "b64"}) {
    for (const char* op : {"and", "or", "xor"}) {
      all.push_back(Plain(op + ("." + t), {t, t}, t));
    }
    all.push_back(Plain("not." + t, {t}, t));
    all.push_back(Plain("cnot." + t, {t}, t));
    all.push_back(WithShift(Plain("shl." + t, {t, "u32"}, t), 1));
    all.push_back(WithShift(Plain("shr." + t, {t, "u32"}, t), 1));
  }
  for (const std::string& t : Types{"u16", "s16", "u32", "s32", "u64", "s64"}) {
    all.push_back(WithShift(Plain("shr." + t, {t, "u32"}, t), 1));
  }
  for (const char* direction : {"l", "r"}) {
    for (const char* mode : {"clamp", "wrap"}) {
      const std::string name = std::string("shf.") + direction + "." + mode + ".b32";
      all.push_back(WithShift(Plain(name, {"b32", "b32", "u32"}, "b32"), 2));
    }
  }
  for (const std::string& t : Types{"b32", "b64"}) {
    all.push_back(Plain("popc." + t, {t}, "u32"));
    all.push_back(Plain("clz." + t, {t}, "u32"));
    all.push_back(Plain("brev." + t, {t}, t));
    Instruction insert = Plain("bfi." + t, {t, t, "u32", "u32"}, t);
    all.push_back(WithShift(WithShift(insert, 2), 3));
  }
  for (const std::string& t : Types{"u32", "s32", "u64", "s64"}) {
    all.push_back(Plain("bfind." + t, {t}, "u32"));
    all.push_back(Plain("bfind.shiftamt." + t, {t}, "u32"));
    Instruction extract = Plain("bfe." + t, {t, "u32", "u32"}, t);
    all.push_back(WithShift(WithShift(extract, 1), 2));
  }
  all.push_back(WithShift(Plain("fns.b32", {"b32", "u32", "s32"}, "b32"), 2));
  all.back().body = "and.b32 %a1, %a1, 31; fns.b32 %x0, %a0, %a1, %a2;";
  all.push_back(AllTables());
  for (const char* mode : {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"}) {
    all.push_back(Plain(std::string("prmt.b32") + mode, {"b32", "b32", "b32"}, "b32"));
  }
  AddMoves(all);
}

}  // namespace voltcheck::conformance
