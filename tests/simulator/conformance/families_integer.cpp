// Integer arithmetic: add to div, extended precision, dot products.
#include "instruction.h"

namespace voltcheck::conformance {
namespace {

using Types = std::vector<std::string>;

const Types kAll = {"u16", "s16", "u32", "s32", "u64", "s64"};
const Types kSigned = {"s16", "s32", "s64"};
const Types kNarrow = {"u16", "s16", "u32", "s32"};
const Types kWords = {"u32", "s32"};

std::string Wider(const std::string& type) {
  return type.substr(0, 1) + std::to_string(2 * std::stoi(type.substr(1)));
}

/// A sequence of carries over three inputs and two results: `first %x0, ...; second %x1, ...`.
Instruction Chain(const std::string& name, const std::string& type, const std::string& body,
                  int inputs) {
  Instruction instruction;
  instruction.name = name;
  instruction.inputs.assign(static_cast<std::size_t>(inputs), OperandOf(type));
  instruction.results.assign(2, OperandOf(type).bytes);
  instruction.body = body;
  return instruction;
}

void AddCarries(std::vector<Instruction>& all) {
  for (const std::string& t : Types{"u32", "s32", "u64", "s64"}) {
    all.push_back(Chain("add.cc+addc." + t, t,
                        "add.cc." + t + " %x0, %a0, %a1; addc." + t + " %x1, %a2, %a3;", 4));
    all.push_back(Chain("sub.cc+subc." + t, t,
                        "sub.cc." + t + " %x0, %a0, %a1; subc." + t + " %x1, %a2, %a3;", 4));
    // The flag of one operation read by the other: a carry in either case.
    all.push_back(Chain("sub.cc+addc." + t, t,
                        "sub.cc." + t + " %x0, %a0, %a1; addc." + t + " %x1, %a2, %a3;", 4));
    all.push_back(Chain("add.cc+subc." + t, t,
                        "add.cc." + t + " %x0, %a0, %a1; subc." + t + " %x1, %a2, %a3;", 4));
    all.push_back(Chain("add.cc+addc.cc+addc." + t, t,
                        "add.cc." + t + " %x0, %a0, %a1; addc.cc." + t + " %x0, %a1, %a2; addc." +
                            t + " %x1, %a2, %a0;",
                        3));
    all.push_back(Chain("sub.cc+subc.cc+subc." + t, t,
                        "sub.cc." + t + " %x0, %a0, %a1; subc.cc." + t + " %x0, %a1, %a2; subc." +
                            t + " %x1, %a2, %a0;",
                        3));
    all.push_back(
        Chain("mad.lo.cc+madc.hi." + t, t,
              "mad.lo.cc." + t + " %x0, %a0, %a1, %a2; madc.hi." + t + " %x1, %a0, %a1, %a3;", 4));
    all.push_back(Chain("mad.hi.cc+madc.lo.cc+addc." + t, t,
                        "mad.hi.cc." + t + " %x0, %a0, %a1, %a2; madc.lo.cc." + t +
                            " %x0, %a0, %a1, %x0; addc." + t + " %x1, %a2, 0;",
                        3));
  }
}

void AddDotProducts(std::vector<Instruction>& all) {
  for (const std::string& t : kWords) {
    const std::string name = "vabsdiff4.u32." + t + "." + t;
    all.push_back(Plain(name, {t, t, "u32"}, "u32"));
    all.push_back(Plain(name + ".add", {t, t, "u32"}, "u32"));
  }
  for (const std::string& a : kWords) {
    for (const std::string& b : kWords) {
      const std::string c = a == "u32" && b == "u32" ? "u32" : "s32";
      all.push_back(Plain("dp4a." + a + "." + b, {a, b, c}, c));
      all.push_back(Plain("dp2a.lo." + a + "." + b, {a, b, c}, c));
      all.push_back(Plain("dp2a.hi." + a + "." + b, {a, b, c}, c));
    }
  }
}

}  // namespace

void AddInteger(std::vector<Instruction>& all) {
  for (const std::string& t : kAll) {
    for (const char* op : {"add", "sub", "mul.lo", "mul.hi", "min", "max"}) {
      all.push_back(Plain(op + ("." + t), {t, t}, t));
    }
    for (const char* op : {"mad.lo", "mad.hi"}) {
      all.push_back(Plain(op + ("." + t), {t, t, t}, t));
    }
    all.push_back(Plain("sad." + t, {t, t, t}, t));
    for (const char* op : {"div", "rem"}) {
      Instruction division = Plain(op + ("." + t), {t, t}, t);
      division.inputs[1].domain = Domain::kDivisor;
      all.push_back(division);
    }
  }
  for (const std::string& t : kNarrow) {
    all.push_back(Plain("mul.wide." + t, {t, t}, Wider(t)));
    all.push_back(Plain("mad.wide." + t, {t, t, Wider(t)}, Wider(t)));
  }
  for (const std::string& t : kSigned) {
    all.push_back(Plain("abs." + t, {t}, t));
    all.push_back(Plain("neg." + t, {t}, t));
  }
  for (const char* op : {"add.sat.s32", "sub.sat.s32"}) {
    all.push_back(Plain(op, {"s32", "s32"}, "s32"));
  }
  all.push_back(Plain("mad.hi.sat.s32", {"s32", "s32", "s32"}, "s32"));
  for (const std::string& t : kWords) {
    for (const char* part : {"lo", "hi"}) {
      all.push_back(Plain("mul24." + (part + ("." + t)), {t, t}, t));
      all.push_back(Plain("mad24." + (part + ("." + t)), {t, t, t}, t));
    }
  }
  all.push_back(Plain("mad24.hi.sat.s32", {"s32", "s32", "s32"}, "s32"));
  AddCarries(all);
  AddDotProducts(all);
}

}  // namespace voltcheck::conformance
