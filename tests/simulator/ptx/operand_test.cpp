// Every form of operand, and constant expressions.
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "parse.h"

namespace voltcheck::simulator::ptx {
namespace {

using Kind = Operand::Kind;
using Immediate = Operand::Immediate;

Operand ParseOne(const std::string& operand) { return ParseOperands("x " + operand + ";").at(0); }
std::int64_t Value(const std::string& expression) {
  const Operand operand = ParseOne(expression);
  EXPECT_EQ(operand.kind, Kind::kImmediate) << expression;
  EXPECT_EQ(operand.immediate, Immediate::kInteger) << expression;
  return static_cast<std::int64_t>(operand.bits);
}

TEST(PtxOperand, Registers) {
  const Operand operand = ParseOne("%r1");
  EXPECT_EQ(operand.kind, Kind::kSymbol);
  EXPECT_EQ(operand.name, "%r1");
  EXPECT_FALSE(operand.negated);
  EXPECT_EQ(operand.location.line, 2U);
  EXPECT_EQ(operand.location.column, 3U);
}

TEST(PtxOperand, ComponentsStayInTheName) {
  EXPECT_EQ(ParseOne("%tid.x").name, "%tid.x");
  EXPECT_EQ(ParseOne("%clock64").name, "%clock64");
  EXPECT_EQ(ParseOne("%r1.b3").name, "%r1.b3");
  EXPECT_EQ(ParseBodyText(".reg .v4 .f32 v; x v.w;").body.at(0).operands.at(0).name, "v.w");
}

TEST(PtxOperand, Negations) {
  EXPECT_TRUE(ParseOne("!%p1").negated);
  EXPECT_EQ(ParseOne("!%p1").name, "%p1");
  EXPECT_TRUE(ParseOne("-%r1.h0").negated);
}

TEST(PtxOperand, FloatingPointKeepsItsBits) {
  EXPECT_EQ(ParseOne("0f7FC00001").bits, 0x7FC00001U);
  EXPECT_EQ(ParseOne("0f7FC00001").immediate, Immediate::kF32);
  EXPECT_EQ(ParseOne("0dFFF8000000000001").bits, 0xFFF8000000000001U);
  EXPECT_EQ(ParseOne("0D3ff0000000000000").immediate, Immediate::kF64);
  for (const auto& [text, value] : {std::pair{"1.5", 1.5},
                                    {"-2.5e-3", -2.5e-3},
                                    {".5", 0.5},
                                    {"5.", 5.0},
                                    {"1e3", 1e3},
                                    {"(1.5+2.0)*2.0", 7.0},
                                    {"-(0.5)", -0.5}}) {
    const Operand operand = ParseOne(text);
    EXPECT_EQ(operand.immediate, Immediate::kF64) << text;
    EXPECT_EQ(std::bit_cast<double>(operand.bits), value) << text;
  }
  EXPECT_EQ(ParseOne("-0f7F800001").bits, 0xFF800001U);
}

TEST(PtxOperand, IntegerExpressionsFollowC) {
  EXPECT_EQ(Value("-1"), -1);
  EXPECT_EQ(Value("0x8000000000000000"), INT64_MIN);
  EXPECT_EQ(Value("18446744073709551615"), -1);
  EXPECT_EQ(Value("0b101"), 5);
  EXPECT_EQ(Value("017"), 15);
  EXPECT_EQ(Value("0"), 0);
  EXPECT_EQ(Value("1+2*3"), 7);
  EXPECT_EQ(Value("(1+2)*3"), 9);
  EXPECT_EQ(Value("10-4-3"), 3) << "left to right";
  EXPECT_EQ(Value("1<<4|3&2^1"), 16 | ((3 & 2) ^ 1));
  EXPECT_EQ(Value("-7/2"), -3);
  EXPECT_EQ(Value("-7 % 3"), -1);
  EXPECT_EQ(Value("-1>>1"), -1);
  EXPECT_EQ(Value("-1U>>1"), INT64_MAX) << "unsigned shifts in zeros";
  EXPECT_EQ(Value("1<<64"), 0);
  EXPECT_EQ(Value("1<<-1"), 0);
  EXPECT_EQ(Value("-1>>200"), -1);
  EXPECT_EQ(Value("(0-0x7fffffffffffffff-1)/-1"), INT64_MIN) << "wraps";
  EXPECT_EQ(Value("(0-0x7fffffffffffffff-1) % -1"), 0);
  EXPECT_EQ(Value("-1 < 0"), 1);
  EXPECT_EQ(Value("-1 < 0U"), 0) << "unsigned wins, as in C";
  EXPECT_EQ(Value("1==1&&2!=2||!0"), 1);
  EXPECT_EQ(Value("3>2?10:20"), 10);
  EXPECT_EQ(Value("0?1:0?2:3"), 3);
  EXPECT_EQ(Value("~0"), -1);
  EXPECT_EQ(Value("(.u64)-1>>63"), 1);
  EXPECT_EQ(Value("WARP_SZ"), 32);
  EXPECT_EQ(Value("-WARP_SZ*2"), -64);
  EXPECT_EQ(Value("1.5 < 2.0"), 1);
}

TEST(PtxOperand, Addresses) {
  const Operand plain = ParseOne("[%rd1]");
  EXPECT_EQ(plain.kind, Kind::kAddress);
  EXPECT_EQ(plain.elements.at(0).name, "%rd1");
  EXPECT_EQ(plain.offset, 0);
  EXPECT_EQ(ParseOne("[%rd1+16]").offset, 16);
  EXPECT_EQ(ParseOne("[%rd1+-16]").offset, -16);
  EXPECT_EQ(ParseOne("[%rd1-16]").offset, -16);
  EXPECT_EQ(ParseOne("[%rd1+(4*2)]").offset, 8);
  EXPECT_EQ(ParseOne("[%rd1+8]").elements.at(0).offset, 0);
  const Operand absolute = ParseOne("[16]");
  EXPECT_EQ(absolute.elements.at(0).kind, Kind::kImmediate);
  EXPECT_EQ(absolute.elements.at(0).bits, 16U);
  const Operand tensor = ParseOne("[%rd1, {%r1, %r2}]");
  ASSERT_EQ(tensor.elements.size(), 2U);
  EXPECT_EQ(tensor.elements[1].elements.size(), 2U);
}

TEST(PtxOperand, SymbolsWithOffset) {
  const Function k = ParseBodyText(".shared .f32 s[4][2]; x s+4; mov s[3]; ld s[2]; ld [s+4];");
  EXPECT_EQ(k.body[0].operands[0].kind, Kind::kSymbol);
  EXPECT_EQ(k.body[0].operands[0].offset, 4);
  EXPECT_EQ(k.body[1].operands[0].kind, Kind::kSymbol) << "mov takes the address as a value";
  EXPECT_EQ(k.body[1].operands[0].offset, 12);
  EXPECT_EQ(k.body[2].operands[0].kind, Kind::kAddress);
  EXPECT_EQ(k.body[2].operands[0].offset, 8);
  EXPECT_EQ(k.body[2].operands[0].elements.at(0).name, "s");
  EXPECT_EQ(k.body[3].operands[0].offset, 4);
}

TEST(PtxOperand, VectorsPairsAndSinks) {
  const Operand vector = ParseOne("{%r1, _, 5, %tid.x}");
  EXPECT_EQ(vector.kind, Kind::kVector);
  ASSERT_EQ(vector.elements.size(), 4U);
  EXPECT_EQ(vector.elements[1].kind, Kind::kSink);
  EXPECT_EQ(vector.elements[2].bits, 5U);
  const Operand pair = ParseOne("%p1|%p2");
  EXPECT_EQ(pair.kind, Kind::kPair);
  EXPECT_EQ(pair.elements.at(0).name, "%p1");
  EXPECT_EQ(pair.elements.at(1).name, "%p2");
  EXPECT_EQ(ParseOne("%p1|_").elements.at(1).kind, Kind::kSink);
  EXPECT_EQ(ParseOne("_|%p1").elements.at(0).kind, Kind::kSink);
  EXPECT_EQ(ParseOne("_").kind, Kind::kSink);
  EXPECT_EQ(Value("4|1"), 5) << "of numbers, '|' is an operator";
}

TEST(PtxOperand, CallLists) {
  const Module module = ParseItems(
      ".func (.param .b32 r) f(.param .b32 x) { ret; } .func g { ret; }"
      ".entry k() { .param .b32 a, b; .reg .b64 %rd1;"
      "call.uni (b), f, (a); call g; call (b), %rd1, (a, 7), proto; call g, ();"
      "proto: .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[12], .param .b64 _) "
      ".noreturn; }");
  const Function& k = module.functions[2];
  EXPECT_EQ(k.body[0].operands[0].kind, Kind::kList);
  EXPECT_EQ(k.body[0].operands[1].name, "f");
  EXPECT_EQ(k.body[0].operands[2].elements.at(0).name, "a");
  EXPECT_EQ(k.body[1].operands.size(), 1U);
  EXPECT_EQ(k.body[2].operands[2].elements.at(1).bits, 7U);
  EXPECT_EQ(k.body[2].operands[3].name, "proto");
  EXPECT_TRUE(k.body[3].operands[1].elements.empty());
  const Function& prototype = k.prototypes.at("proto");
  EXPECT_EQ(prototype.returns.size(), 1U);
  EXPECT_EQ(prototype.parameters.at(0).bytes(), 12U);
}

TEST(PtxInstruction, ModifiersAndGuards) {
  const Function k = ParseBodyText(
      "@!%p1 ld.global.nc.L1::no_allocate.L2::128B.v2.f32 {%f1,%f2}, [%rd1]; @ %p2 tex.2d %f1; "
      "ret;");
  EXPECT_EQ(k.body[0].guard, "%p1");
  EXPECT_TRUE(k.body[0].guard_negated);
  EXPECT_EQ(k.body[0].Mnemonic(), "ld.global.nc.L1::no_allocate.L2::128B.v2.f32");
  EXPECT_EQ(k.body[0].location.column, 7U);
  EXPECT_EQ(k.body[1].guard, "%p2");
  EXPECT_FALSE(k.body[1].guard_negated);
  EXPECT_EQ(k.body[1].modifiers.at(0), "2d");
  EXPECT_TRUE(k.body[2].guard.empty());
}

TEST(PtxInstruction, SourceLines) {
  const Function k = ParseBodyText(
      "ret; .loc 1 12 3\n ret; .loc 2 7 1, function_name info+4, inlined_at 1 12 3\n ret;");
  EXPECT_EQ(k.body[0].source_file, 0U);
  EXPECT_EQ(k.body[1].source_file, 1U);
  EXPECT_EQ(k.body[1].source_line, 12U);
  EXPECT_EQ(k.body[2].source_file, 2U);
  EXPECT_EQ(k.body[2].source_line, 7U);
}

}  // namespace
}  // namespace voltcheck::simulator::ptx
